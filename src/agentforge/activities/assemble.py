"""`Assemble`: a step's whole context, rebuilt from state and the current tree."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from agentforge.activities.examining import blind, is_blind, shown_answers
from agentforge.activities.iterating import iteration_context, versions_shown
from agentforge.activities.kinds import allowed_now, owes_failing_test
from agentforge.activities.language_servers import ask_beside, said_of_servers
from agentforge.activities.owed import OwedDocuments, owed_by
from agentforge.activities.reading import change_shown, fence_of, reads_change
from agentforge.activities.reopening import told
from agentforge.activities.reviewing import flags_to_rule_on
from agentforge.activities.surroundings import (
    draw_map,
    failing_places,
    first_places,
    history,
    owners_words,
    places_named,
    promised_tests,
    read_tree_file,
    seeded,
)
from agentforge.activities.world import World, document_refs, record_refs
from agentforge.catalog.contracts import schema_problems
from agentforge.catalog.prompts import flow_of, system_prompt
from agentforge.catalog.roles import Role
from agentforge.catalog.skeleton import offered_schema
from agentforge.context.assemble import StepView, assemble
from agentforge.context.blocks import kind_of
from agentforge.context.change import ChangePart
from agentforge.context.code_index import is_test
from agentforge.context.conventions import speaks_for_owner
from agentforge.context.packing import Packed
from agentforge.context.verification import measured, on_the_base, verification_status
from agentforge.context.working_set import SEEDED, Left, WorkingSetItem, merge, merge_each
from agentforge.core.digests import ContextDigest
from agentforge.core.inputs import Assembled
from agentforge.core.pipeline import Part, reader_of
from agentforge.core.reply import Json
from agentforge.core.state import RunView
from agentforge.gates.change.documents import objects, texts
from agentforge.gates.change.kinds import failed_before, owed_line
from agentforge.gates.flags import flags_text, shown_flags
from agentforge.gates.new_tests.amendments import amended
from agentforge.languages.reach import Reach, render
from agentforge.models.base import OfferedTool
from agentforge.system import strict_yaml
from agentforge.system.secrets.redact import redact
from agentforge.tools.base import OpenedRange, ToolSpec
from agentforge.tools.bridge import Bridge
from agentforge.tools.change.releasing import changelogs
from agentforge.tools.paths import PathLimits
from agentforge.tools.run.declared import declared_tools
from agentforge.tools.run.running import SUBMIT

REACH_CHARS = 6_000
CHANGELOG_LINES = 40
MOST_RED = 12
"""New tests of which whoever makes them pass is told how they fail."""
SHOWN_BY_WORKING_SET = frozenset({"read_file", "read_symbol"})


def bridge_of(world: World, state: RunView) -> Bridge:
    """The role's way to the tools in this stage."""
    return world.once("bridge", *_bridge_hangs_on(state), make=lambda: _bridge(world, state))


def _bridge_hangs_on(state: RunView) -> tuple[str, str, str]:
    return state.run.label, record_refs(state).get("red", ""), allowed_now(state).kind


def _bridge(world: World, state: RunView) -> Bridge:
    role_name = state.stage.role
    assert role_name is not None
    role = world.catalogue.role(role_name)
    limits = PathLimits.compile(
        _limits(world, state, role),
        world.test_globs(state),
        tuple(world.settings.get("docs", ())) or ("docs/**", "*.md"),
    )
    # A stage that proves red itself proves it again with whatever tests it leaves.
    locked = {} if "red" in state.stage.gates else world.locked(state)
    return Bridge.of(
        world.catalogue.value["roles"][role_name],
        limits,
        schema_problems,
        locked=locked,
        read_only=not state.pipeline.writes,
        declared=declared_tools(world.catalogue.tools()),
        submits=owed_by(world, state).tools(),
        contracts=(product.contract for product in state.stage.products),
    )


def _limits(world: World, state: RunView, role: Role) -> Mapping[str, str]:
    """Where the role may write in this stage."""
    own = role.path_constraints
    return own if _tests_are_closed(world, state) else _with_tests(own)


def _tests_are_closed(world: World, state: RunView) -> bool:
    """Whether the one who makes the change may not touch tests: they prove it. Where no test failed before,
    none does, and old tests are judged as the base has them.
    """
    return owes_failing_test(state) or failed_before(world.records(state).get("red", {}))


def _with_tests(limits: Mapping[str, str]) -> dict[str, str]:
    """Path limits that close no tests."""
    kept = {
        tool: [item for item in text.split(",") if item.strip() != "!{tests}"]
        for tool, text in limits.items()
    }
    return {tool: ",".join(items) for tool, items in kept.items() if items}


def assemble_step(world: World, state: RunView) -> Assembled:
    """Stands the worktree, gathers what the step shows, packs it under the stage's cap and keeps it."""
    world.reset_worktree(state)
    packed = assemble(_view(world, state), state.stage.context_tokens)
    blocks = [(block.name, block.text) for block in packed.blocks]
    ref = world.pack.put_blocks(blocks, _about(world, state, packed))
    world.once("context", ref, make=lambda: blocks)
    dropped = tuple(f"{item.name}: {item.tokens} tokens, {item.reason}" for item in packed.dropped)
    ask_beside(world, state)
    left_out = (*dropped, *said_of_servers(world, state))
    return Assembled(ContextDigest(ref, packed.total, left_out, packed.flagged))


def _about(world: World, state: RunView, packed: Packed) -> dict[str, Json]:
    """What is kept beside a context for those who look at it: why each block is there, and what is sent
    before them.
    """
    why: dict[str, Json] = {block.name: block.why for block in packed.blocks if block.why}
    if (told := _told_by(world, state)) and any(block.name == "relations" for block in packed.blocks):
        why["relations"] = f"{kind_of('relations').why}; who uses it: told by {told}"
    tools = world.once("specs", *_bridge_hangs_on(state), make=lambda: _keep_specs(world, state))
    shown: dict[str, Json] = {block.name: block.shown for block in packed.blocks if block.shown != "full"}
    return {"tools": tools, **({"why": why} if why else {}), **({"shown": shown} if shown else {})}


def _told_by(world: World, state: RunView) -> str:
    """The language servers whose word stands in this context; empty for none."""
    if not state.told_now or not first_places(world, state).by_server:
        return ""
    return ", ".join(sorted(world.told(state.told_now).servers.values()))


def _keep_specs(world: World, state: RunView) -> str:
    """Where the pack has what the role is told of its tools."""
    specs: list[Json] = [
        {"name": spec.name, "description": spec.description, "schema": told_schema(spec)}
        for spec in bridge_of(world, state).specs()
    ]
    return world.pack.put_json(specs)


def told_schema(spec: ToolSpec) -> dict[str, Json]:
    """The schema of a tool as a model is told it: a document's own, a tool's without what only a careless or
    hostile call would meet.
    """
    return {**spec.schema} if spec.effect == "control" else slim(spec.schema)


def offered_tools(world: World, state: RunView) -> tuple[OfferedTool, ...]:
    """The tools of the stage as a provider is told them."""

    def make() -> tuple[OfferedTool, ...]:
        specs = bridge_of(world, state).specs()
        return tuple(OfferedTool(spec.name, spec.description, told_schema(spec)) for spec in specs)

    return world.once("offered", *_bridge_hangs_on(state), make=make)


def slim(schema: Mapping[str, Json]) -> dict[str, Json]:
    """A schema without its bounds. The bridge holds every call to the whole of it."""
    return {
        key: _slimmer(key, value)
        for key, value in schema.items()
        if key not in _BOUNDS and not (key == "required" and not value)
    }


def _slimmer(key: str, value: Json) -> Json:
    if key == "properties" and isinstance(value, dict):
        return {name: slim(node) if isinstance(node, dict) else node for name, node in value.items()}
    return slim(value) if isinstance(value, dict) else value


def _view(world: World, state: RunView) -> StepView:
    run, stage = state.run, state.stage
    assert stage.role is not None
    kind = allowed_now(state).kind
    system, owed = world.once("prompts", run.label, kind, make=lambda: _prompts(world, state))
    guide = owed.told({ref.contract for ref in run.drafts})
    if is_blind(stage):
        own = StepView(
            state.task_id,
            state.request,
            stage.name,
            fence_of(state),
            system=system,
            notes=run.notes,
            owed=guide,
        )
        own = replace(own, tried=run.tried, refused=_refused(world, state), feedback=run.feedback)
        return blind(world, state, own)
    documents = world.documents(state)
    refs = document_refs(state)
    parts = world.by_part(documents)
    specification = amended(parts.get("requirements", {}), parts.get("tests", {}))
    working, left = _working(world, state, documents)
    feedback = told(world, state)
    owner = owners_words(world, state)
    shown, reviews = change_shown(world, state), reads_change(stage, run)
    judged = reviews or _words_change(state)
    return StepView(
        task_id=state.task_id,
        goal=state.request,
        phase=stage.name,
        fence=fence_of(state),
        system=system,
        success_criteria=tuple(
            line
            for item in objects(specification, "requirements")
            for line in texts(item, "acceptance_criteria")
        ),
        proof=owed_line(allowed_now(state)) if state.pipeline.contract_for("change") else "",
        constraints=tuple(str(item.get("description", "")) for item in objects(specification, "constraints")),
        artifacts=tuple(
            (name, world.once("yaml", refs[name], make=partial(_input, world, name, documents[name])))
            for name in (*stage.requires, *(debater.contract for debater in stage.debaters))
            if name in documents and not _says_nothing(world, name, documents[name])
        )
        + _from_others(world, state),
        answers=shown_answers(state),
        # Who judges a change, or puts it into words, is shown the change; what else there is, tools find.
        repository_map="" if judged else draw_map(world, state, named="requirements" in parts),
        facts=_facts(world, state),
        relations="" if judged else _relations(world, state, parts),
        history=history(world, state) if state.stage.makes("analysis") else "",
        change=shown.text if shown else "",
        change_title=_change_title(state, shown),
        flags=_flags(world, state) if reviews else "",
        working=working,
        conventions=_conventions(world, state, working) | {word.path for word in owner},
        owner=owner,
        left=left,
        read=cache(
            partial(read_tree_file, world)
        ),  # once in a step: what it shows of a file is of one moment
        notes=run.notes,
        tried=run.tried,
        diff_stat="" if shown and shown.of == 1 else space_diff(world, state),
        verification=verification_status(run.check, feedback),
        failures=run.check.failures if run.check else (),
        at_risk=run.check.at_risk if run.check else (),
        recent=_recent(world, state),
        refused=_refused(world, state),
        owed=guide,
        feedback=feedback,
        iteration=iteration_context(state),
        versions=versions_shown(world, state),
    )


_BOUNDS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "additionalProperties", "minimum", "pattern"}
)

WRITTEN_BY_ROLES: tuple[Part, ...] = ("request", "requirements", "tests", "change")
"""Parts whose other keys repeat what a step is shown elsewhere: the request, ids of tests, verdicts."""


DERIVED: tuple[Part, ...] = ("request", "questions", "options", "decision")
"""Parts that say nothing new where the engine wrote them."""
SAID_BY_CHANGE = ("files_created", "files_modified", "files_deleted")
SAID_BY_ROLES = frozenset({"improvements"})
"""Keys that the engine fills with a role's words."""


def _input(world: World, name: str, document: Mapping[str, Json]) -> str:
    """An earlier artifact as a step needs it: what a role wrote in it."""
    if world.catalogue.part(name) in WRITTEN_BY_ROLES:
        offered = offered_schema(world.catalogue.contract(name))["properties"]
        assert isinstance(offered, dict)
        shown = (*offered, *sorted(SAID_BY_ROLES - offered.keys()))
        document = {key: document[key] for key in shown if document.get(key) not in (None, "", [])}
        if world.catalogue.part(name) == "change":  # the change itself says which files, and how much of each
            document = {key: value for key, value in document.items() if key not in SAID_BY_CHANGE}
    schema = world.catalogue.contract(name).document["schema"]
    return strict_yaml.dump(in_order(dict(document), {"properties": schema})) if document else ""


def in_order(value: Json, node: Any) -> Json:  # noqa: ANN401 - a node of a contract, as it was read
    """A document with its keys as its contract has them: an id before what it is the id of."""
    if isinstance(value, list):
        return [in_order(each, node.get("items", {})) for each in value]
    if not isinstance(value, Mapping):
        return value
    known = node.get("properties", {})
    keys = [*(key for key in known if key in value), *(key for key in value if key not in known)]
    return {key: in_order(value[key], known.get(key, {})) for key in keys}


def _from_others(world: World, state: RunView) -> tuple[tuple[str, str], ...]:
    """The artifacts of other repositories that the task waited for."""
    return tuple(
        (f"{each.artifact} {each.version} of {each.repo}", _dumped(world, each.ref)) for each in state.found
    )


def _dumped(world: World, ref: str) -> str:
    document: Any = world.pack.get_json(ref)
    return strict_yaml.dump(document)


def _says_nothing(world: World, name: str, document: Mapping[str, Json]) -> bool:
    """Whether the engine wrote it from what the step is shown anyway."""
    return document.get("derived") is True and world.catalogue.part(name) in DERIVED


def _flags(world: World, state: RunView) -> str:
    """What the engine names to a reader; what another one rules on is not marked here."""
    owed = flags_to_rule_on(world, state)
    return flags_text(replace(flag, ruling=flag in owed) for flag in shown_flags(world.records(state)))


def _change_title(state: RunView, shown: ChangePart | None) -> str:
    if shown is None or shown.of == 1:
        return "The whole change"
    if reads_change(state.stage, state.run):
        return f"The change, part {shown.number} of {shown.of}: judge this part"
    return "The change, as much of it as fits"


def _prompts(world: World, state: RunView) -> tuple[str, OwedDocuments]:
    """What is the same at every step of a stage: who a role is, and what it owes."""
    stage = state.stage
    assert stage.role is not None
    owed = owed_by(world, state)
    owner, name = state.run.owner, reader_of(state.run.name)
    words = world.catalogue.review_prompt(stage.name, name) if name else ""
    words = words or world.catalogue.prompt(stage.name)
    role, wording = world.catalogue.role(stage.role), world.catalogue.wording()
    role = replace(role, path_constraints=_limits(world, state, role))
    flow = flow_of(state.pipeline, stage, owner)
    system = system_prompt(role, stage, owed.must, words, wording, flow)
    return system, owed


def space_diff(world: World, state: RunView) -> str:
    """What the task has changed so far, in numbers."""
    if state.tree == state.base_tree:
        return ""
    git = world.workspace.git
    return world.once(
        "stat", state.base_tree, state.tree, make=lambda: git.diff_stat(state.base_tree, state.tree)
    )


def _conventions(world: World, state: RunView, working: Sequence[WorkingSetItem]) -> frozenset[str]:
    """What is open of the owner's conventions, as the base commit has it. A file of that name which the task
    made or changed is data like any other.
    """
    named = {item.path for item in working if speaks_for_owner(item.path)}
    if not named:
        return frozenset()
    base = {entry.path for entry in world.workspace.git.ls_tree(state.base_tree) if entry.kind == "blob"}
    return frozenset(named & base - _changed(world, state.base_tree, state.tree))


def _changed(world: World, before: str, after: str) -> frozenset[str]:
    if before == after:
        return frozenset()
    git = world.workspace.git
    return world.once(
        "changed",
        before,
        after,
        make=lambda: frozenset(change.path for change in git.diff_names(before, after)),
    )


def _facts(world: World, state: RunView) -> str:
    """What was computed: the project's tests, the baseline, and for a reviewer the diff and what the gates
    measured.
    """
    plan = world.plan(state)
    roots = ", ".join("the top" if root == "." else root for root in plan.import_roots)
    told = f"Tests are in: {', '.join(plan.test_paths) or 'nowhere yet'}"
    if command := " ".join(word.removeprefix("{env}/bin/") for word in plan.tests):
        told += f"; they are run by: {command}"
    lines = [f"{told}. Modules are imported from: {roots}."]
    if state.baseline is not None and _waited_for_it(state):
        lines.append(f"Measured: {state.baseline.summary}.")
    if reads_change(state.stage, state.run) or _words_change(state):
        lines += measured(dict(world.records(state)))
    elif state.stage.makes("change") and "red" not in state.stage.gates:
        # Why the tests fail says what is to be done; nobody has to run them for it.
        lines += on_the_base(dict(world.records(state)))[: MOST_RED + 1]
    elif (reach := _reach(world, state)) is not None:
        asked = any(product.part == "analysis" and not product.derived for product in state.stage.products)
        lines.append(render(reach, REACH_CHARS if asked else REACH_CHARS // 4, names=asked))
    return "\n".join(lines)


def _waited_for_it(state: RunView) -> bool:
    """The baseline is taken beside the first stages: what they are shown must not hang on which of the two
    was quicker.
    """
    return any(
        stage.needs_environment
        for stage in state.pipeline.stages[: state.pipeline.index(state.run.stage) + 1]
    )


def _reach(world: World, state: RunView) -> Reach | None:
    """Files, symbols, importers and tests, for those who say what the change touches."""
    if not state.stage.makes("analysis"):
        return None
    places = dict.fromkeys(place.path for place in first_places(world, state).places)
    paths = [path for path in places if not is_test(path)] or list(places)
    cited = objects(world.parts(state).get("questions", {}), "questions")
    paths += [
        str(evidence.get("file", "")) for question in cited for evidence in objects(question, "evidence")
    ]
    return world.reach(state, paths)


def _working(
    world: World, state: RunView, documents: dict[str, dict[str, Json]]
) -> tuple[tuple[WorkingSetItem, ...], tuple[Left, ...]]:
    """What the role opened, and before it what its inputs name: a file that will be changed need not be asked
    for.
    """
    run = state.run
    parts = world.by_part(documents)
    named = _files_named(world, state, parts)
    documents_only = _is_about_documents(state)
    if documents_only:  # what is to be described, for whoever writes it and whoever compares
        impacted = objects(parts.get("analysis", {}), "impacted_files")
        named = (*named, *filter(None, (str(item.get("path", "")) for item in impacted)))
    items: tuple[WorkingSetItem, ...] = ()
    left: tuple[Left, ...] = ()
    pinned = _changed(world, run.entry_tree, state.tree)
    if _words_change(state):
        items, left = merge(items, _changelog_head(world, state), SEEDED, pinned)
    elif documents_only or not reads_change(state.stage, run):
        promised = promised_tests(world, parts.get("tests", {}))
        seeds = seeded(world, state, named, _said(parts))
        places = [*failing_places(world, state), *promised, *seeds]
        items, left = merge(items, places, SEEDED, pinned)
    opened = [OpenedRange(place.path, place.start, place.end, place.symbol) for place in run.working]
    items, gone = merge_each(items, opened, pinned)
    return items, (*left, *gone)


def _files_named(world: World, state: RunView, parts: Mapping[Part, dict[str, Json]]) -> tuple[str, ...]:
    """The files that earlier stages say will be changed, and those of tests that the task made. Of a file
    that had tests before, the new ones are shown by name.
    """
    files = texts(parts.get("requirements", {}), "files_to_modify")
    tests = [str(item.get("path", "")) for item in objects(parts.get("tests", {}), "test_files")]
    known = world.code_index(state).files if tests else {}
    return tuple(filter(None, [*files, *(path for path in tests if path not in known)]))


def _relations(world: World, state: RunView, parts: Mapping[Part, dict[str, Json]]) -> str:
    """Who uses and is used by what will change: what the request names, or a stage has named since."""
    known = world.code_index(state).files
    named = tuple(path for path in _files_named(world, state, parts) if path in known)
    return places_named(world, state, named, _said(parts)).relations


def _said(parts: Mapping[Part, dict[str, Json]]) -> str:
    """The words of earlier stages on what will change: names among them are places."""
    return "\n".join(words_in([parts.get("analysis", {}), parts.get("requirements", {})]))


def words_in(value: object) -> Iterator[str]:
    """Every text of a document, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from words_in(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from words_in(each)


def _is_about_documents(state: RunView) -> bool:
    """Whether the stage makes the report of a pipeline that changes no code: its role writes documents."""
    stage = state.pipeline.stage(state.stage.name)
    return stage.makes("report") and state.pipeline.contract_for("change") is None


def _words_change(state: RunView) -> bool:
    """Whether the stage puts a change of code into words: it needs the change, what was proved, and how
    the project words such things.
    """
    stage = state.pipeline.stage(state.stage.name)
    return stage.makes("report") and state.pipeline.contract_for("change") is not None


def _changelog_head(world: World, state: RunView) -> list[OpenedRange]:
    """How the project words what it releases, for whoever words this change."""
    paths = [entry.path for entry in world.workspace.git.ls_tree(state.base_tree) if entry.kind == "blob"]
    return [OpenedRange(path, 1, CHANGELOG_LINES) for path in changelogs(paths)[:1]]


def _refused(world: World, state: RunView) -> tuple[tuple[str, str], ...]:
    """The documents of the last steps that were not taken in, each as it was handed in last, with its
    faults.
    """
    found: dict[str, str] = {}
    for ref in state.run.acts:
        for item in results_of(world, ref)["results"]:
            if item["name"] != SUBMIT.name:
                continue
            found.pop(item["target"], None)
            if "document" in item:
                text = f"{item['text']}\n\nAs it was handed in:\n{strict_yaml.dump(item['document'])}"
                found[item["target"]] = redact(text)[0]
    return tuple(found.items())


def results_of(world: World, ref: str) -> Any:  # noqa: ANN401 - as it was kept
    """What the actions of a step came to, as it was kept."""
    return world.once("results", ref, make=partial(world.pack.get_json, ref))


def _outcome_of(item: Mapping[str, Any]) -> str:
    return "ok" if item["ok"] else str(item["mistake"])


def _recent(world: World, state: RunView) -> tuple[str, ...]:
    """What the last steps did and saw. A file that was read is in the working set, a refused document beside
    its faults; neither is shown twice.
    """
    shown = []
    for ref in state.run.acts:
        value = results_of(world, ref)
        lines = [line for line in state.run.recent if line.startswith(f"step {value['step']}:")]
        lines += [
            f"{item['name']} {item['target']}: {_outcome_of(item)}\n{item['text']}".strip()
            for item in value["results"]
            if not (item["ok"] and item["name"] in SHOWN_BY_WORKING_SET) and "document" not in item
        ]
        shown.append("\n".join(lines))
    return tuple(text for text in shown if text)
