"""A command that a check of a project runs: behind the walls, without network, on a tree it cannot change."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agentforge.catalog.project_checks import ProjectCheck
from agentforge.gates.conformance.project_rules import CommandAnswer
from agentforge.sandbox.base import Confinement, Sandbox

SECONDS = 300
NO_CONSENT = "its command has not been agreed to; `agentforge check --allow-commands` agrees to it as it is"


def confined_answer(
    sandbox: Sandbox, rule: ProjectCheck, tree: Path, readable: Sequence[Path], env: Mapping[str, str]
) -> CommandAnswer:
    """What the command printed, or why that does not count: findings are lines, and 0 and 1 are good ends."""
    confinement = Confinement(cwd=tree, read=(tree, *readable), env=dict(env), timeout_s=SECONDS)
    try:
        done = sandbox.run(tuple(rule.data["run"]), confinement)
    except OSError as error:
        return "", f"its command could not be started: {error.strerror}"
    if done.timed_out:
        return "", f"its command did not end within {SECONDS} s"
    if done.beyond:
        return "", f"its command was out of bounds: {done.beyond}"
    if done.code not in (0, 1):
        said = done.err.decode("utf-8", "replace").strip().splitlines()
        return "", f"its command ended with {done.code}: {said[-1][:200] if said else 'it said nothing'}"
    return done.out.decode("utf-8", "replace"), ""
