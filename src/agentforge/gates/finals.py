"""The contracts gate: the engine fills what only it may say, and every final is valid under its contract or
the gate fails.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agentforge.catalog.contracts import Contract, problems
from agentforge.catalog.kinds import asked_for
from agentforge.core.pipeline import Part, Pipeline
from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects
from agentforge.gates.flags import flags_of
from agentforge.gates.new_tests.examined import examined_lines
from agentforge.gates.new_tests.mutation import mutation_lines
from agentforge.gates.new_tests.unproved import unproved_lines
from agentforge.gates.ratchets import NOT_CONFIGURED
from agentforge.gates.red import declared_tests
from agentforge.gates.rules.frame import asked_of
from agentforge.gates.rules.subject import fold
from agentforge.gates.rules.table import ARTIFACT_RULES, SURE, Subject
from agentforge.gates.suite.superseded import superseded_lines
from agentforge.system.git.repository import Git

Document = dict[str, Json]

TARGET_CHARS = 80
OBJECTIVE_CHARS = 600


@dataclass(frozen=True, slots=True)
class Facts:
    """What the engine knows when it fills a final."""

    task_id: str
    request: str
    created_at: str
    git: Git
    base_tree: str
    tree: str
    sandbox: str
    records: Mapping[str, Mapping[str, Json]]
    """The record of each gate that has passed, in this stage or an earlier one."""
    named_files: tuple[str, ...] = ()
    """What the analysis names, or else the specification."""
    affected_tests: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    """What was computed about the change, a line each."""
    answers: tuple[tuple[str, str, str, str], ...] = ()
    """What persons were asked, what they said, who, and when."""
    remarks: tuple[str, ...] = ()
    """What a person should know before merging: advice of reviewers, dissent, what was undone or skipped."""
    reviews: tuple[Mapping[str, Json], ...] = ()
    """Every last verdict of a reviewer: stage, role, verdict, summary."""
    dissent: tuple[str, ...] = ()
    tokens_used: int = 0
    """By the task so far."""
    earlier: Mapping[str, Json] = field(default_factory=dict)
    """What an earlier stage handed over under the same contract."""
    decision: Mapping[str, Json] = field(default_factory=dict)
    """What came of a debate; empty where none was held."""


def artifact_problems(contract: Contract, document: Document, subject: Subject, *, final: bool) -> list[str]:
    """What is wrong with an artifact: its schema first, then the rules that need no run."""
    found = problems(contract, document, final=final)
    return found or [
        line for rule in contract.rules if rule in ARTIFACT_RULES for line in ARTIFACT_RULES[rule](subject)
    ]


def filled(part: Part | None, draft: Mapping[str, Json], facts: Facts) -> Document:
    """The draft with the engine's fields. What a model wrote in them is replaced, not trusted. A document
    that is no part of the work has none.
    """
    filler = FILLERS.get(part)
    return dict(draft) if filler is None else filler(draft, facts)


def computed(part: Part | None, facts: Facts) -> Document | None:
    """An artifact that a stage owes and no role was asked for; None where only a role can write it."""
    match part:
        case "request":
            target = " ".join(facts.request.split())[:TARGET_CHARS] or "the repository"
            return {
                "extracted_intent": {"action": "analyze", "target": target, "scope": "system"},
                "derived": True,
            }
        case "questions":
            return {"questions": [], "derived": True}
        case "analysis":
            reason = "the specification names it"
            there = [
                path for path in facts.named_files if facts.git.read_blob(facts.base_tree, path) is not None
            ]
            return {"impacted_files": [{"path": path, "reason": reason} for path in there], "derived": True}
        case "options":
            return {
                "objective": " ".join(facts.request.split())[:OBJECTIVE_CHARS],
                "options": [],
                "derived": True,
            }
        case "decision":
            return _no_decision()
        case "examination":
            return {"source": "", "checks": [], "derived": True}
        case "tests" | "change":
            # Nobody worked on them: the request asks for a kind that does not need them, and the gates agree.
            return {"derived": True}
        case _:
            return None


def _no_decision() -> Document:
    """The decision that is recorded where no debate was owed."""
    no = "No debate was held."
    return {
        "debate_summary": {"advocate": no, "skeptic": no, "operator": no},
        "final_decision": {"option": "", "decision": "", "rationale": no},
        "fallback_plan": no,
        **{
            name: []
            for name in (
                "key_tradeoffs",
                "decision_criteria",
                "kill_switch_criteria",
                "risks_accepted",
                "action_items",
            )
        },
        "derived": True,
    }


def _request(draft: Mapping[str, Json], facts: Facts) -> Document:
    own: Document = {"request_id": facts.task_id, "original_request": facts.request}
    if weakens := asked_for(facts.request).weakens_tests:
        own["asks_to_weaken_tests"] = weakens
    metadata: Document = {"intake_timestamp": facts.created_at, "tokens_used": facts.tokens_used}
    return {**draft, **own, "metadata": metadata}


def _analysis(draft: Mapping[str, Json], facts: Facts) -> Document:
    tests = dict.fromkeys((*_texts(draft.get("affected_tests")), *facts.affected_tests))
    document: Document = {"impacted_files": [], **draft, "affected_tests": [*tests]}
    return {**document, "facts": list(facts.facts)} if facts.facts else document


def _requirements(draft: Mapping[str, Json], facts: Facts) -> Document:
    own: Document = {"spec_id": f"SPEC-{facts.task_id}"}
    if locked := decision_constraint(facts.decision):
        said = [item for item in objects(draft, "constraints") if item.get("id") != locked["id"]]
        own["constraints"] = [locked, *said]
    return {**draft, **own}


DECISION_ID = "D1"


def decision_constraint(decision: Mapping[str, Json]) -> Document:
    """What a debate decided as a constraint of the specification; empty where none was held."""
    decided = decision.get("final_decision")
    if decision.get("derived") or not isinstance(decided, dict) or not decided.get("option"):
        return {}
    return {
        "id": DECISION_ID,
        "description": f"Locked by debate: {decided['option']}. {decided.get('decision', '')}".strip(),
        "rationale": str(decided.get("rationale", "")),
    }


def _review(draft: Mapping[str, Json], facts: Facts) -> Document:
    document: Document = {"findings": [], **draft, "review_id": f"REVIEW-{facts.task_id}"}
    return {**document, "dissent": list(facts.dissent)} if facts.dissent else document


def _security(draft: Mapping[str, Json], facts: Facts) -> Document:
    return {**draft, "review_id": f"SECURITY-{facts.task_id}"}


def _questions(draft: Mapping[str, Json], facts: Facts) -> Document:
    """Persons' answers stand under their names; what is not sure and does not block is an assumption on
    record.
    """
    questions = [dict(item) for item in objects(draft, "questions")]
    blocking = _texts(draft.get("blocking"))
    for asked, answer, by, at in facts.answers:
        told: Document = {
            "answer": answer,
            "source": "human_escalation",
            "confidence": 100,
            "resolved_by": by,
        }
        told |= {"resolved_at": at} if at else {}
        questions = [
            {**item, **told} if asked_of(asked, str(item.get("question", ""))) else item for item in questions
        ]
        known = {fold(str(item.get("question", ""))) for item in questions}
        mine = [line for line in blocking if asked_of(asked, line)]
        questions += [{"question": line, **told} for line in mine if fold(line) not in known]
        blocking = [line for line in blocking if line not in mine]
    unsure = [item for item in questions if not item.get("resolved_by") and _percent(item) < SURE]
    assumed = [
        f"{item.get('question')}: {item.get('answer')} (confidence {_percent(item) / 100})" for item in unsure
    ]
    document: Document = {**draft, "questions": [*questions]}
    if assumptions := list(dict.fromkeys((*_texts(draft.get("assumptions")), *assumed))):
        document["assumptions"] = [*assumptions]
    if "blocking" in draft:
        document["blocking"] = [*blocking]
    return document


def _percent(question: Document) -> int:
    found = question.get("confidence")
    return found if isinstance(found, int) else 0


def _tests(draft: Mapping[str, Json], facts: Facts) -> Document:
    red = facts.records["red"]
    tests = red["tests"]
    assert isinstance(tests, dict)
    mapping: dict[str, list[Json]] = {}
    for test in declared_tests(draft):
        if test.requirement:
            mapping.setdefault(test.requirement, []).append(f"{test.path}::{test.name}")
    return {
        "test_files": [],
        **draft,
        "suite_id": f"SUITE-{facts.task_id}",
        "spec_ref": f"SPEC-{facts.task_id}",
        "coverage_mapping": {name: list(found) for name, found in sorted(mapping.items())},
        "verification": {
            "all_tests_fail": True,
            "no_implementation_exists": True,
            "tree": red["red_tree"],
            "sandbox": facts.sandbox,
            "same_author": red["same_author"],
            **({"kind": red["kind"]} if "kind" in red else {}),
            "reasons": {
                identity: entry["reason"]
                for identity, entry in tests.items()
                if isinstance(entry, dict) and not entry["guard"]
            },
        },
    }


def _kind(record: Mapping[str, Json]) -> Document:
    """The kind of proof, in the words of its record; tasks of older releases have none."""
    return {"proved_as": record["proved_as"]} if "proved_as" in record else {}


def _change(draft: Mapping[str, Json], facts: Facts) -> Document:
    green = facts.records["green"]
    counts = {lines.path: lines for lines in facts.git.numstat(facts.base_tree, facts.tree)}
    purposes = _by_path(facts.earlier, draft, "files_created", "purpose")
    summaries = _by_path(facts.earlier, draft, "files_modified", "changes_summary")
    created: list[Json] = []
    modified: list[Json] = []
    deleted: list[Json] = []
    for change in facts.git.diff_names(facts.base_tree, facts.tree):
        lines = counts.get(change.path)
        added, removed = (lines.added, lines.removed) if lines else (0, 0)
        if change.status == "A":
            created.append({"path": change.path, "purpose": purposes.get(change.path, ""), "lines": added})
        elif change.status == "D":
            deleted.append(change.path)
        else:
            summary = summaries.get(change.path, "")
            modified.append(
                {
                    "path": change.path,
                    "changes_summary": summary,
                    "lines_added": added,
                    "lines_removed": removed,
                }
            )
    names = (
        "all_tests_pass",
        "no_regressions",
        "test_lock_held",
        "flaky",
        "not_configured",
    )
    return {
        **draft,
        **_both_summaries(facts.earlier, draft),
        "implementation_id": f"IMPL-{facts.task_id}",
        "spec_ref": f"SPEC-{facts.task_id}",
        "test_suite_ref": f"SUITE-{facts.task_id}",
        "files_created": created,
        "files_modified": modified,
        "files_deleted": deleted,
        "verification": {
            **{name: green[name] for name in names},
            "conformance_passing": _conformance(green),
            **{name: green[name] for name in ("reused", "type_check_pass") if name in green},
            **_quality(facts),
            **_kind(green),
            "tree": facts.tree,
            "sandbox": facts.sandbox,
        },
    }


def _by_path(earlier: Mapping[str, Json], draft: Mapping[str, Json], listed: str, key: str) -> dict[str, str]:
    """What was said of each file, the newest word last."""
    said = [*objects(earlier, listed), *objects(draft, listed)]
    return {str(item.get("path")): str(item[key]) for item in said if item.get(key)}


def _both_summaries(earlier: Mapping[str, Json], draft: Mapping[str, Json]) -> Document:
    """Who improves a change says what they improved; what the change does was said by who made it."""
    first, own = earlier.get("summary"), draft.get("summary")
    if not first or not own or first == own:
        return {}
    return {"summary": first, "improvements": own}


def _conformance(green: Mapping[str, Json]) -> bool | None:
    """True if something ran and passed. What did not run, or ran in part, is neither true nor false."""
    found = green["conformance_passing"]
    return found if isinstance(found, bool) else None


def _quality(facts: Facts) -> Document:
    """The numbers of the quality gate, if it judged this very tree; what was not measured is not
    configured.
    """
    record = facts.records.get("quality", {})
    if record.get("tree") != facts.tree:
        return {}
    names = (
        "complexity_acceptable",
        "no_code_smells",
        "coverage_acceptable",
        "complexity",
        "duplicates",
        "coverage",
    )
    return {
        **{name: record[name] for name in names if name in record},
        "not_configured": [*_not_configured(facts)],
    }


FILLERS: Mapping[Part | None, Callable[[Mapping[str, Json], Facts], Document]] = {
    "request": _request,
    "questions": _questions,
    "analysis": _analysis,
    "requirements": _requirements,
    "tests": _tests,
    "change": _change,
    "review": _review,
    "security": _security,
}
"""What the engine adds to each part of the work; the report is its own altogether."""


def delivery_report(
    facts: Facts,
    finals: Mapping[Part, Document],
    words: Mapping[str, Json],
    *,
    branch: str,
    base_commit: str,
    commits: list[str],
) -> Document:
    """The report, computed from what is on record. Of a role only its words are taken: no number in it is a
    model's claim.
    """
    specification, green = finals.get("requirements", {}), facts.records["green"]
    title = str(specification.get("title") or " ".join(facts.request.split()))[:100]
    description = str(specification.get("description") or title)
    written = {
        name: str(words[name])
        for name in ("summary", "changelog_entry", "release_notes")
        if str(words.get(name) or "").strip()
    }
    return {
        "request_id": facts.task_id,
        "branch": branch,
        "base": base_commit,
        "commits": list(commits),
        "title": title,
        **_kind(green),
        "summary": _with_kind(green, written.get("summary", description)),
        "changelog_entry": written.get("changelog_entry", f"- {title}"),
        "release_notes": written.get("release_notes", description),
        "files": _files(facts),
        "readiness": {"ready": True, "open_points": _open_points(facts, finals)},
        **({"reviews": [dict(item) for item in facts.reviews]} if facts.reviews else {}),
        **({"dissent": list(facts.dissent)} if facts.dissent else {}),
        "verification": {
            "all_tests_pass": green["all_tests_pass"],
            "no_regressions": green["no_regressions"],
            "test_lock_held": green["test_lock_held"],
            "tree": facts.tree,
            "sandbox": facts.sandbox,
            "tests_passed": green["passed"],
            "tests_failed_before": green["baseline_failing"],
            "not_configured": [*_not_configured(facts)],
        },
    }


def _with_kind(green: Mapping[str, Json], summary: str) -> str:
    """The summary, with the kind of proof first of all."""
    return f"Proved as: {green['proved_as']}. {summary}" if "proved_as" in green else summary


def _files(facts: Facts) -> list[Json]:
    counts = {lines.path: lines for lines in facts.git.numstat(facts.base_tree, facts.tree)}
    files: list[Json] = []
    for change in facts.git.diff_names(facts.base_tree, facts.tree):
        lines = counts.get(change.path)
        word = {"A": "created", "D": "deleted"}.get(change.status, "modified")
        added, removed = (lines.added, lines.removed) if lines else (0, 0)
        files.append({"path": change.path, "change": word, "lines_added": added, "lines_removed": removed})
    return files


def _open_points(facts: Facts, finals: Mapping[Part, Document]) -> list[Json]:
    """What a person should know before merging."""
    points = [f"assumed: {line}" for line in _texts(finals.get("questions", {}).get("assumptions"))]
    points += [
        f"old test dropped: {line}" for line in superseded_lines(facts.records["green"].get("superseded"))
    ]
    points += [f"not proved by a test: {line}" for line in unproved_lines(facts.records.get("red", {}))]
    points += mutation_lines(facts.records["green"].get("mutants"))
    points += examined_lines(facts.records.get("examined"))
    points += [f"flaky, not counted: {line}" for line in _texts(facts.records["green"]["flaky"])]
    points += [f"named: {flag.line}" for flag in flags_of(facts.records.values())]
    points += not_run_lines(facts.records)
    if "verdicts" not in facts.records.get("review", {}):  # a panel's advice is among the remarks
        points += [
            f"review note: {item.get('id')}: {item.get('description')}"
            for item in objects(finals.get("review", {}), "findings")
        ]
    points += facts.remarks
    if facts.sandbox == "none":
        points.append("everything ran without a sandbox")
    return [*dict.fromkeys(points)]


def not_run_lines(records: Mapping[str, Mapping[str, Json]]) -> list[str]:
    """What the gates did not run, a line each with the reason."""
    lines: dict[str, None] = {}
    for gate in ("green", "quality"):
        record = records.get(gate, {})
        why = record.get("not_run")
        said = why if isinstance(why, dict) else {}
        for name in _texts(record.get("not_configured")):  # records of older tasks give no reason
            lines[f"{name}: {said.get(name, NOT_CONFIGURED)}"] = None
        gaps = record.get("not_checked")
        lines |= {f"{name}: {why}": None for name, why in gaps.items()} if isinstance(gaps, dict) else {}
    return [*lines]


def unread_lines(pipeline: Pipeline) -> list[str]:
    """Who would have read the work, or argued before it, if a person or the project had not left them out."""
    unread = [
        f"{stage.name} was not read by {name}: the project leaves this reviewer out"
        for stage in pipeline.stages
        for name in stage.left_out
    ]
    undebated = [
        f"{stage.name} was not debated first: {stage.undebated}"
        for stage in pipeline.stages
        if stage.undebated
    ]
    return [*unread, *undebated]


def _not_configured(facts: Facts) -> list[str]:
    found = [
        *_texts(facts.records["green"]["not_configured"]),
        *_texts(facts.records.get("quality", {}).get("not_configured")),
    ]
    return list(dict.fromkeys(found))


def _texts(value: Json) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
