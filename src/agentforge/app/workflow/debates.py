"""A debate of the workflow that our own models argue: the plan becomes their question, and what they write
becomes the files that the gate judges.
"""

import os

from agentforge.app.intake.starting import StartOptions
from agentforge.app.ports import UNWATCHED, Watcher
from agentforge.app.workflow.debating import DebateQuestion, run_debate
from agentforge.app.workflow.phasing import Checkout, judge_debate_of
from agentforge.catalog.debates import debate_rules
from agentforge.core.errors import StateInvalid, UsageError
from agentforge.documents.outline import content, named, visible
from agentforge.gates.debates.documents import read_options
from agentforge.gates.debates.files import DebateVerdict
from agentforge.integrations.ao import session_of
from agentforge.phases.advance import Advance, current_state
from agentforge.phases.debates import texts_of
from agentforge.phases.tree import WorkflowTree, debate_folder


def argue_debate(
    checkout: Checkout, debate_id: str = "", model: str | None = None, watcher: Watcher = UNWATCHED
) -> DebateVerdict:
    """Have a debate argued; what the gate says of it then. A role whose file somebody wrote already keeps
    it.
    """
    if session_of(os.environ) is not None:
        raise StateInvalid(
            "Under AO its own sessions argue; nothing is started from here.",
            "`agentforge phase debate --status` shows what is missing.",
        )
    name, verdict = judge_debate_of(checkout, debate_id)
    if verdict.complete:
        return verdict
    tree = checkout.read()
    question = question_of(tree, name)
    files = run_debate(
        checkout.top, question, options=StartOptions(question.topic, model=model), watcher=watcher
    )

    def step(tree: WorkflowTree) -> Advance:
        there = texts_of(tree, name)
        for file in debate_rules().roles.values():
            if file.name in files and not there.get(file.name, "").strip():
                tree.put(f"{debate_folder(name)}/{file.name}", files[file.name])
        return Advance("nothing", current_state(tree))

    checkout.apply(step)
    return judge_debate_of(checkout, name)[1]


def question_of(tree: WorkflowTree, debate_id: str) -> DebateQuestion:
    """The question that a plan asks."""
    plan = tree.need(f"{debate_folder(debate_id)}/{debate_rules().plan.name}")
    section = named(plan, "Objective")
    topic = visible(content(plan, section)) if section is not None else ""
    options = read_options(plan)
    if not topic:
        raise UsageError(f"The plan of {debate_id} has no objective.", "Write it under `## Objective`.")
    context = named(plan, "Context")
    known = visible(content(plan, context)) if context is not None else ""
    constraints = tuple(line.removeprefix("- ") for line in known.splitlines() if line.startswith("- "))
    return DebateQuestion(
        topic,
        tuple(f"{option.name}: {option.about}" if option.about else option.name for option in options),
        constraints=constraints,
    )
