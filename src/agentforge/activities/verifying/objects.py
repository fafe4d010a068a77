"""What git holds of a task, held against its names: commits, trees, files, and the refs that keep them."""

from typing import Any

from agentforge.activities.findings import Finding
from agentforge.activities.verifying.record import Named
from agentforge.core.state import State
from agentforge.store.task import archive
from agentforge.system.git.audit import ObjectAudit
from agentforge.system.git.repository import Git

_MOST_STEPS = 100_000
_MOST_NAMED = 5


def git_findings(git: Git, state: State, named: Named, evidence: dict[str, Any]) -> list[Finding]:
    """Objects by their content, then where refs point."""
    assert state.delivered is not None
    audit = ObjectAudit(git)
    delivered = state.delivered
    tip = delivered.seal or delivered.commit
    chain = audit.chain(tip, state.base_commit)
    for commit in named.commits:
        audit.commit(commit)
    for tree in (state.base_tree, state.tree, *named.trees):
        audit.tree(tree)
    saved = git.read_ref(archive.ref_of(state.task_id))
    if saved is not None and (copy := audit.commit(saved)) is not None:
        audit.tree(copy.tree)
    found = [
        *_refs(audit, state, named),
        _commit(audit, state, evidence),
        _branch(git, state, tip),
    ]
    if chain is None and not audit.problems:
        found.append(Finding("history", ok=False, text=f"{tip[:12]} does not descend from the base"))
    wrong = [*audit.problems, *audit.replaced()]
    text = f"{len(audit.seen)} read, each with its content" if not wrong else "; ".join(wrong[:_MOST_NAMED])
    return [Finding("objects", ok=not wrong, text=text), *found]


def _commit(audit: ObjectAudit, state: State, evidence: dict[str, Any]) -> Finding:
    assert state.delivered is not None
    commit = audit.commit(state.delivered.commit)
    result = evidence.get("result")
    stated = (
        result.get("tree") if isinstance(result, dict) else state.tree
    )  # else the evidence has its own row
    same = commit is not None and commit.tree == state.tree == stated
    name = state.delivered.commit[:12]
    text = f"{name} holds the judged tree" if same else f"{name} does not have the judged tree"
    return Finding("commit", ok=same, text=text)


def _branch(git: Git, state: State, expected: str) -> Finding:
    assert state.delivered is not None
    branch = state.delivered.branch
    if not branch:
        return Finding("branch", ok=True, text="none: no file was changed")
    tip = git.read_ref(f"refs/heads/{branch}")
    if tip is None:
        return Finding("branch", ok=False, text=f"refs/heads/{branch} is missing; it was at {expected[:12]}")
    ok = tip == expected
    text = f"{branch} is at {tip[:12]}" + (
        "" if ok else f", which is not what was delivered ({expected[:12]})"
    )
    return Finding("branch", ok=ok, text=text)


def _refs(audit: ObjectAudit, state: State, named: Named) -> list[Finding]:
    """The refs that keep a task's objects: the base, and every recorded tree."""
    root = f"{archive.REFS}{state.task_id}"
    base = audit.git.read_ref(f"{root}/base")
    wrong = []
    if base != state.base_commit:
        wrong.append(f"{root}/base is " + (f"at {base[:12]}, not at the base" if base else "missing"))
    recorded = {after for _, after in named.patches.values()}
    if recorded:
        name = audit.git.read_ref(f"{root}/steps")
        kept = _kept_trees(audit, name or "")
        if name is None:
            wrong.append(f"{root}/steps is missing")
        elif lost := sorted(recorded - kept):
            wrong.append(f"{root}/steps was moved: it does not lead to the tree {lost[0][:12]}")
    text = "as the task left them"
    return [Finding("refs", ok=not wrong, text="; ".join(wrong) or text)]


def _kept_trees(audit: ObjectAudit, name: str) -> set[str]:
    found: set[str] = set()
    waiting = [name] if name else []
    met: set[str] = set()
    while waiting and len(met) < _MOST_STEPS:
        commit = audit.commit(waiting.pop())
        if commit is None or commit.oid in met or not commit.message.startswith("recorded tree of "):
            continue
        met.add(commit.oid)
        found.add(commit.tree)
        waiting += commit.parents
    return found
