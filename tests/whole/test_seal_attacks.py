"""Somebody between who delivers a branch and who checks it: each way to pass off another tree, or another signer, is
named by `verify` on a clone that has nothing else.
"""

import base64
import json
import subprocess
from pathlib import Path

import pytest

from agentforge.system.signatures import Envelope, SigningKey, armour, unarmour
from tests.whole.checkouts import Done, Person, git
from tests.whole.plays import SOURCE, Play, finished, patch, review
from tests.whole.test_seal import clone

pytestmark = pytest.mark.slow


def wrong(done: Done) -> list[str]:
    """The rows that do not hold, of a command that must then fail; or what it said instead."""
    try:
        found = [row["row"] for row in done.data["findings"] if not row["ok"]]
    except (KeyError, ValueError):
        return [f"{done.code}: {done.said}"]
    assert bool(found) == bool(done.code), done.said
    return found


def commit_with(reader: Person, message: str, *, tree: str, parents: tuple[str, ...]) -> str:
    words = [word for parent in parents for word in ("-p", parent)]
    made = subprocess.run(
        ["git", "-c", "user.name=m", "-c", "user.email=m@m", "commit-tree", tree, *words, "-F", "-"],
        cwd=reader.checkout,
        input=message,
        check=True,
        capture_output=True,
        text=True,
    )
    return made.stdout.strip()


def resigned(message: str, key: SigningKey | None, **changed: object) -> str:
    """The same seal with another statement, signed by somebody else or by nobody."""
    data = unarmour(message)
    assert data is not None
    statement = Envelope.parse(data).statement()
    statement["predicate"] |= changed
    if key is not None:
        statement["predicate"]["signer"] = {"key": key.public.line, "name": "ada@example.invalid"}
    envelope = Envelope.seal(statement, key)
    return f"Seal: as before\n\n{armour(envelope.spell(key.public if key else None))}"


def test_no_other_tree_and_no_other_signer_passes_for_what_was_delivered(play: Play, tmp_path: Path) -> None:
    assert play.person.run("keys", "init", "--name", "ada@example.invalid").code == 0
    key = play.person.run("keys", "show").out.strip()
    done = finished(play.start(patch(), review(), lane="hotfix"))
    task, branch, seal = done["task_id"], done["branch"], done["commit"]
    reader = clone(play, tmp_path / "clone", branch)
    assert reader.run("keys", "trust", "ada", key).code == 0
    strict = ("--require-signature", "--json")
    assert wrong(reader.run("verify", branch, *strict)) == []
    final, message = (
        git(reader.checkout, "rev-parse", f"{seal}^"),
        git(reader.checkout, "log", "-1", "--format=%B", seal),
    )
    base = git(reader.checkout, "rev-parse", f"{final}~1")

    # The seal on top of something else, and something else below the same seal.
    git(reader.checkout, "checkout", "-q", "-b", "evil", final)
    reader.write({SOURCE: "net = None\n"})
    reader.commit_all()
    evil = git(reader.checkout, "rev-parse", "evil")
    tree = git(reader.checkout, "rev-parse", "evil^{tree}")
    for parents, place in (
        ((evil,), tree),
        ((final,), tree),
        ((final, evil), f"{seal}^{{tree}}"),
        ((), tree),
    ):
        of = git(reader.checkout, "rev-parse", place)
        git(
            reader.checkout,
            "branch",
            "-f",
            "replayed",
            commit_with(reader, message, tree=of, parents=parents),
        )
        assert "seal" in wrong(reader.run("verify", "replayed", *strict)), parents

    # Signed again by somebody whom the reader does not know, under the same name; by nobody; in words of their own.
    stranger = SigningKey.new()
    for name, text, row in (
        ("stranger", resigned(message, stranger), "signature"),
        ("nobody", resigned(message, None), "signature"),
        ("twice", f"{message}\n{message}", "seal"),
        ("softened", resigned(message, None, not_checked=[]), "signature"),
    ):
        made = commit_with(reader, text, tree=f"{seal}^{{tree}}", parents=(final,))
        git(reader.checkout, "branch", "-f", name, made)
        assert row in wrong(reader.run("verify", name, *strict)), name

    # A tag with the name of a branch, and a branch with the name of a commit.
    git(reader.checkout, "branch", "-f", "both", evil)
    git(reader.checkout, "tag", "both", seal)
    assert wrong(reader.run("verify", "both", *strict)) != [], "the tag is not what is checked out"
    git(reader.checkout, "update-ref", f"refs/heads/{seal}", evil)
    assert wrong(reader.run("verify", seal, *strict)) == ["branch"]

    # Two branches merged, a part of the history alone, an envelope with something after it.
    git(reader.checkout, "checkout", "-q", "-b", "trunk", base)
    reader.write({"other.txt": "mine\n"})
    reader.commit_all()
    git(reader.checkout, "merge", "-q", "--no-ff", "-m", "Merge", branch)
    assert wrong(reader.run("verify", "trunk", *strict)) == ["branch"]
    shallow = tmp_path / "shallow"
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", "-b", branch, f"file://{play.top}", shallow], check=True
    )
    few = Person(shallow, shallow / "none", reader.variables)
    assert wrong(few.run("verify", branch, *strict)) == ["history"]
    kept = tmp_path / "proof.json"
    assert play.person.run("report", task, "--envelope", str(kept)).code == 0
    git(reader.checkout, "checkout", "-q", branch)
    whole = kept.read_bytes()
    for data in (whole + b"{}", whole.replace(b"{", b'{"payload":"",', 1), _other_payload(whole)):
        kept.write_bytes(data)
        assert wrong(reader.run("verify", str(kept), *strict)) != []


def _other_payload(data: bytes) -> bytes:
    """The signatures of one statement under another."""
    value = json.loads(data)
    statement = json.loads(base64.b64decode(value["payload"]))
    statement["predicate"]["tests"] = {}
    value["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()
    return json.dumps(value).encode()
