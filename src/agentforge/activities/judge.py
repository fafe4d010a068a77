"""`Judge`: one gate's verdict. Only what the engine ran or computed itself goes into it."""

from typing import assert_never

from agentforge.activities.world import Document, World
from agentforge.analysis.lint import LintRun, lint
from agentforge.core.effects import Judge
from agentforge.core.inputs import Judged
from agentforge.core.state import State
from agentforge.core.values import ArtifactRef
from agentforge.gates.court import Verdict, objects
from agentforge.gates.finals import Facts, artifact_problems, delivery_report, filled
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.predicates import Subject
from agentforge.gates.red import RedCase, prove_red


def judge(world: World, effect: Judge, state: State) -> Judged:
    """Runs a gate and keeps its record in the pack."""
    finals: tuple[ArtifactRef, ...] = ()
    match effect.gate:
        case "red":
            verdict = _red(world, state)
        case "green":
            verdict = _green(world, state)
        case "review":
            verdict = _review(world, state)
        case "delivery":
            verdict, finals = _delivery(world, state)
        case "contracts":
            verdict, finals = _contracts(world, state)
        case _:
            assert_never(effect.gate)
    ref = world.pack.put_json({"gate": effect.gate, "status": verdict.status, "reasons": list(verdict.reasons), **verdict.record})
    world.pack.sync()
    return Judged(effect.gate, verdict.status, verdict.reasons, ref, finals)


def _red(world: World, state: State) -> Verdict:
    run = state.run
    assert run is not None
    documents = world.documents(state)
    world.progress("proving that the new tests fail on the base")
    together = any(product.contract == "implementation" for product in state.stage.products)
    entry = state.base_tree if together else run.entry_tree
    old = frozenset(world.grounds(state).tests.results)
    case = RedCase(entry, state.tree, documents["test_suite"], documents["specification"], same_author=together, old=old)
    return prove_red(world.court(state), case)


def _green(world: World, state: State) -> Verdict:
    world.progress("running the whole suite on a pristine checkout")
    grounds = world.grounds(state)
    documents = world.documents(state)
    changed = [change.path for change in world.workspace.git.diff_names(state.base_tree, state.tree) if change.status != "D"]
    after = LintRun(grounds.lint.status, grounds.lint.reason)
    if grounds.lint.status == "ran":
        place = world.workspace.pristine(state.tree, state.base_commit)
        after = lint(world.sandbox, world.environment(state), place, changed)
    red = world.records(state)["red"]
    case = GreenCase(state.base_tree, state.tree, red, documents["test_suite"], grounds.tests, grounds.flaky, grounds.lint, after)
    return judge_green(world.court(state), case)


def _review(world: World, state: State) -> Verdict:
    review = world.documents(state)["review"]
    findings = objects(review, "findings")
    if review.get("verdict") == "approve":
        return Verdict("passed", (), {"verdict": "approve", "findings": list(findings)})
    blocking = [item for item in findings if item.get("blocking")]
    lines = [f"{item.get('id')}: {item.get('description')} Remedy: {item.get('remediation', 'see the finding')}" for item in blocking]
    return Verdict("blocked", tuple(lines) or (str(review.get("summary", "blocked")),), {"verdict": "block", "findings": list(findings)})


def _facts(world: World, state: State) -> Facts:
    return Facts(
        state.task_id,
        state.request,
        world.created_at,
        world.workspace.git,
        state.base_tree,
        state.tree,
        world.sandbox.name,
        world.records(state),
    )


def _delivery(world: World, state: State) -> tuple[Verdict, tuple[ArtifactRef, ...]]:
    """The report, and the last look: what was judged green is what is handed over."""
    green = world.records(state).get("green")
    if green is None or green.get("tree") != state.tree:
        return Verdict("not_run", ("the tree to deliver is not the tree that was judged",), {}), ()
    commits = list(dict.fromkeys(item.commit for item in state.accepted if item.commit != state.base_commit))
    branch = world.workspace.branch.removeprefix("refs/heads/")
    report = delivery_report(_facts(world, state), world.documents(state), branch=branch, base_commit=state.base_commit, commits=commits)
    product = state.stage.products[0]
    ref = world.keep_version(product.contract, product.phase, state.next_version(product.contract), report)
    return Verdict("passed", (), {"tree": state.tree}), (ref,)


def _contracts(world: World, state: State) -> tuple[Verdict, tuple[ArtifactRef, ...]]:
    """Fills what the engine knows and holds every final against its contract."""
    run = state.run
    assert run is not None
    facts, documents = _facts(world, state), world.documents(state)
    ready = {ref.contract: ref for ref in run.finals}
    files = frozenset(entry.path for entry in world.workspace.git.ls_tree(state.tree))
    base = frozenset(entry.path for entry in world.workspace.git.ls_tree(state.base_tree))
    finals: list[ArtifactRef] = []
    reasons: list[str] = []
    done: dict[str, Document] = dict(documents)
    for product in state.stage.products:
        name = product.contract
        final = documents[name] if name in ready else filled(name, documents[name], facts)
        done[name] = final
        known = base if name in ("specification", "analysis", "clarification") else files
        subject = Subject(final, name, {other: value for other, value in done.items() if other != name}, state.request, known)
        reasons += [f"{name}: {line}" for line in artifact_problems(world.catalogue.contract(name), final, subject, final=True)]
        version = next((ref.version for ref in (*run.finals, *run.drafts) if ref.contract == name), 1)
        if not reasons:
            finals.append(world.keep_final(name, product.phase, version, final))
    if reasons:
        return Verdict("failed", tuple(reasons[:10]), {}), ()
    return Verdict("passed", (), {"finals": {ref.contract: ref.hash for ref in finals}}), tuple(finals)
