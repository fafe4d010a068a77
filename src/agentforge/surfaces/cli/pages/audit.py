"""The audit of a task, for a reviewer who was not there."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agentforge import __version__
from agentforge.app.evidence.audits import Audit, event_counts
from agentforge.app.models.costs import add_up, grouped, in_state
from agentforge.app.record.steps import step_fields
from agentforge.core.errors import UsageError
from agentforge.core.events import Event, event_name, event_to_json
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.store.task.summary import seconds_between
from agentforge.store.task.views import north_star_word
from agentforge.surfaces.cli.pages.document import (
    Bars,
    Cell,
    Code,
    Document,
    Patch,
    Points,
    Prose,
    ReportSection,
    Table,
)
from agentforge.surfaces.cli.pages.events import describe
from agentforge.surfaces.cli.pages.html import as_html
from agentforge.surfaces.cli.pages.markdown import as_markdown
from agentforge.surfaces.cli.pages.words import age, bill, count, money, skip_reason
from agentforge.system.canon import quote
from agentforge.system.visible import one_line

_SHORT = 12
_MOST_PATCH = 400_000
_MARK = "agentforge-audit "
_FIND_MARK = re.compile(re.escape(_MARK) + r"(\{[^{}]*\})")
_WHY_FIRST = "What was not checked, and what rests on a reader"


def audit_document(audit: Audit, mark: str) -> Document:
    """The whole audit, in the order in which a sceptic asks."""
    return Document(
        f"Audit of {audit.task_id}",
        [
            ReportSection("The request", [Prose(audit.state.request), Table(("", ""), [*_facts(audit)])]),
            ReportSection("What was proved", [_matrix(audit.evidence)], _nothing_proved(audit)),
            ReportSection(_WHY_FIRST, [Points([*_not_checked(audit)])], _nothing_left_out(audit)),
            ReportSection("Who decided what", [_stages(audit)]),
            *_debates(audit),
            ReportSection("Questions to people", [_questions(audit)], "Nobody was asked."),
            ReportSection(
                "Permissions, and what left the sandbox", [Points([*_permissions(audit)])], "Nothing left it."
            ),
            ReportSection("What was refused", [_refusals(audit)], "Nothing."),
            ReportSection("Where the work turned", [_turns(audit)], "It went straight on."),
            ReportSection("What came from outside", [Points([*_imports(audit)])], "Only the request."),
            ReportSection("Documents", [_artifacts(audit)]),
            ReportSection("Model calls and their cost", [*_cost(audit)], "No model was asked."),
            ReportSection("Every step", [_steps(audit)], "There is none yet."),
            ReportSection("Every decision", [_timeline(audit)]),
            ReportSection("The change", [Patch(_patch(audit))], audit.patch_fault or "No file was changed."),
            ReportSection("How to check this report", [Points([*_checking(audit)])]),
        ],
        mark,
        [f"Made from the first {count(audit.lines, 'line')} of its journal, which name all that is in it."],
    )


def audit_fields(audit: Audit) -> dict[str, Json]:
    """The same for programs, with every event as it is on record."""
    state = audit.state
    return {
        "task_id": audit.task_id,
        "request": state.request,
        "status": state.status,
        "journal": {"lines": audit.lines, "head": audit.head},
        "facts": {label: _spelled(value) for label, value in _facts(audit)},
        "evidence": audit.evidence or None,
        "not_checked": [_spelled(line) for line in _not_checked(audit)],
        "stages": [
            {
                "stage": row.stage,
                "who": row.who,
                "attempt": row.attempt,
                "started_at": row.started,
                "ended_at": row.ended or None,
                "steps": row.steps,
                "verdicts": [{"gate": gate, "status": status} for gate, status in row.verdicts],
                "commit": row.commit or None,
                "skipped": row.skipped or None,
            }
            for row in audit.stages
        ],
        "questions": [
            {
                "id": item.id,
                "kind": item.kind,
                "stage": item.stage,
                "question": item.text,
                "options": list(item.options),
                "recommendation": item.recommendation or None,
                "command": item.command or None,
                "opened_at": item.opened or None,
                "answered_at": item.answered or None,
                "waited_seconds": item.waited_s,
                "answer": item.answer,
                "by": item.by or None,
            }
            for item in audit.questions
        ],
        "refusals": [
            {
                "timestamp": item.timestamp,
                "stage": item.stage,
                "what": item.what,
                "reasons": list(item.reasons),
            }
            for item in audit.refusals
        ],
        "events": dict(event_counts(audit)),
        "steps": [step_fields(step) for step in audit.steps],
        "decisions": [
            {
                "seq": item.seq,
                "timestamp": item.timestamp,
                "why": item.why,
                "hash": item.hash,
                "events": [event_to_json(event) for event, _ in item.happened],
            }
            for item in audit.decisions
        ],
    }


def event_words(event: Event, state: State) -> str:
    """An event for the timeline. One that a driver's screen leaves out is told by its fields: an audit leaves
    out none.
    """
    said = describe(event, state)
    if said:
        return " ".join(said.split())
    fields = {key: value for key, value in event_to_json(event).items() if key not in ("type", "run")}
    return ", ".join(f"{key} {quote(value)}" for key, value in fields.items() if value not in ("", [], None))


def _facts(audit: Audit) -> Iterator[tuple[str, Cell]]:
    state, times = audit.state, audit.times
    yield "outcome", _outcome(state)
    yield "pipeline", f"{state.pipeline.line}, lane {state.pipeline.lane}, mode {state.pipeline.mode}"
    if state.triage:
        yield "why this lane", "; ".join(state.triage)
    if state.forked_from:
        yield "forked from", state.forked_from
    if state.reworks:
        yield "reworks", state.reworks
    yield "model", state.model
    yield "sandbox", state.sandbox
    if added := audit.evidence.get("added"):
        yield "added to the environment", ", ".join(map(str, added))
    yield "started", times.began_at
    if times.ended_at:
        took = age(seconds_between(times.began_at, times.ended_at))
        yield "ended", f"{times.ended_at}, after {took}"
    yield "base", Code(state.base_commit)
    if state.delivered is not None and state.delivered.branch:
        yield "branch", Code(state.delivered.branch)
        yield "commit", Code(state.delivered.commit)
        yield "seal", Code(state.delivered.seal) if state.delivered.seal else "none"
    yield "cost", bill(state)
    proved = audit.evidence.get("proved_as")
    yield "kind of proof", str(proved.get("proved_as") or proved.get("kind")) if proved else "not decided"


def _outcome(state: State) -> str:
    word = north_star_word(state).replace("_", " ")
    return f"{word}: {state.failure}" if state.failure else word


def _matrix(evidence: Mapping[str, Any]) -> Table:
    """Requirement, its test, what the test did on the base and on the branch."""
    rows: list[tuple[Cell, ...]] = []
    for item in evidence.get("requirements") or []:
        name = f"{item.get('id')}: {item.get('description') or ''}"
        for test in item.get("tests") or [{}]:
            identity = str(test.get("id") or "")
            red, green = str(test.get("red") or ""), str(test.get("green") or "")
            rows.append((name, Code(identity) if identity else "no test", red, green))
            name = ""
    return Table(("requirement", "test", "on the base", "on the branch"), rows)


def _nothing_proved(audit: Audit) -> str:
    if audit.evidence_fault:
        return f"{audit.evidence_fault}; agentforge verify names the fault."
    return "Nothing is delivered, so nothing is proved."


def _nothing_left_out(audit: Audit) -> str:
    if audit.state.delivered is None:
        return "Nothing is delivered: whatever is there so far, nobody may rely on it."
    return "Nothing was left out, and nothing was flagged."


def _not_checked(audit: Audit) -> Iterator[Cell]:
    evidence = audit.evidence
    if audit.evidence_fault:
        yield audit.evidence_fault
    for label, key in (("not checked", "not_checked"), ("not proved by a test", "not_proved_by_test")):
        yield from (f"{label}: {line}" for line in evidence.get(key) or [])
    yield from (f"assumed: {line}" for line in evidence.get("assumptions") or [])
    for row in evidence.get("superseded") or []:
        yield f"old test dropped: {row.get('id')}, for {row.get('requirement')}: {row.get('reason')}"
    for flag in evidence.get("named") or []:
        ruled = (
            f"; reviewer: {flag.get('verdict')}, {flag.get('reason') or ''}" if flag.get("verdict") else ""
        )
        yield f"worth a look: {flag.get('about')}: {flag.get('text')}{ruled}"
    yield from (f"reads like an instruction, taken as data: {line}" for line in audit.state.flagged)
    if evidence.get("same_author"):
        yield "one role wrote both the test and the change"


def _debates(audit: Audit) -> Iterator[ReportSection]:
    """What was argued and decided before the work; nothing where no debate was wanted."""
    for debate in (audit.evidence.get("debates") or {}).values():
        if not debate.get("held"):
            yield ReportSection("What was argued", [Prose(f"No debate was held: {debate.get('why')}.")])
            continue
        said = [
            ("question", str(debate.get("objective") or "")),
            ("options", "; ".join(str(name) for name in debate.get("options") or [])),
            *((role, str(position)) for role, position in (debate.get("positions") or {}).items()),
            ("chosen", str(debate.get("option"))),
            ("decision", str(debate.get("decision") or "")),
            ("why", str(debate.get("rationale") or "")),
            ("fallback", str(debate.get("fallback") or "")),
        ]
        said += [
            ("reconsidered if", f"{item.get('condition')}: {item.get('threshold')}")
            for item in debate.get("kill_switches") or []
        ]
        said += [
            ("accepted risk", f"{item.get('risk')} ({item.get('owner')})")
            for item in debate.get("risks_accepted") or []
        ]
        said += [("warning", str(line)) for line in debate.get("warnings") or []]
        rows: list[tuple[Cell, ...]] = [*said]
        yield ReportSection("What was argued, and decided", [Table(("", ""), rows)])


def _stages(audit: Audit) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for row in audit.stages:
        verdicts = ", ".join(f"{gate} {status.replace('_', ' ')}" for gate, status in row.verdicts)
        took = age(seconds_between(row.started, row.ended)) if row.ended else ""
        skipped = f"skipped: {skip_reason(row.skipped)}" if row.skipped else ""
        rows.append(
            (
                row.stage,
                row.who,
                str(row.attempt),
                str(row.steps),
                verdicts or skipped,
                took,
                Code(row.commit[:_SHORT]),
            )
        )
    header = ("stage", "who", "attempt", "steps", "verdicts", "took", "commit")
    return Table(header, rows, frozenset({"attempt", "steps"}))


def _questions(audit: Audit) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for item in audit.questions:
        asked = item.text + (f" (options: {', '.join(item.options)})" if item.options else "")
        waited = age(item.waited_s) if item.waited_s is not None else "open"
        answer = "no answer yet" if item.answer is None else item.answer
        rows.append((item.id, f"{item.kind}, {item.stage}", asked, answer, item.by, item.opened, waited))
    return Table(("id", "kind and stage", "question", "answer", "by", "opened", "waited"), rows)


def _permissions(audit: Audit) -> Iterator[Cell]:
    for item in audit.questions:
        if item.kind == "permission":
            said = "not answered" if item.answer is None else f"{item.answer}, by {item.by}"
            yield f"{item.id}: {item.command or item.text}: {said}"
    for when, event in audit.left:
        yield f"{when}: {event.action.name} {event.action.target} left the sandbox"


def _refusals(audit: Audit) -> Table:
    rows = [(item.timestamp, item.stage, item.what, "; ".join(item.reasons)) for item in audit.refusals]
    return Table(("time", "stage", "what", "why"), rows)


def _turns(audit: Audit) -> Table:
    return Table(("time", "what", "why"), [(when, what, "; ".join(why)) for when, what, why in audit.turns])


def _imports(audit: Audit) -> Iterator[Cell]:
    for item in audit.imports:
        origin = item.task_id or item.source_path
        flagged = f"; reads like an instruction: {'; '.join(item.flagged)}" if item.flagged else ""
        held = f"held against {item.validation.contract}: {item.validation.status}"
        yield f"{item.artifact_type} from {origin}, {held}, hash {item.ref.hash}{flagged}"
    yield from (f"edited by a person: commit {commit}" for commit in audit.state.human_commits)


def _artifacts(audit: Audit) -> Table:
    rows = [
        (accepted.stage, final.contract, f"v{final.version}", Code(final.hash))
        for accepted in audit.state.accepted
        for final in accepted.finals
    ]
    return Table(("stage", "document", "version", "hash"), rows)


def _cost(audit: Audit) -> Iterator[Table | Bars | Points]:
    answered = in_state(audit.calls, "settled")
    for by in ("stage", "model"):
        rows = []
        for name, group in grouped(answered, by).items():
            total = add_up(group)
            price = money(None if total.unknown else total.micro_usd)
            rows.append((name, str(total.calls), f"{total.input:,}", f"{total.output:,}", price))
        yield Table((by, "calls", "in", "out", "cost"), rows, frozenset({"calls", "in", "out", "cost"}))
    tokens = [(name, add_up(group).tokens) for name, group in grouped(answered, "stage").items()]
    yield Bars("tokens by stage", [(name, amount, f"{amount:,}") for name, amount in tokens])
    lost = in_state(audit.calls, "lost")
    if lost:
        most = sum(call.reserved.tokens for call in lost)
        yield Points([f"unaccounted: {count(len(lost), 'call')} without an answer, at most {most:,} tokens"])


def _steps(audit: Audit) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for step in audit.steps:
        actions = ", ".join(item.label + ("" if item.ok else " (failed)") for item in step.actions)
        who = f"{step.seat} ({'argues' if step.heard else 'reads'})" if step.seat else step.role
        hashes = " ".join(ref[:_SHORT] for ref in (step.context, step.reply, step.results) if ref)
        used = (f"{step.context_tokens:,}", f"{step.usage.output_tokens:,}")
        said = step.summary or step.outcome
        rows.append((str(step.number), step.stage, who, step.model, *used, actions, said, Code(hashes)))
    header = (
        "step",
        "stage",
        "who",
        "model",
        "context",
        "out",
        "actions",
        "said",
        "context, reply and results",
    )
    return Table(header, rows, frozenset({"step", "context", "out"}))


def _timeline(audit: Audit) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for decision in audit.decisions:
        number, when, why = str(decision.seq), decision.timestamp, decision.why
        for event, state in decision.happened:
            rows.append((number, when, why, Code(event_name(event)), event_words(event, state)))
            number = when = why = ""
        if not decision.happened:
            rows.append((number, when, why, "", ""))
    return Table(("line", "time", "why", "event", "what happened"), rows, frozenset({"line"}))


def _patch(audit: Audit) -> str:
    text = audit.patch.decode("utf-8", "replace")
    if len(text) <= _MOST_PATCH:
        return text
    cut = text[: text.rfind("\n", 0, _MOST_PATCH)]
    return f"{cut}\n(the change is longer: {len(text):,} characters; git shows all of it)\n"


def _checking(audit: Audit) -> Iterator[Cell]:
    name = audit.task_id
    yield Code(f"agentforge audit {name} --verify FILE")
    yield (
        "makes this report again from the journal and compares every byte: a line that was changed is named."
    )
    yield Code(f"agentforge verify {name}")
    yield "checks the journal's chain of hashes, the evidence, the seal on the branch, and what they name."
    yield f"the journal ended with hash {audit.head} when this was written"


def _spelled(cell: Cell) -> str:
    return cell.text if isinstance(cell, Code) else cell


class Mark(NamedTuple):
    """The journal, its length and its head that a report was made from."""

    format: str
    lines: int
    head: str
    task_id: str
    version: str


def spell_audit(audit: Audit, kind: str) -> str:
    """The report as text, in one of the formats."""
    mark = _MARK + quote(Mark(kind, audit.lines, audit.head, audit.task_id, __version__)._asdict())
    if kind == "json":
        return json.dumps({"mark": mark, **audit_fields(audit)}, indent=2, ensure_ascii=False) + "\n"
    document = audit_document(audit, mark)
    return as_html(document) if kind == "html" else as_markdown(document)


def read_mark(text: str, path: Path, task_id: str) -> Mark:
    """The mark of a report of this task, written by this version: else it cannot be made again."""
    found = _FIND_MARK.search(text)
    try:
        mark = Mark(**json.loads(found[1].replace('\\"', '"'))) if found else None
    except (TypeError, ValueError):
        mark = None
    if mark is None or mark.format not in ("md", "html", "json") or not isinstance(mark.lines, int):
        raise UsageError(f"{path} is no audit report.", f"`agentforge audit {task_id}` writes one.")
    if mark.task_id != task_id:
        raise UsageError(
            f"{path} is a report of {one_line(str(mark.task_id))}, and not of {task_id}.",
            "Name that task.",
        )
    if mark.version != __version__:
        raise UsageError(
            f"{path} was written by version {one_line(str(mark.version))}, which says some things in other "
            f"words than {__version__}.",
            f"Check it with that version, or write a new one: `agentforge audit {task_id}`.",
        )
    return mark
