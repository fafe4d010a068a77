"""The gate `review`: what the readers of a change said, and whether each saw all of it."""

from dataclasses import replace

from agentforge.activities.reading import not_seen, parts_of
from agentforge.activities.world import Document, World
from agentforge.core.pipeline import ARBITER, part_number, reader_of
from agentforge.core.reply import Json
from agentforge.core.runs import Run
from agentforge.core.state import RunView
from agentforge.core.values import ArtifactRef
from agentforge.gates.change.documents import texts
from agentforge.gates.finals import Facts, filled
from agentforge.gates.flags import Flag, shown_flags, unruled
from agentforge.gates.review import blocks, joined, judge_panel, judge_review
from agentforge.gates.verdict import Verdict

RULED = "flags_ruled_on"
"""The rule of a contract whose reviews rule on what the engine names."""
MAX_NAMED = 8


def judge_reviews(world: World, state: RunView, facts: Facts) -> tuple[Verdict, tuple[ArtifactRef, ...]]:
    """One reviewer's own stage, a panel, or both; each in as many parts as the change takes. What they wrote
    stands beside the stage's finals once it has passed.
    """
    stage, run = state.stage, state.run
    readers = _readers(state)
    wanted = [item.role for item in (stage.own_reader, *state.reviewers_of(stage)) if item is not None]
    if absent := [name for name in wanted if name not in readers]:
        return Verdict("not_run", (f"{', '.join(absent)} handed in no review",), {}), ()
    written = {name: joined([_written(world, each) for each in parts]) for name, parts in readers.items()}
    verdict = _verdict(state, written)
    seen = _seen(world, state, {name: readers[name] for name in wanted if not blocks(written[name])})
    verdict = replace(verdict, record={**verdict.record, **seen.record})
    if verdict.status in ("passed", "split") and seen.status != "passed":
        return replace(seen, record=verdict.record), ()
    if verdict.status == "passed" and (missing := _not_ruled_on(world, state, written)):
        return Verdict("not_run", tuple(missing), verdict.record), ()
    if verdict.status != "passed":
        return verdict, ()
    facts = replace(facts, dissent=tuple(texts(verdict.record, "dissent")))
    # One final for each contract; the arbiter comes last, so the word that decided is the one that stands.
    finals = {}
    for name, parts in readers.items():
        ref = parts[0].drafts[-1]
        finals[ref.contract] = (ref, filled(world.catalogue.part(ref.contract), written[name], facts))
    kept = [world.keep_final(ref.contract, ref.phase, ref.version, value) for ref, value in finals.values()]
    return verdict, (*run.finals, *kept)


def flags_to_rule_on(world: World, state: RunView) -> list[Flag]:
    """What the reader whose step it is must rule on: in parts, each on what its own part shows."""
    stage, run = state.stage, state.run
    flags = [flag for flag in shown_flags(world.records(state)) if flag.ruling]
    able = any(RULED in contract.rules for contract in world.catalogue.contracts_of(stage))
    if not flags or not able or not _rules(world, state):
        return []
    if reader_of(run.name) == ARBITER:
        return flags
    own = part_number(run.name)
    parts = parts_of(world, state, stage)
    place = {hunk.path: part.number for part in reversed(parts) for hunk in part.hunks}
    return [flag for flag in flags if place.get(flag.about.partition("::")[0], 1) == own]


def _rules(world: World, state: RunView) -> bool:
    """Whether this reader rules: the general one does, and one for security where there is no other."""
    panel = state.pipeline.stage(state.run.stage)
    readers = [item for item in (panel.own_reader, *state.reviewers_of(panel)) if item is not None]
    general = any(world.catalogue.part(item.contract) == "review" for item in readers)
    return not general or state.stage.makes("review")


def _readers(state: RunView) -> dict[str, list[Run]]:
    """Those who have handed in, by who they are, each with the parts in order; the arbiter comes last."""
    own = state.stage.own_reader
    given = [(own.role, state.run)] if own is not None else []
    beside = sorted(state.beside(state.run.id, heard=False), key=lambda reader: part_number(reader.name))
    given += [(reader_of(reader.name), reader) for reader in beside]
    found: dict[str, list[Run]] = {}
    for name, reader in given:
        if reader.drafts:
            found.setdefault(name, []).append(reader)
    if ARBITER in found:
        found[ARBITER] = found.pop(ARBITER)
    return found


def _verdict(state: RunView, written: dict[str, Document]) -> Verdict:
    own, stage = state.stage.own_reader, state.stage
    if own is not None and list(written) == [own.role]:
        return judge_review(written[own.role])
    reviews = {name: value for name, value in written.items() if name != ARBITER}
    return judge_panel(stage.review_mode, reviews, written.get(ARBITER))


def _seen(world: World, state: RunView, readers: dict[str, list[Run]]) -> Verdict:
    """Whether each of these readers has seen the whole change, and in which contexts."""
    stage = state.stage
    as_read = stage if stage.own_reader else stage.read_by(next(iter(readers), stage.reviewers[0].role))
    parts = parts_of(world, state, as_read) if state.tree != state.base_tree else ()
    contexts: dict[str, Json] = {
        name: [reader.context for reader in given] for name, given in readers.items()
    }
    record: dict[str, Json] = {
        "tree": state.tree,
        "parts": max(1, len(parts)),
        "hunks": sum(len(part.hunks) for part in parts),
        "contexts": contexts,
    }
    reasons = []
    for name, given in readers.items() if parts else ():
        if missing := not_seen(world, state, as_read, given):
            paths = list(dict.fromkeys(hunk.path for hunk in missing))
            more = f" and {len(paths) - MAX_NAMED} more files" if len(paths) > MAX_NAMED else ""
            reasons.append(f"{name} has not seen all of the change: {', '.join(paths[:MAX_NAMED])}{more}")
    return Verdict("unread" if reasons else "passed", tuple(reasons), record)


def _not_ruled_on(world: World, state: RunView, written: dict[str, Document]) -> list[str]:
    """What must be ruled on and was not. A contract that knows no rulings, such as a project's own, owes
    none: what was named is then open, and shown as that.
    """
    owed = [flag for flag in shown_flags(world.records(state)) if flag.ruling]
    able = [
        item.contract
        for item in (state.stage.own_reader, *state.reviewers_of(state.stage))
        if item is not None and RULED in world.catalogue.contract(item.contract).rules
    ]
    if not owed or not able:
        return []
    return [f"no ruling on {about}" for about in unruled(owed, [*written.values()])]


def _written(world: World, reader: Run) -> Document:
    value = world.pack.get_json(reader.drafts[-1].hash)
    assert isinstance(value, dict)
    return value
