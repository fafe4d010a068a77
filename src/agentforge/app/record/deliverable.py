"""What a pipeline that changes no file hands over: a document, summed up in a few lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentforge.catalog.summaries import summed_up
from agentforge.core.errors import Unusable
from agentforge.core.pipeline import Part, Pipeline
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.store.layout import TaskFiles
from agentforge.store.task import artifacts
from agentforge.store.task.pack import Pack
from agentforge.store.task.views import final_name
from agentforge.system.visible import brief

_CHANGES: frozenset[Part | None] = frozenset({"tests", "change", "report"})
"""Artifacts that stand for files of the repository, or that say what was delivered."""


@dataclass(frozen=True, slots=True)
class Deliverable:
    """The last document of a task."""

    contract: str
    title: str
    lines: tuple[str, ...]
    file: str
    """The path of its file, from the top of the repository."""


def changes_files(pipeline: Pipeline) -> bool:
    """Whether a task of this pipeline ends in a branch."""
    return pipeline.writes and any(
        product.part in _CHANGES for stage in pipeline.stages for product in stage.products
    )


def read_deliverable(files: TaskFiles, state: State) -> Deliverable | None:
    """The document of the last stage that is accepted; None while there is none, or where it cannot be
    read.
    """
    products = state.pipeline.stages[-1].products if state.pipeline.stages else ()
    ref = state.artifact(products[0].contract) if products else None
    if ref is None:
        return None
    try:
        document = artifacts.read(files, ref)
    except Unusable:
        return None  # `verify` names what is wrong with it
    title, lines = _title_and_lines(products[0].part, document)
    return Deliverable(
        ref.contract,
        title,
        lines,
        f"{files.root.relative_to(files.root.parents[2]).as_posix()}/{final_name(ref)}",
    )


def read_debate_files(files: TaskFiles, state: State) -> dict[str, str]:
    """The files of the debate that a task held, by name, as they were judged; empty where it held none, or
    where they cannot be read.
    """
    judged = [ref for item in state.accepted for gate, ref in item.evidence if gate == "debate"]
    if not judged:
        return {}
    try:
        with Pack(files.pack) as pack:
            record = pack.get_json(judged[-1])
            kept = record.get("files") if isinstance(record, dict) else None
            return (
                {name: pack.get(str(ref)).decode() for name, ref in kept.items()}
                if isinstance(kept, dict)
                else {}
            )
    except Unusable:
        return {}  # `verify` names what is wrong with them


def sum_up(files: TaskFiles, state: State) -> str:
    """What the task hands over, in the sentence that its pipeline words; empty where it words none, or where
    nothing was handed over yet.
    """
    pipeline = state.pipeline
    if not pipeline.summary or state.status != "completed" or pipeline.ends_early:
        return ""
    ref = state.artifact(pipeline.stages[-1].products[0].contract)
    try:
        document = artifacts.read(files, ref) if ref is not None else {}
    except Unusable:
        return ""  # `verify` names what is wrong with it
    known = {"task": state.task_id, "request": brief(state.request, 120), "pipeline": pipeline.name}
    return brief(summed_up(pipeline.summary, document, known), 300)


def _title_and_lines(part: Part | None, document: Mapping[str, Json]) -> tuple[str, tuple[str, ...]]:
    match part:
        case "requirements":
            wanted = tuple(
                f"{item.get('id')} {brief(str(item.get('description') or ''), 120)}"
                for item in _objects(document, "requirements")
            )
            return brief(str(document.get("title") or ""), 120), wanted
        case "analysis":
            found = [*_objects(document, "impacted_files")]
            lines = [
                f"{brief(str(item.get('path')), 80)}: {brief(str(item.get('reason') or ''), 120)}"
                for item in found
            ]
            lines += [
                f"{kind}: {brief(str(text), 160)}"
                for kind in ("constraint", "risk")
                for text in _list(document, f"{kind}s")
            ]
            title = f"{len(found):,} impacted file" + ("" if len(found) == 1 else "s")
            return title, tuple(lines)
        case "decision":
            return _decision(document)
        case _:
            return brief(str(document.get("title") or document.get("summary") or ""), 120), ()


def _decision(document: Mapping[str, Json]) -> tuple[str, tuple[str, ...]]:
    decided = document.get("final_decision")
    said = decided if isinstance(decided, dict) else {}
    lines = [str(said.get("decision") or ""), f"why: {said.get('rationale') or ''}"]
    lines += [
        f"reconsider if {item.get('condition')}: {item.get('threshold')}"
        for item in _objects(document, "kill_switch_criteria")
    ]
    lines.append(f"if it fails: {document.get('fallback_plan') or ''}")
    return brief(str(said.get("option") or ""), 120), tuple(brief(line, 200) for line in lines)


def _objects(document: Mapping[str, Json], key: str) -> Iterator[dict[str, Json]]:
    yield from (item for item in _list(document, key) if isinstance(item, dict))


def _list(document: Mapping[str, Json], key: str) -> list[Json]:
    value = document.get(key)
    return value if isinstance(value, list) else []
