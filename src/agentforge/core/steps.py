"""Steps: what the actions of a reply did, whether the edit is checked, and what the step ended in."""

from agentforge.core.decisions import (
    ANOTHER_WAY,
    Decisions,
    RunDecisions,
    back_option,
    begin_step,
    confuse,
    convene,
    escalate,
    fail_attempt,
    next_step,
)
from agentforge.core.effects import Act
from agentforge.core.events import (
    ActionLeft,
    ActionsPerformed,
    Checked,
    ContextAssembled,
    Discarded,
    GateOpened,
    HandedIn,
    Reverted,
)
from agentforge.core.inputs import Acted, ActionLeaving, Assembled
from agentforge.core.iterating import NOT_REVISED, is_unrevised
from agentforge.core.machine import ASKS
from agentforge.core.pending import pending
from agentforge.core.pipeline import Stage
from agentforge.core.replacing import replace
from agentforge.core.reply import Signal
from agentforge.core.returns import NOTHING_CHANGED, asked_by_role, unchanged
from agentforge.core.runs import Run
from agentforge.core.values import NOT_DONE, UNKNOWN, Amount, CheckDigest, Question

STILL_CHARS = 1000
"""What a person is told of a stage that stands still."""
TOLD_CHARS = 300
"""Of each thing that the role was told."""

MAX_FLAGGED = 200
"""More places than that, and the repository is about such text."""


def assembled(own: RunDecisions, given: Assembled) -> str:
    """The context is there; what it holds that reads like an instruction is named once."""
    known = own.state.flagged
    new = tuple(flag for flag in dict.fromkeys(given.context.flagged) if flag not in known)
    context = replace(given.context, flagged=new[: MAX_FLAGGED - len(known)])
    own.tell(ContextAssembled(own.id, context))
    return f"context of {context.tokens} tokens"


def leaving(decisions: Decisions, given: ActionLeaving, key: str) -> str:
    """The last look before an action leaves the sandbox: is it still owed?"""
    acts = (effect for effect in pending(decisions.state) if isinstance(effect, Act))
    owed = next((effect for effect in acts if key == f"{effect.key}/left/{given.action.number}"), None)
    if owed is None:
        decisions.tell(Discarded(key, Amount()))
        return "this action is no longer owed"
    decisions.tell(ActionLeft(owed.run, owed.key, given.action))
    return "an action is about to leave the sandbox"


def acted(own: RunDecisions, given: Acted) -> str:
    """The actions are done: the edit is checked, or the step ends."""
    before, run, done = own.state.tree, own.run, given.done
    if done.tree != before and not (run.rules.writes and own.state.pipeline.writes):
        return confuse(
            own.all,
            f"{run.label} may only read, and the tree changed from {before[:12]} to {done.tree[:12]}",
            own.id,
        )
    own.tell(ActionsPerformed(own.id, done))
    if given.question is not None:
        return _close(own, given.question)
    if given.reopens is not None:
        return asked_by_role(own, given.reopens)
    unchecked = done.tree != before or (_wants_gates(own) and own.run.check is None)
    if own.stage.checks and unchecked:
        return "the edit is checked"
    return _close(own, None)


def checked(own: RunDecisions, check: CheckDigest, ref: str) -> str:
    """The checks have run. Where a stage may keep nothing that makes things worse, such an edit is undone."""
    own.tell(Checked(own.id, check, ref))
    if own.stage.reverts and check.status != "passed":
        return _undo(own, check)
    return _close(own, None)


def _undo(own: RunDecisions, check: CheckDigest) -> str:
    """The tree goes back to the last one that passed, and the role is told why."""
    run, why = own.run, check.summary
    own.tell(Reverted(own.id, run.good_tree or run.entry_tree, (why, *check.failures)))
    told = (f"Your edit made something worse and was undone: {why}.", *check.failures)
    tried = tuple(f"{item.label}: undone, {why}" for item in run.results if item.ok)
    own.close("reverted", told, tried)
    return next_step(own, "the edit made something worse and was undone")


# ------------------------------------------------------------------ the end of a step


def _close(own: RunDecisions, question: Question | None) -> str:  # one way out per end of a step
    """Ends the step, and decides what follows from the signal and the results."""
    run, reply = own.run, own.run.reply
    failed = [item for item in run.results if not item.ok and item.mistake not in NOT_DONE]
    tried = tuple(f"{item.label}: {item.text.partition(chr(10))[0]}" for item in failed)
    wrong = tuple(f"{item.label}: {item.text}" for item in failed)
    feedback = (reply.mistake, *wrong) if reply.mistake else wrong
    mistake = bool(reply.mistake) or not any(item.ok or item.mistake == UNKNOWN for item in run.results)

    def close(outcome: str, *more: str, mistaken: bool = mistake) -> None:
        own.close(outcome, (*feedback, *more), tried, mistake=mistaken)

    if question is not None:
        close("blocked_on_human", mistaken=False)
        return escalate(own.all, "question" if question.call is None else "permission", question, run=own.id)
    if reply.signal is not None and reply.signal != "success":
        close(reply.signal, mistaken=False)
        return _signal(own, reply.signal, reply.summary or "no reason given")
    if run.check is not None and run.check.status != "passed" and (run.results or reply.signal):
        close("checks_failing", *([_worded(run.check)] if _wants_gates(own) else []))
        return _go_on(own, "the checks do not pass yet")
    if _wants_gates(own):
        if missing := _missing(run, own.stage):
            text = f"Not handed in yet: {', '.join(missing)}."
            close("incomplete", text, mistaken=True)
            return _go_on(own, "artifacts are missing")
        if is_unrevised(own):
            close("unchanged", NOT_REVISED, mistaken=True)
            return _go_on(own, "nothing changed since a person asked for changes")
        if unchanged(own):
            close("unchanged", NOTHING_CHANGED, mistaken=True)
            return _go_on(own, "nothing changed since the review blocked")
        close("submitted", mistaken=False)
        return _hand_over(own)
    if not run.results and not reply.mistake:
        text = "The reply held no action. Act, submit what is owed, or escalate."
        close("no_action", text, mistaken=True)
        return _go_on(own, "no action")
    close("continue")
    return _go_on(own, "the stage goes on")


def _worded(check: CheckDigest) -> str:
    """What a check says, with the first of what it found: a person who is asked sees no other list."""
    first = check.failures[0] if check.failures else ""
    return check.summary if not first or first in check.summary else f"{check.summary}, the first: {first}"


def _go_on(own: RunDecisions, why: str) -> str:
    """The next step; or a person is asked, where the same reply came twice on the same tree: a third would be
    paid for and change nothing.
    """
    run = own.run
    if not run.again:
        return next_step(own, why)
    told = [" ".join(line.split())[:TOLD_CHARS].rstrip(".") for line in run.feedback]
    owed = [name for name in _missing(run, own.stage) if not any(name in line for line in told)]
    missing = [f"Not handed in: {', '.join(owed)}"] if owed else []
    told = [f"It was told: {'; '.join(told)}"] if told else []
    text = (
        f"Stage {run.label} is stuck: the model gave the same reply "
        f"twice, and nothing changed in between. {'. '.join((*told, *missing)) or why}."
    )
    options = ("retry", *back_option(own.state, own.stage), "abort")
    return escalate(own.all, "exhausted", Question(text[:STILL_CHARS], options, ANOTHER_WAY), run=own.id)


def _hand_over(own: RunDecisions) -> str:
    """Everything owed is handed in: the gates judge it, or the run waits for the others."""
    if not own.run.rules.judged:
        own.tell(HandedIn(own.id))
        parent, name = own.all.of(own.run.parent), own.run.name
        if own.run.rules.heard and not own.state.hears(parent.id):
            return begin_step(parent, "everybody is heard: the work begins")
        return f"{name} was heard" if own.run.rules.heard else f"{name} has read it"
    own.tell(GateOpened(own.id))
    convene(own)
    return "everything owed is handed in: the gates judge"


def _wants_gates(own: RunDecisions) -> bool:
    run = own.run
    complete = not _missing(run, own.stage)
    return run.reply.signal == "success" or (complete and run.submitted)


def _missing(run: Run, stage: Stage) -> list[str]:
    have = {draft.contract for draft in run.drafts}
    return [product.contract for product in stage.products if product.contract not in have]


def _signal(own: RunDecisions, signal: Signal, reason: str) -> str:
    """What follows from a signal that ends the step without a result."""
    if signal == "failure_retryable":
        return fail_attempt(own, reason)
    kind = ASKS[signal]
    if kind == "question":
        question = Question(reason)
    elif kind == "terminal":
        question = Question(f"The role cannot go on: {reason}", ("retry", "abort"), ANOTHER_WAY)
    else:
        text = f"Work was found that this pipeline has no place for ({signal}): {reason}"
        question = Question(text, ("go on without it", "abort"), "go on without it")
    return escalate(own.all, kind, question, run=own.id)
