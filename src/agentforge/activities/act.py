"""`Act`: the reply's actions, in order, through the role's bridge, on the recorded tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agentforge.activities.assemble import bridge_of, results_of
from agentforge.activities.check import run_affected
from agentforge.activities.commands import Outputs, run_program
from agentforge.activities.dependencies import dependency_problems
from agentforge.activities.formatting import format_written, noted
from agentforge.activities.iterating import version_before
from agentforge.activities.kinds import owes_failing_test
from agentforge.activities.language_servers import heard
from agentforge.activities.measure import conformance, coverage, type_check
from agentforge.activities.owed import derived, owed_by
from agentforge.activities.permit import being_asked, leaves_sandbox, permit, to_wait
from agentforge.activities.reopening import reopening
from agentforge.activities.reviewing import flags_to_rule_on
from agentforge.activities.world import Document, World
from agentforge.catalog.contracts import problems
from agentforge.catalog.fitting import fitted
from agentforge.core.digests import ActionResults, LeavingAction
from agentforge.core.effects import Act
from agentforge.core.inputs import Acted, ActionLeaving
from agentforge.core.reply import Action, Json, Reply, reply_from_json
from agentforge.core.state import RunView
from agentforge.core.values import NOT_DONE, UNKNOWN, ActionDigest, ArtifactRef, Opened, Question, Reopening
from agentforge.gates.change.documents import objects, texts
from agentforge.gates.finals import artifact_problems
from agentforge.gates.rules.subject import Subject, fold
from agentforge.gates.rules.table import unanswered
from agentforge.store.task import artifacts
from agentforge.store.task.confidence import taken_in
from agentforge.system.canon import digest_value
from agentforge.system.secrets.redact import redact
from agentforge.tools.base import GitPort, ToolResult, Workbench
from agentforge.tools.bridge import Bridge
from agentforge.tools.run.running import ESCALATES, REOPEN, SUBMIT

DIGEST_CHARS = 300
MAX_FAULTS = 20
SKIPPED = "skipped"
"""The mistake of an action that was not done because an earlier write of its reply failed."""
REPEATED = "repeated"
"""The mistake of an action that was done before on the same tree."""
ABOUT_THE_BASE = frozenset({"requirements", "analysis", "questions"})
"""Parts that speak of the repository as it was."""
REFUSED = "artifact_invalid"
"""The mistake of a document that is not taken in."""
CONTROL = frozenset({SUBMIT.name, REOPEN.name, *ESCALATES})


@dataclass(slots=True)
class _Doing:
    """What has been done so far in this step."""

    bench: Workbench
    effect: Act
    """The effect that is performed."""
    results: list[tuple[Action, ToolResult]] = field(default_factory=list)
    artifacts: dict[str, ArtifactRef] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)
    refused: dict[str, Document] = field(default_factory=dict)
    """What was handed in and not taken in, each as it is after the last try."""
    question: Question | None = None
    reopens: Reopening | None = None
    stopped: bool = False
    """A write failed: later writes and runs would build on what is not there."""


def act(world: World, effect: Act, state: RunView) -> Acted:
    """Performs what it can; each refusal is a result like any other."""
    run = state.run
    world.reset_worktree(state)
    reply = _reply(world, run.reply.ref)
    doing = _Doing(_bench(world, state), effect)
    doing.documents = world.documents(state)
    bridge = bridge_of(world, state)
    seen = []
    actions = _documents_last([bridge.real(action) for action in reply.actions])
    for action in actions:
        earlier: list[Json] = [item.name for item, _ in doing.results if _writes(bridge, item)]
        mark = digest_value([state.tree, action.name, dict(action.args), earlier])[:16]
        repeated = mark in run.seen and _may_be_spared(bridge, action)
        result = _repeated() if repeated else _perform(world, state, bridge, action, doing)
        # What waits for a person was not done, and what nobody knows of may be: both may be sent again.
        # So may what was left out only because something before it failed.
        if result.mistake not in NOT_DONE and result.mistake not in (UNKNOWN, SKIPPED):
            seen.append(mark)
        doing.results.append((action, result))
        doing.bench = doing.bench.after(result)
        doing.stopped = doing.stopped or (
            not result.ok and _writes(bridge, action) and result.mistake not in NOT_DONE
        )
    tidied = format_written(world, state, [result for _, result in doing.results])
    doing.results = [(action, noted(result, tidied)) for action, result in doing.results]
    _derive(world, state, doing, signalled=reply.signal == "success")
    # A reply that only looked has left the tree as it was; asking git would cost more than the whole step.
    tree = world.workspace.snapshot() if any(_acts(bridge, action) for action in actions) else state.tree
    _note_ignored(world, tree, doing)
    if tree != state.tree:
        artifacts.write_patch(world.files, state.run.step, world.workspace.git.diff_patch(state.tree, tree))
    return _outcome(world, state, doing, reply, tree, tuple(seen))


def _writes(bridge: Bridge, action: Action) -> bool:
    return action.name in bridge.tools and bridge.tools[action.name].spec.effect == "write"


def _acts(bridge: Bridge, action: Action) -> bool:
    """Whether it may change something."""
    return action.name in bridge.tools and bridge.tools[action.name].spec.effect in (
        "write",
        "execute",
        "network",
    )


def _documents_last(actions: Sequence[Action]) -> list[Action]:
    """A document speaks of what its reply does: it is taken in when that is done, wherever it stands in the
    reply.
    """
    return sorted(actions, key=lambda action: action.name == SUBMIT.name)


def _may_be_spared(bridge: Bridge, action: Action) -> bool:
    """Whether its answer is known to be the same on the same tree. What another place says is not; and what
    refuses an edit says it again, since that is what helps.
    """
    if action.name in CONTROL or action.name not in bridge.tools:
        return False
    return bridge.tools[action.name].spec.effect not in ("network", "write")


def _reply(world: World, ref: str) -> Reply:
    value: Any = world.pack.get_json(ref)
    return reply_from_json(value["reply"]) if value["reply"] is not None else Reply()


def _perform(world: World, state: RunView, bridge: Bridge, action: Action, doing: _Doing) -> ToolResult:
    if doing.stopped and _acts(bridge, action):
        return ToolResult(ok=False, text="not done: an earlier write of this reply failed", mistake=SKIPPED)
    if action.name not in CONTROL:
        if (held := _held(world, state, bridge, action, doing)) is not None:
            return held
        if leaves_sandbox(world, bridge, action, doing.bench) and not _may_leave(world, action, doing):
            return to_wait()
        result = bridge.perform(action, doing.bench)
        return ToolResult(**{**_fields(result), "text": redact(result.text)[0]})
    if (refused := bridge.refusal(action, doing.bench)) is not None:
        return refused
    if action.name in ESCALATES and doing.question is not None and doing.question.call is not None:
        return to_wait()  # one question at a time
    if action.name in ESCALATES:
        options = tuple(texts(dict(action.args), "options"))
        doing.question = Question(
            str(action.args["question"]), options, str(action.args.get("recommendation", ""))
        )
        return ToolResult(ok=True, text="a person has the question")
    if action.name == REOPEN.name:
        doing.reopens, result = reopening(world, state, bridge, action)
        return result
    return _submit(world, state, action, doing)


def _may_leave(world: World, action: Action, doing: _Doing) -> bool:
    """Puts on record that an action is about to leave the sandbox. False: something else came first."""
    key, number = doing.effect.key, len(doing.results) + 1
    given = ActionLeaving(LeavingAction(number, action.name, _target(action)))
    owed = world.record(f"{key}/left/{number}", given)
    return any(item.key == key for item in owed)


def _held(world: World, state: RunView, bridge: Bridge, action: Action, doing: _Doing) -> ToolResult | None:
    """Why this is not done now: it is not allowed, a person is asked, or it may have been done before. What
    only looks goes on beside a question.
    """
    if len(doing.results) + 1 in state.run.left:
        return _unknown()
    asking = doing.question is not None and doing.question.call is not None
    if asking and _acts(bridge, action):
        return to_wait()
    ruling = permit(world, state, bridge, action, doing.bench)
    if not isinstance(ruling, Question):
        return ruling
    if doing.question is not None:
        return to_wait()
    doing.question = ruling
    return being_asked()


def _submit(world: World, state: RunView, action: Action, doing: _Doing) -> ToolResult:
    """Takes a document in, or says what is wrong with it. Of one that was handed in before, the keys that
    change are enough.
    """
    name = str(action.args["contract"])
    owed = {product.contract: product for product in state.stage.products}
    if name not in owed:
        return ToolResult(
            ok=False, text=f"this stage owes {', '.join(owed)}; not {name}", mistake="unknown_contract"
        )
    given = action.args["artifact"]
    assert isinstance(given, dict)
    contract = world.catalogue.contract(name)
    document, notes = fitted(contract, taken_in(given))
    kept = any(ref.contract == name for ref in state.run.drafts)
    before = (
        refused_before(world, state).get(name)
        or version_before(world, state, name)
        or (doing.documents.get(name) if kept else None)
    )
    subject = _subject(world, state, name, document, doing)
    wrong = artifact_problems(contract, document, subject, final=False)
    if before is not None:
        whole: Document = {**before, **document}
        subject_whole = _subject(world, state, name, whole, doing)
        wrong_whole = artifact_problems(contract, whole, subject_whole, final=False)
        if len(wrong_whole) < len(wrong) or problems(contract, document, final=False):
            document, subject, wrong = whole, subject_whole, wrong_whole
    if (
        owed[name].part == "questions"
        and (asked := unanswered(subject))
        and not problems(contract, document, final=False)
    ):
        return _ask_a_person(document, asked, doing)
    if wrong:
        doing.refused[name] = document
        lines = [f"{name} is refused:", *list(dict.fromkeys(wrong))[:MAX_FAULTS], *notes]
        return ToolResult(ok=False, text="\n".join(lines), mistake=REFUSED)
    version = state.next_version(name) if name not in doing.artifacts else doing.artifacts[name].version
    doing.artifacts[name] = world.keep_version(name, owed[name].phase, version, document)
    doing.documents[name] = document
    return ToolResult(ok=True, text="\n".join([f"{name} v{version} is taken in; the gates judge it", *notes]))


def refused_before(world: World, state: RunView) -> dict[str, Document]:
    """The documents of the last steps that were not taken in, each as it was handed in last."""
    found: dict[str, Document] = {}
    for ref in state.run.acts:
        for item in results_of(world, ref)["results"]:
            if item["name"] == SUBMIT.name:
                found.pop(item["target"], None)
                if "document" in item:
                    found[item["target"]] = item["document"]
    return found


def _ask_a_person(document: Document, asked: list[str], doing: _Doing) -> ToolResult:
    """What blocks and cannot be answered from the repository is a person's to say; the role hands in again
    with the answer.
    """
    said = {
        fold(str(item.get("question"))): str(item.get("answer", ""))
        for item in objects(document, "questions")
    }
    guesses = [said[fold(question)] for question in asked if said.get(fold(question))]
    text = (
        asked[0]
        if len(asked) == 1
        else "\n".join(f"{number}. {question}" for number, question in enumerate(asked, 1))
    )
    doing.question = Question(text, (), "; ".join(guesses)[:500])
    return ToolResult(ok=True, text="this needs a person's answer; hand in again with it")


def _subject(world: World, state: RunView, name: str, document: Document, doing: _Doing) -> Subject:
    part = world.catalogue.part(name)
    wrote = {path for _, result in doing.results for path in result.wrote}
    there = {entry.path for entry in world.workspace.git.ls_tree(state.tree)}
    # What a specification speaks of is the base: a file that this stage has created is still to be created.
    base = (
        {entry.path for entry in world.workspace.git.ls_tree(state.base_tree)}
        if part in ABOUT_THE_BASE
        else None
    )
    files = base or (
        {path for path in there | wrote if (world.workspace.worktree / path).exists()} if wrote else there
    )
    inputs = world.by_part({other: value for other, value in doing.documents.items() if other != name})
    asked = tuple(item.question.text for item in state.escalations if item.kind == "question" and item.answer)
    read = partial(_base_text, world, state) if base is not None else partial(_plain_text, world)
    names = world.part_names(state)
    reviews = part in ("review", "security")
    to_rule_on = tuple(flag.about for flag in flags_to_rule_on(world, state)) if reviews else ()
    known, owes = frozenset(files), owes_failing_test(state)
    waits = partial(dependency_problems, neighbours=world.neighbours, own=state.task_id)
    return Subject(document, part, inputs, state.request, known, read, asked, names, to_rule_on, owes, waits)


def _base_text(world: World, state: RunView, path: str) -> str | None:
    """A file as the base has it: what is quoted from the repository must stand there, whatever was edited
    since.
    """
    data = world.workspace.git.read_blob(state.base_tree, path)
    return None if data is None else data.decode("utf-8", "replace")


def _plain_text(world: World, path: str) -> str | None:
    """A file of the worktree; one that leads elsewhere is not read."""
    place = world.workspace.worktree / path
    inside = place.is_file() and place.resolve().is_relative_to(world.workspace.worktree.resolve())
    return place.read_bytes().decode("utf-8", "replace") if inside else None


def _bench(world: World, state: RunView) -> Workbench:

    def changed() -> list[str]:
        git = world.workspace.git
        return [
            change.path
            for change in git.diff_names(state.base_tree, world.workspace.snapshot())
            if change.status != "D"
        ]

    outputs = Outputs(world.files.root, state.run.step)
    return Workbench(
        world.workspace.worktree,
        lambda ids: _run_tests(world, state, ids),
        frozenset(state.run.created),
        runs={
            "run_conformance_check": lambda args: conformance(world, state, _paths(args) or changed()),
            "run_type_check": lambda args: type_check(world, state, _paths(args) or changed()),
            "analyze_coverage": lambda _: coverage(world, state, changed()),
        },
        changed=changed,
        command=partial(run_program, world, state, outputs),
        keep=outputs.keep,
        roots=world.roots,
        git=GitPort(
            partial(_git, world),
            state.base_commit,
            world.workspace.snapshot,
            state.branch or world.workspace.branch,
        ),
    )


def _git(world: World, words: Sequence[str]) -> ToolResult:
    """A git command that only reads, on the task's own repository."""
    done = world.workspace.git.run(*words, check=False)
    text = (done.out if done.code == 0 else done.err or done.out).decode("utf-8", "replace")
    return ToolResult(ok=done.code == 0, text=text, mistake="" if done.code == 0 else "git_failed")


def _paths(args: Mapping[str, Json]) -> list[str]:
    return texts(dict(args), "paths")


def _derive(world: World, state: RunView, doing: _Doing, *, signalled: bool) -> None:
    """What nobody has to write exists all the same, marked `derived`, once all that a role is asked for is
    there. A role that says it is done is believed also about a document in which nothing must be said.
    """
    refused = any(result.mistake == REFUSED for _, result in doing.results)
    if refused or not (signalled or doing.artifacts):
        return
    owed = owed_by(world, state)
    have = {ref.contract for ref in state.run.drafts} | set(doing.artifacts)
    free = {contract.name for contract in (*owed.may, *owed.rest)}
    if signalled and len(state.stage.products) > 1:
        free |= {contract.name for contract in owed.must if contract.part == "change"}
    missing = [product for product in state.stage.products if product.contract not in have]
    if not signalled and any(product.contract not in free for product in missing):
        return
    for product in missing:
        name = product.contract
        if name not in free:
            continue
        document = derived(product, state)
        doing.artifacts[name] = world.keep_version(name, product.phase, state.next_version(name), document)


def _run_tests(world: World, state: RunView, ids: Sequence[str]) -> ToolResult:
    """Tests on a pristine checkout of the worktree as it is now: the worktree itself is never littered."""
    tree = world.workspace.snapshot()
    if ids:
        run = world.pristine_runner(state).run(tree, ids)
        lines = [
            f"{result.id}: {result.outcome} {result.exception} {result.message}".rstrip()
            for result in run.results.values()
        ]
        head = f"{len(run.results)} results" if run.status == "ran" else f"not run: {run.reason}"
        return ToolResult(
            ok=run.status == "ran",
            text="\n".join([head, *lines]),
            mistake="" if run.status == "ran" else "tests_not_run",
        )
    digest = run_affected(world, state, tree)
    return ToolResult(ok=True, text="\n".join([digest.summary, *digest.failures]), failures=digest.failures)


def _note_ignored(world: World, tree: str, doing: _Doing) -> None:
    """A file that .gitignore hides will not be in the branch; the role is told, because no verdict will see
    it.
    """
    wrote = tuple(dict.fromkeys(path for _, result in doing.results for path in result.wrote))
    for hidden in world.workspace.ignored(tree, wrote):
        text = f"`{hidden}` is ignored by git: it is not part of the work, and no verdict will see it"
        doing.results.append(
            (Action("create_file", {"path": hidden}), ToolResult(ok=False, text=text, mistake="ignored_file"))
        )


def _outcome(
    world: World, state: RunView, doing: _Doing, reply: Reply, tree: str, seen: tuple[str, ...]
) -> Acted:
    whole: list[Json] = []
    digests = []
    came = []
    for action, result in doing.results:
        target = _target(action)
        kept: dict[str, Json] = {
            "name": action.name,
            "target": target,
            "ok": result.ok,
            "mistake": result.mistake,
            "text": result.text,
        }
        if result.mistake == REFUSED:
            kept["document"] = doing.refused[target]
        whole.append(kept)
        if result.mistake != REPEATED:
            counted = result.ok and action.name in CONTROL  # its words count versions
            came.append(digest_value({**kept, "text": "" if counted else result.text})[:16])
        digests.append(
            ActionDigest(
                action.name,
                result.ok,
                target,
                result.mistake,
                "" if result.ok else _digest(result.text),
            )
        )
    ref = world.pack.put_json({"step": state.run.step, "results": whole})
    told = heard(world, state)
    world.pack.sync()
    opened = [
        Opened(item.path, item.symbol, item.start, item.end)
        for _, result in doing.results
        for item in result.opened
    ]
    created = [path for _, result in doing.results for path in result.created]
    done = ActionResults(
        ref,
        tree,
        tuple(digests),
        tuple(doing.artifacts.values()),
        tuple(opened),
        tuple(created),
        seen,
        reply.notes[:4000] if reply.notes is not None else None,
        tuple(came),
        told,
    )
    return Acted(done, doing.question, doing.reopens)


def _digest(text: str) -> str:
    """What is on record of a refusal: whole lines, as far as they go; the rest is in the step's results."""
    if len(text) <= DIGEST_CHARS:
        return text
    head, _, _ = text[:DIGEST_CHARS].rpartition("\n")
    if not head:
        return text[:DIGEST_CHARS]
    left = text.count("\n") - head.count("\n")
    return f"{head}\nand {left} more {'line' if left == 1 else 'lines'}"


def _target(action: Action) -> str:
    for key in ("path", "name", "pattern", "contract", "source", "command"):
        if isinstance(value := action.args.get(key), str):
            return redact(value)[0][:200]
    return redact(" ".join(texts(dict(action.args), "argv")))[0][:200]


def _unknown() -> ToolResult:
    text = (
        "it was begun, then the engine was stopped; nobody knows whether it was done, so it was not "
        "repeated. "
        "Look whether it was done before you send it again"
    )
    return ToolResult(ok=False, text=text, mistake=UNKNOWN)


def _repeated() -> ToolResult:
    text = (
        "the same action on the same tree was done before; its result has not changed. Look at your "
        "context, or do something else"
    )
    return ToolResult(ok=False, text=text, mistake=REPEATED)


def _fields(result: ToolResult) -> dict[str, Any]:
    return {name: getattr(result, name) for name in ToolResult.__dataclass_fields__}
