"""A report as Markdown for a pull request. What others wrote in it is text: none of it is read as markup."""

from typing import Any

from agentforge.app.evidence.proof_report import ProofReport
from agentforge.surfaces.cli.pages.markdown import code, plain
from agentforge.surfaces.cli.pages.words import count, money


def as_markdown(report: ProofReport) -> str:
    """The whole report; a part that has nothing to say is left out, but for what is not proved."""
    parts = [
        f"## {plain(report.request.splitlines()[0] if report.request else report.task_id, 120)}",
        _matrix(report),
        _section("Not proved by a test", [plain(line) for line in report.not_proved_by_test]),
        _section("Old tests dropped", [_given_up(row) for row in report.superseded]),
        _section("Not checked", [plain(line) for line in report.not_checked] or ["nothing was left out"]),
        _section("Assumptions", [plain(line) for line in report.assumptions]),
        _section("Worth a look", [_flag(flag) for flag in report.flags]),
        _section("Decided in a debate", [line for debate in report.debates for line in _debate(debate)]),
        _section("Reviews", [_review(row) for row in report.reviews]),
        _proof(report),
    ]
    return "\n\n".join(part for part in parts if part)


def _matrix(report: ProofReport) -> str:
    """Requirement, test, how it ended on the base and on the branch."""
    if not report.requirements:
        return ""
    rows = ["| requirement | test | on the base | on the branch |", "| --- | --- | --- | --- |"]
    for item in report.requirements:
        name = f"{plain(str(item.get('id')), 40)}: {plain(str(item.get('description') or ''), 160)}"
        tests = item.get("tests") or []
        if not tests:
            rows.append(f"| {name} | no test | | |")
        for test in tests:
            rows.append(
                f"| {name} | {code(str(test.get('id')))} | {plain(str(test.get('red')))} | "
                f"{plain(str(test.get('green')))} |"
            )
            name = ""
    return "### What was proved\n\n" + "\n".join(rows)


def _section(title: str, lines: list[str]) -> str:
    return f"### {title}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def _given_up(row: dict[str, Any]) -> str:
    return (
        f"{code(str(row.get('id')))} ({plain(str(row.get('after')))}), for "
        f"{plain(str(row.get('requirement')))}: {plain(str(row.get('reason')))}"
    )


def _flag(flag: dict[str, Any]) -> str:
    said = f"; reviewer: {flag['verdict']}, {flag.get('reason') or ''}" if flag.get("verdict") else ""
    return f"{code(str(flag.get('about')))}: {plain(str(flag.get('text')) + said)}"


def _review(row: dict[str, Any]) -> str:
    said = f": {plain(row['text'])}" if row["text"] else ""
    return f"{plain(str(row['by']))}, {plain(str(row['verdict']))}{said}"


def _debate(debate: dict[str, Any]) -> list[str]:
    """The question, what was chosen and why, what each said, and when it is to be thought over."""
    if not debate.get("held"):
        return [f"none was held: {plain(str(debate.get('why') or ''))}"]
    chosen = plain(str(debate.get("option")), 120)
    lines = [
        plain(str(debate.get("objective") or "")),
        f"**{chosen}**: {plain(str(debate.get('decision') or ''))}",
        f"why: {plain(str(debate.get('rationale') or ''))}",
        f"options: {plain('; '.join(str(name) for name in debate.get('options') or []))}",
    ]
    lines += [f"{plain(role)}: {plain(str(said))}" for role, said in (debate.get("positions") or {}).items()]
    lines += [
        f"to be reconsidered if {plain(str(item.get('condition')))}: {plain(str(item.get('threshold')))}"
        for item in debate.get("kill_switches") or []
    ]
    return lines


def _proof(report: ProofReport) -> str:
    lines = [f"task {code(report.task_id)}, from {code(report.base[:12])} to {code(report.commit[:12])}"]
    if report.command:
        lines.append(f"tests run with {code(report.command)}")
    if report.seal:
        lines.append(f"seal {code(report.seal[:12])}: {plain(report.signature)}")
        lines.append(f"check it with {code(f'agentforge verify {report.branch}')}")
    if report.same_author:
        lines.append("one role wrote both the test and the change")
    lines += [plain(line) for line in (*report.examined, *report.integration)]
    lines.append(_cost(report.cost))
    return _section("Proof", lines)


def _cost(cost: dict[str, Any]) -> str:
    price = cost.get("micro_usd")
    spent = money(price) if isinstance(price, int) else "price not known"
    calls, tokens = int(cost.get("calls") or 0), int(cost.get("tokens") or 0)
    return f"{count(calls, 'call')}, {count(tokens, 'token')}, {spent}"
