"""The integration tests that a project marks, at the exit of the last stage that changes code."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from agentforge.activities.world import World
from agentforge.core.reply import Json
from agentforge.core.state import RunView
from agentforge.gates.change.documents import objects
from agentforge.gates.green import MAX_REASONS
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.gates.suite.marked import MarkedVerdict, judge_marked
from agentforge.gates.verdict import Verdict
from agentforge.languages.joined import joined_language
from agentforge.languages.outcomes import TestRun
from agentforge.languages.repository import Project, is_alone
from agentforge.languages.values import Environment, MarkedTests


def is_last_of_code(state: RunView) -> bool:
    """Whether no later stage of the lane may change code."""
    later = state.pipeline.stages[state.pipeline.index(state.stage.name) + 1 :]
    return not any("green" in stage.gates for stage in later)


def with_integration(world: World, state: RunView, verdict: Verdict) -> Verdict:
    """A green verdict with what the integration tests say; as it is where none are marked, where code may
    still change, or where they ran on this tree already.
    """
    if verdict.status != "passed" or "integration" in verdict.record or not is_last_of_code(state):
        return verdict
    found = run_integration(world, state)
    if not found:
        return verdict
    reasons = tuple(line for each in found for line in each.reasons)[:MAX_REASONS]
    known = verdict.record.get("not_checked")
    gaps: dict[str, Json] = dict(known) if isinstance(known, dict) else {}
    for each in found:
        if each.not_run:
            gaps[each.name] = f"not run: {each.not_run}"
        else:
            gaps |= dict(each.not_checked)
    rows: list[Json] = [each.to_json() for each in found]
    flags: list[Json] = [flag.to_json() for each in found for flag in each.flags]
    known_flags = [*objects(verdict.record, "flags"), *flags]
    record: dict[str, Json] = {**verdict.record, "integration": rows, "not_checked": gaps}
    if flags:
        record["flags"] = known_flags
    return replace(verdict, status="failed" if reasons else "passed", reasons=reasons, record=record)


def run_integration(world: World, state: RunView) -> list[MarkedVerdict]:
    """What each kind of integration tests says of a run's tree; also for whoever verifies it later."""
    return [
        _verdict(world, state, project, marked)
        for project in world.scope(state)
        for marked in project.plan.marked
    ]


def _verdict(world: World, state: RunView, project: Project, marked: MarkedTests) -> MarkedVerdict:
    name = f"{marked.name} in {project.root}" if project.root else marked.name
    world.progress(f"running the integration tests: {name}")

    def known(make: Callable[[], TestRun]) -> TestRun:
        return world.once("integration", state.base_tree, name, make=make)

    trees = (state.base_tree, state.tree)
    files = tuple(map(project.whole, marked.ids))
    return judge_marked(name, _runner(world, state, project, marked), trees, files, known)


def _runner(world: World, state: RunView, project: Project, marked: MarkedTests) -> PristineRunner:
    """Runs the marked tests of one project alone, in the environment that a tree asks for."""
    plan = replace(project.plan, tests=marked.command)
    projects = [replace(each, plan=plan) if each == project else each for each in world.projects(state)]

    def env_for(tree: str, ids: Sequence[str]) -> Environment:
        env = world.environment_of(state, tree, ids)
        if is_alone(projects):
            return env
        return replace(env, parts={project.name: env.parts[project.name]})

    return replace(
        world.pristine_runner(state),
        command=marked.command,
        language=joined_language(projects),
        env_for=env_for,
        limit_s=0,
        runs=[],
    )
