"""A seal, or its envelope as a file, checked with a clone and nothing else: who signed the statement, and
that what it speaks of is what the clone holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentforge.activities.findings import Finding
from agentforge.activities.seal import NOBODY, PREDICATE_TYPE, STATEMENT_TYPE
from agentforge.store.user.signing import Trusted
from agentforge.system.git.audit import CommitObject, ObjectAudit
from agentforge.system.git.objects import is_id
from agentforge.system.git.repository import Git
from agentforge.system.signatures import BadEnvelope, Envelope, PublicKey, unarmour

FURTHER = 1000
"""So many commits below a tip are looked at for a seal, or for the tree of an envelope."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What an envelope states, as far as git can answer for it."""

    envelope: Envelope
    predicate: dict[str, Any]
    base: str
    base_tree: str
    red: str
    final: str
    tree: str

    @property
    def task(self) -> str:
        """The task that it is about."""
        return str(self.predicate.get("task") or "")


@dataclass(frozen=True, slots=True)
class Sealed:
    """A commit that carries an envelope."""

    commit: CommitObject
    stated: Stated


def read_envelope(data: bytes) -> Stated:
    """The statement in an envelope; a `BadEnvelope` says why there is none."""
    envelope = Envelope.parse(data)
    statement = envelope.statement()
    predicate, subject = statement.get("predicate"), statement.get("subject")
    if statement.get("_type") != STATEMENT_TYPE or statement.get("predicateType") != PREDICATE_TYPE:
        raise BadEnvelope("it states something that this version does not know")
    if not isinstance(predicate, dict) or not isinstance(subject, list) or len(subject) != 1:
        raise BadEnvelope("its statement has no subject")
    base, red, final = (_part(predicate, name) for name in ("base", "red", "final"))
    stated = Stated(
        envelope,
        predicate,
        str(base.get("commit")),
        str(base.get("tree")),
        str(red.get("commit") or ""),
        str(final.get("commit")),
        str(final.get("tree")),
    )
    named = (stated.base, stated.base_tree, stated.final, stated.tree, *([stated.red] if stated.red else []))
    if not all(map(is_id, named)):
        raise BadEnvelope("it names something that is no id of a commit or tree")
    digests = subject[0].get("digest") if isinstance(subject[0], dict) else None
    if digests != {"gitCommit": stated.final, "gitTree": stated.tree}:
        raise BadEnvelope("its subject is not the commit that it names")
    return stated


def find_seal(git: Git, rev: str) -> str | None:
    """The newest commit at or below `rev` that carries an envelope; also in a branch that was merged."""
    listed = git.run(
        "log",
        f"-n{FURTHER}",
        "--format=%H",
        "-F",
        "--grep=AGENTFORGE ENVELOPE",
        rev,
        "--",
        check=False,
    )
    return next(iter(listed.out.decode().split()), None)


def read_seal(audit: ObjectAudit, oid: str) -> Sealed | str:
    """A seal, or why it is none."""
    commit = audit.commit(oid)
    if commit is None:
        return audit.problems[-1]
    try:
        data = unarmour(commit.message)
        return "carries no envelope" if data is None else Sealed(commit, read_envelope(data))
    except BadEnvelope as error:
        return f"carries an envelope that cannot be read: {error}"


def seal_findings(git: Git, oid: str, trusted: Sequence[Trusted], *, signed: bool) -> list[Finding]:
    """A seal and all that it speaks of. With `signed` only a trusted signature is good enough."""
    audit = ObjectAudit(git)
    seal = read_seal(audit, oid)
    if isinstance(seal, str):
        return [Finding("seal", ok=False, text=f"{oid[:12]} {seal}")]
    stated, commit = seal.stated, seal.commit
    on_top = commit.parents == (stated.final,) and commit.tree == stated.tree
    text = "the same tree as the commit below it" if on_top else "is not on top of the commit it names"
    return [
        Finding("seal", ok=on_top, text=f"{oid[:12]}: {text}"),
        signature_finding(stated, trusted, signed=signed),
        *_history(audit, stated),
    ]


def _history(audit: ObjectAudit, stated: Stated) -> list[Finding]:
    """The commits that a statement names: there, each with its tree, and one above the other."""
    chain = audit.chain(stated.final, stated.base)
    audit.tree(stated.tree)
    problems = [*audit.problems, *audit.replaced()]
    names = {commit.oid: commit for commit in chain or ()}
    if chain is None:
        problems.append(f"{stated.final[:12]} does not lead down to the base {stated.base[:12]}")
    elif names[stated.final].tree != stated.tree or names[stated.base].tree != stated.base_tree:
        problems.append("a commit does not have the tree that is stated")
    elif stated.red and stated.red not in names:
        problems.append(f"the commit of the failing tests, {stated.red[:12]}, is not on the way")
    text = f"from {stated.base[:12]} to {stated.final[:12]}, {len(audit.seen)} objects, each with its content"
    return [Finding("history", ok=not problems, text="; ".join(problems[:5]) or text)]


def file_findings(
    git: Git, data: bytes, at: str, trusted: Sequence[Trusted], *, signed: bool
) -> list[Finding]:
    """An envelope as a file, as it is kept after a squash: the commit `at` must have the judged tree."""
    try:
        stated = read_envelope(data)
    except BadEnvelope as error:
        advice = "`agentforge report TASK --envelope FILE` writes one"
        return [Finding("envelope", ok=False, text=f"the file is no envelope of a proof: {error}; {advice}")]
    audit = ObjectAudit(git)
    commit = audit.commit(git.resolve(at))
    same = commit is not None and commit.tree == stated.tree
    if same:
        audit.tree(stated.tree)
    problems = [*audit.problems, *audit.replaced()]
    if same:
        text = f"{at} has the judged tree {stated.tree[:12]}"
    else:
        text = f"{at} does not have the judged tree {stated.tree[:12]}{_elsewhere(git, at, stated.tree)}"
    return [
        Finding("envelope", ok=True, text=f"about {stated.task}"),
        signature_finding(stated, trusted, signed=signed),
        Finding("tree", ok=same and not problems, text="; ".join(problems[:5]) or text),
    ]


def _elsewhere(git: Git, at: str, tree: str) -> str:
    listed = git.run("log", f"-n{FURTHER}", "--format=%H %T", at, "--", check=False).out.decode()
    found = [line.split()[0] for line in listed.splitlines() if line.endswith(tree)]
    return f"; {found[-1][:12]} below it has: use `--at {found[-1][:12]}`" if found else ""


def signature_finding(stated: Stated, trusted: Sequence[Trusted], *, signed: bool) -> Finding:
    """Who signed, in the reader's own words: a name is theirs, never the envelope's."""
    signer = stated.predicate.get("signer")
    line = signer.get("key") if isinstance(signer, dict) else None
    if not stated.envelope.signatures:
        if signer is not None:
            return Finding("signature", ok=False, text="is missing: the statement says that it was signed")
        return Finding("signature", ok=not signed, text=NOBODY)
    key = PublicKey.parse(str(line))
    if key is None or not stated.envelope.is_signed_by(key):
        return Finding("signature", ok=False, text="is not that of the key that the statement names")
    name = next((item.name for item in trusted if item.key == key), None)
    if name is not None:
        return Finding("signature", ok=True, text=f"Signed by {name}, trusted ({key.fingerprint})")
    text = f"signed by an unknown key ({key.fingerprint})"
    return Finding("signature", ok=not signed, text=text)


def _part(predicate: dict[str, Any], name: str) -> dict[str, Any]:
    value = predicate.get(name)
    if not isinstance(value, dict):
        raise BadEnvelope(f"its statement has no `{name}`")
    return value
