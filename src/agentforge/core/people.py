"""What people say to a task, and how it goes on from a halt."""

from agentforge.core.errors import StateInvalid
from agentforge.core.events import BudgetRaised, Resolved, Resumed, StepClosed, TaskAborted
from agentforge.core.inputs import Abort, Resolution, Resume
from agentforge.core.state import LEGAL_MOVES, TERMINAL
from agentforge.core.story import FEEDBACK_LINES, Story, enter, has_failed, open_step, send_back
from agentforge.core.values import RETRYABLE, Budget, Escalation, is_yes

TOLD_CHARS = 4000


def resolve(story: Story, given: Resolution) -> str:
    """An answer: the first one counts, and takes the task back to work."""
    state = story.state
    found = next((item for item in state.escalations if item.id == given.escalation), None)
    if found is None:
        known = ", ".join(item.id for item in state.escalations)
        raise StateInvalid(
            f"{given.escalation} is not an escalation of {state.task_id}; it has {known or 'none'}."
        )
    if found.answer is not None:
        raise StateInvalid(f"{found.id} was answered already by {found.by}: {found.answer[:80]!r}.")
    if state.status != "blocked":
        raise StateInvalid(f"state_invalid: the task is {state.status}; only a blocked task takes an answer.")
    story.tell(Resolved(found.id, given.answer, given.by))
    if given.answer.strip().lower() == "abort":
        story.tell(TaskAborted(given.by, f"answer to {found.id}"))
        story.move("cancelled")
        return "aborted by a person's answer"
    if found.kind == "budget":
        story.tell(BudgetRaised(_raised(state.budget, given.answer)))
    return _go_on(story, given.by, found, given.answer)


def resume(story: Story, given: Resume) -> str:
    """A halted task goes on, unless somebody owes it an answer."""
    state = story.state
    if not state.task_id or "draft" not in LEGAL_MOVES[state.status]:
        legal = ", ".join(LEGAL_MOVES[state.status])
        raise StateInvalid(f"state_invalid: a {state.status} task cannot be resumed; it can become {legal}.")
    if state.status == "completed":
        raise StateInvalid(f"{state.task_id} is completed; start a new task for more work.")
    open_one = state.open_escalation
    if open_one is not None and open_one.kind not in RETRYABLE:
        raise StateInvalid(
            f"{state.task_id} waits for an answer to {open_one.id}.",
            f"Answer with `agentforge resolve {open_one.id} --task {state.task_id} --answer …`.",
        )
    if open_one is not None:
        story.tell(Resolved(open_one.id, "retry", given.by))
    return _go_on(story, given.by, open_one)


def abort(story: Story, given: Abort) -> str:
    """The end, from any state that has not ended; the work is kept."""
    if not story.state.task_id:
        raise StateInvalid("state_invalid: there is no task to abort.")
    if story.state.status in TERMINAL:
        raise StateInvalid(
            f"state_invalid: the task is {story.state.status} already; it can become draft, by resume."
        )
    if (open_one := story.state.open_escalation) is not None:
        story.tell(
            Resolved(open_one.id, "abort", given.by)
        )  # nobody owes this answer any more: `resume` is free to go on
    story.tell(TaskAborted(given.by, given.reason))
    story.move("cancelled")
    return given.reason or "aborted by a person"


def _go_on(story: Story, by: str, escalation: Escalation | None = None, answer: str = "") -> str:
    """From a halt back to work, keeping every accepted artifact."""
    story.move("draft")
    story.tell(Resumed(story.state.segment + 1, by))
    story.move("scheduled")
    run = story.state.run
    if run is None or (escalation is not None and escalation.kind in RETRYABLE):
        return "resumed"
    if escalation is not None:
        sitting = {item.seat for item in story.state.seats}
        if not escalation.seat and sitting and escalation.kind != "review":
            return "resumed: the panel reads on"
        with story.beside(escalation.seat if escalation.seat in sitting else ""):
            return _reopen(story, _told(escalation, answer), review=escalation.kind == "review")
    for seat in [item.seat for item in story.state.seats if item.point != "given"]:
        with story.beside(seat):
            _reopen(story, ())
    if run.point in ("check", "judge", "commit", "deliver") and not has_failed(story.state, run):
        return "resumed"
    return _reopen(story, ())


def _told(escalation: Escalation, answer: str) -> tuple[str, ...]:
    """What the role hears of an answer."""
    call = escalation.question.call
    if call is None:
        return (f"A person answered: {answer}",)
    if is_yes(answer):
        return (
            (
                f"A person allowed this call of {call.tool}. Send the same call again, "
                f"unchanged:\n{_shown(escalation.question.text)}"
            ),
        )
    words = "" if answer.strip().lower() == "deny" else f" They said: {answer}"
    what = " ".join(call.command or call.paths)[:200]
    return (
        f"A person denied the call of {call.tool} {what}".rstrip()
        + f"; do not send it again, find another way.{words}",
    )


def _shown(text: str) -> str:
    """The question as far as a role needs it: it made the call itself."""
    half = TOLD_CHARS // 2
    return (
        text
        if len(text) <= TOLD_CHARS
        else f"{text[:half]}\n[… {len(text) - 2 * half} characters are left out …]\n{text[-half:]}"
    )


def _reopen(story: Story, words: tuple[str, ...], *, review: bool = False) -> str:
    """The stage under way starts its next step, or a fresh attempt where the last one had failed."""
    state, run, stage = story.state, story.run, story.state.stage
    if has_failed(state, run):
        enter(story, stage, run.entry_tree, words)
    elif review and (target := stage.returns_to or (stage.name if stage.reviewers else None)):
        send_back(story, target, (*words, *(state.findings if run.skipped else run.feedback)), state.findings)
    elif stage.role is None or run.skipped:
        return "resumed where it stood: a computed stage has nobody to tell"
    else:
        story.tell(StepClosed(state.step, "answered", (*words, *run.feedback)[:FEEDBACK_LINES]))
        open_step(story, "answered")
    return "resumed with an answer" if words else "resumed"


def _raised(budget: Budget, answer: str) -> Budget:
    """`double`, or any answer that is not abort, doubles; a factor like `x3` multiplies by it."""
    words = answer.strip().lower().removeprefix("x")
    factor = max(2, int(words)) if words.isdecimal() and len(words) <= 3 else 2
    return budget.times(factor)
