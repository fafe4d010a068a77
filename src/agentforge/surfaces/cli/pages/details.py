"""One phase and one step of a task, on a page each."""

from typing import Any

from agentforge.store.task.summary import Summary
from agentforge.surfaces.cli.pages.board import not_before
from agentforge.surfaces.cli.pages.words import age
from agentforge.system.visible import brief

_MOST_BLOCK_LINES = 12


def summary_lines(summary: Summary) -> list[str]:
    """What `--detail` adds to the page of a task."""
    status, timing, now = summary["status"], summary["timing"], summary["current_action"]
    left = timing["estimated_remaining_seconds"]
    lines = [
        "progress",
        f"  overall   {round(100 * status['overall_progress'])}%, elapsed {age(timing['elapsed_seconds'])}"
        + ("" if left is None else f", about {age(left)} left"),
    ]
    if status["phase"]:
        lines.append(f"  phase     {status['phase']}, {round(100 * status['phase_progress'])}%")
    if now is not None:
        where = f" {brief(now['target'], 100)}" if now["target"] else ""
        lines.append(
            f"  now       step {now['step']}: {brief(now['action'], 60)}{where}, since {now['started_at']}"
        )
    health, steps = summary["health"], summary["steps"]["by_phase"]
    if health["tests_total"] is not None:
        counts = f"{health['tests_passing']} of {health['tests_total']} pass"
        lines.append(f"  tests     {counts}{not_before(health)}")
    lines.append(f"  errors    {health['errors_recent']} in the last steps")
    lines.append(
        "  steps     " + (", ".join(f"{name} {count}" for name, count in steps.items()) or "none yet")
    )
    for word in ("created", "modified"):
        lines += [f"  {word:<9} {brief(path, 200)}" for path in summary["files"][word]]
    return lines


def phase_lines(detail: dict[str, Any]) -> list[str]:
    """A phase: what it is for, what it must meet, what it touched, what it did last."""
    lines = [
        f"{detail['task_id']}: {detail['phase']} ({detail['status']})",
        f"  {brief(detail['objective'], 300)}",
    ]
    if detail["started_at"]:
        end = f", ended {detail['ended_at']}" if detail["ended_at"] else ""
        lines.append(f"  started {detail['started_at']}{end}")
    lines += ["exit criteria", *(line for item in detail["exit_criteria"] for line in _criterion(item))]
    if detail["files_touched"]:
        lines.append("files")
        lines += [
            f"  {item['changes']:>6} lines  {brief(item['path'], 160)}" for item in detail["files_touched"]
        ]
    lines.append(f"steps: {detail['steps']['total']}")
    for step in detail["steps"]["recent"]:
        what = brief(f"{step['action']} {step['target'] or ''}".strip(), 80)
        lines.append(f"  {step['step']:>4}  {what}: {step['result']}  {brief(step['summary'], 160)}".rstrip())
    return lines


def _criterion(item: dict[str, Any]) -> list[str]:
    details = f": {brief(item['details'], 200)}" if item.get("details") else ""
    lines = [f"  {item['status']:<8} {item['name']}{details}"]
    for failure in item.get("failures", ()):
        test = f"{failure['test']}: " if failure["test"] else ""
        lines.append(f"           {brief(test + failure['error'], 300)}")
    return lines


def step_lines(detail: dict[str, Any]) -> list[str]:
    """A step: the call, what came of it, the beginning of each block that was sent, and the patch."""
    call, result, action = detail["llm_call"], detail["result"], detail["action"]
    tokens = f"{call['prompt_tokens']:,} tokens in, {call['completion_tokens']:,} out"
    took = "" if detail["duration_seconds"] is None else f", {age(detail['duration_seconds'])}"
    lines = [
        f"{detail['task_id']}: step {detail['step']}, {detail['phase']}, {detail['role']}",
        f"  started   {detail['timestamp']}{took}",
        f"  model     {call['model'] or '-'}: {tokens}",
        f"  action    {brief(action['type'] or 'none', 200)} {brief(action['target'] or '', 200)}".rstrip(),
        f"  result    {'ok' if result['success'] else 'not ok'} ({result['outcome']})",
    ]
    if detail["llm_response"]["reasoning"]:
        lines.append(f"  reasoning {brief(detail['llm_response']['reasoning'], 600)}")
    if verified := detail["state_after"]["verification_status"]:
        lines.append(f"  checks    {brief(verified, 600)}")
    lines += [
        f"  {'ok' if item['ok'] else 'failed':<9} {item['action']}: {brief(str(item['text'] or ''), 300)}"
        for item in result["output"]
    ]
    for name, text in (detail["context_sent"] or {}).items():
        shown = text.splitlines()
        rest = len(shown) - _MOST_BLOCK_LINES
        lines += [f"context: {name}", *(f"  | {line}" for line in shown[:_MOST_BLOCK_LINES])]
        lines += [f"  | … {rest} more lines"] if rest > 0 else []
    if detail["diff"]:
        lines += ["diff", detail["diff"]["patch"].rstrip("\n")]
    return lines
