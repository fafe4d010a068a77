"""The contracts gate: the engine fills what only it may say, and every final is valid under its contract or the gate fails."""

from collections.abc import Mapping
from dataclasses import dataclass

from agentforge.catalog.contracts import Contract, problems
from agentforge.core.reply import Json
from agentforge.gates.court import objects
from agentforge.gates.predicates import ARTIFACT_RULES, Subject
from agentforge.gates.red import declared_tests
from agentforge.system.git import Git

Document = dict[str, Json]


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
    affected_tests: tuple[str, ...] = ()


def artifact_problems(contract: Contract, document: Document, subject: Subject, *, final: bool) -> list[str]:
    """What is wrong with an artifact: its schema first, then the rules that need no run."""
    found = problems(contract, document, final=final)
    return found or [line for rule in contract.rules if rule in ARTIFACT_RULES for line in ARTIFACT_RULES[rule](subject)]


def filled(contract: str, draft: Mapping[str, Json], facts: Facts) -> Document:
    """The draft with the engine's fields. What a model wrote in them is replaced, not trusted."""
    document = dict(draft)
    match contract:
        case "intake_record":
            document |= {"request_id": facts.task_id, "original_request": facts.request, "metadata": {"intake_timestamp": facts.created_at}}
        case "clarification":
            document.setdefault("questions", [])
        case "analysis":
            document.setdefault("impacted_files", [])
            document.setdefault("affected_tests", list(facts.affected_tests))
        case "specification":
            document["spec_id"] = f"SPEC-{facts.task_id}"
        case "test_suite":
            document |= _test_suite(draft, facts)
        case "implementation":
            document |= _implementation(draft, facts)
        case "review":
            document["review_id"] = f"REVIEW-{facts.task_id}"
            document.setdefault("findings", [])
        case _:
            pass
    return document


def _test_suite(draft: Mapping[str, Json], facts: Facts) -> Document:
    red = facts.records["red"]
    tests = red["tests"]
    assert isinstance(tests, dict)
    mapping: dict[str, list[Json]] = {}
    for test in declared_tests(draft):
        if test.requirement:
            mapping.setdefault(test.requirement, []).append(f"{test.path}::{test.name}")
    return {
        "suite_id": f"SUITE-{facts.task_id}",
        "spec_ref": f"SPEC-{facts.task_id}",
        "coverage_mapping": {name: list(found) for name, found in sorted(mapping.items())},
        "verification": {
            "all_tests_fail": True,
            "no_implementation_exists": True,
            "tree": red["red_tree"],
            "sandbox": facts.sandbox,
            "same_author": red["same_author"],
            "reasons": {identity: entry["reason"] for identity, entry in tests.items() if isinstance(entry, dict) and not entry["guard"]},
        },
    }


def _implementation(draft: Mapping[str, Json], facts: Facts) -> Document:
    green = facts.records["green"]
    counts = {lines.path: lines for lines in facts.git.numstat(facts.base_tree, facts.tree)}
    purposes = {str(item.get("path")): str(item.get("purpose", "")) for item in objects(draft, "files_created")}
    summaries = {str(item.get("path")): str(item.get("changes_summary", "")) for item in objects(draft, "files_modified")}
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
            modified.append({"path": change.path, "changes_summary": summary, "lines_added": added, "lines_removed": removed})
    names = ("all_tests_pass", "conformance_passing", "no_regressions", "test_lock_held", "flaky", "not_configured")
    return {
        "implementation_id": f"IMPL-{facts.task_id}",
        "spec_ref": f"SPEC-{facts.task_id}",
        "test_suite_ref": f"SUITE-{facts.task_id}",
        "files_created": created,
        "files_modified": modified,
        "files_deleted": deleted,
        "verification": {**{name: green[name] for name in names}, "tree": facts.tree, "sandbox": facts.sandbox},
    }


def delivery_report(facts: Facts, finals: Mapping[str, Document], *, branch: str, base_commit: str, commits: list[str]) -> Document:
    """The report, computed from what is on record; nothing in it is a model's claim."""
    specification, green = finals["specification"], facts.records["green"]
    title = str(specification.get("title", facts.request))[:100]
    counts = {lines.path: lines for lines in facts.git.numstat(facts.base_tree, facts.tree)}
    files: list[Json] = []
    for change in facts.git.diff_names(facts.base_tree, facts.tree):
        lines = counts.get(change.path)
        word = {"A": "created", "D": "deleted"}.get(change.status, "modified")
        added, removed = (lines.added, lines.removed) if lines else (0, 0)
        files.append({"path": change.path, "change": word, "lines_added": added, "lines_removed": removed})
    open_points: list[Json] = [f"assumed: {line}" for line in _texts(finals.get("clarification", {}).get("assumptions"))]
    open_points += [f"flaky, counted for nobody: {line}" for line in _texts(green["flaky"])]
    open_points += [f"not configured, so not checked: {line}" for line in _texts(green["not_configured"])]
    open_points += [f"review note: {item.get('description')}" for item in objects(finals.get("review", {}), "findings")]
    if facts.sandbox == "none":
        open_points.append("everything ran without a sandbox")
    return {
        "request_id": facts.task_id,
        "branch": branch,
        "base": base_commit,
        "commits": list(commits),
        "title": title,
        "summary": str(specification.get("description", "")),
        "changelog_entry": f"- {title}",
        "release_notes": str(specification.get("description", title)),
        "files": files,
        "readiness": {"ready": True, "open_points": open_points},
        "verification": {
            "all_tests_pass": green["all_tests_pass"],
            "no_regressions": green["no_regressions"],
            "test_lock_held": green["test_lock_held"],
            "tree": facts.tree,
            "sandbox": facts.sandbox,
            "tests_passed": green["passed"],
            "tests_failed_before": green["baseline_failing"],
            "not_configured": green["not_configured"],
        },
    }


def _texts(value: Json) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
