"""A debate by itself: a question with three or more answers becomes a decision, argued by models of ours."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agentforge.app.drivers.driving import resume
from agentforge.app.intake.starting import StartOptions, start
from agentforge.app.ports import UNWATCHED, Watcher
from agentforge.app.record.deliverable import read_debate_files
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import Unanswered, Unusable, UsageError
from agentforge.core.reply import Json
from agentforge.core.statuses import spell_status
from agentforge.store.site import Site
from agentforge.store.task import artifacts
from agentforge.store.user.index import Index
from agentforge.system.secrets.redact import redact

PIPELINE = "debate"
LEAST_OPTIONS = 3
_OVER = ("failed", "cancelled", "unreadable")


@dataclass(frozen=True, slots=True)
class DebateQuestion:
    """What is to be decided, and between what."""

    topic: str
    options: tuple[str, ...] = ()
    """`NAME`, or `NAME: what it means`; none: a role is asked for them."""
    context: str = ""
    constraints: tuple[str, ...] = ()
    """What no option may break."""


def plan_of(question: DebateQuestion) -> dict[str, Json] | None:
    """The plan that a person brings, without its secrets; None where somebody is asked for one. A
    `UsageError` says what cannot be debated.
    """
    if not question.topic.strip():
        raise UsageError(
            "Say what is to be decided.",
            'Such as: agentforge debate "Where do sessions live?" --options Redis --options Postgres '
            "--options cookies",
        )
    if not question.options:
        if question.context or question.constraints:
            raise UsageError(
                "--context and --constraint go with --options.", "Name three options or more with --options."
            )
        return None
    if len(question.options) < LEAST_OPTIONS:
        raise UsageError(
            f"A debate has {LEAST_OPTIONS} options or more, and this one {len(question.options)}.",
            "Name each with --options; doing nothing can be one of them.",
        )
    plan: dict[str, Json] = {
        "objective": _clean(question.topic),
        "options": [_option(text) for text in question.options],
    }
    if question.context.strip():
        plan["context"] = _clean(question.context)
    if question.constraints:
        plan["constraints"] = [_clean(text) for text in question.constraints]
    return plan


def start_debate(
    site: Site,
    question: DebateQuestion,
    options: StartOptions,
    notice: Callable[[str], None] = lambda _: None,
) -> OpenTask:
    """Puts a debate on record as a task; `drive` holds it, and `continue` goes on with it."""
    wanted = replace(options, request=question.topic, pipeline=PIPELINE, plan=plan_of(question))
    return start(site, wanted, notice)


def run_debate(
    repository: Path,
    question: DebateQuestion,
    *,
    options: StartOptions | None = None,
    watcher: Watcher = UNWATCHED,
) -> dict[str, str]:
    """Holds a debate to its end; the answer has its files by name, each as Markdown.

    The same question about the same commit is the same debate: one that was stopped goes on where it was, and
    one that is over is not held again. Where somebody has to be asked first it is `Unanswered`.
    """
    site = Site.open(repository)
    wanted = options or StartOptions(question.topic)
    plan = plan_of(question)
    base = site.git.resolve(wanted.base) if wanted.base else site.git.head()
    task = _known(site, plan, base) or start_debate(site, question, wanted)
    state = resume(task, watcher)
    if state.open_escalation is not None:
        waiting = state.open_escalation
        raise Unanswered(
            f"The debate {task.task_id} waits for an answer: {waiting.question.text}",
            f"Answer with `agentforge resolve {waiting.id} --task {task.task_id} --answer …`, and run this "
            "again.",
        )
    files = read_debate_files(task.files, state)
    if state.status != "completed" or not files:
        why = state.failure or "it came to no decision"
        raise Unusable(
            f"The debate {task.task_id} {spell_status(state.status)}: {why}.",
            f"`agentforge continue {task.task_id}` resumes it.",
        )
    return files


def _known(site: Site, plan: Mapping[str, Json] | None, base: str) -> OpenTask | None:
    """The newest task that argues about this very plan on this commit, if there is one and it was not given
    up.
    """
    if plan is None:
        return None
    with Index(site.home.task_index, lambda _: None) as index:
        rows = index.rows(site.git.top)
    for row in rows:
        if not row.line.startswith(PIPELINE) or row.status in _OVER:
            continue
        task = OpenTask.open(site, site.find(row.task_id))
        given = [item.ref for item in task.state.imports]
        if task.state.base_commit == base and given and artifacts.read(task.files, given[0]) == plan:
            return task
    return None


def _option(text: str) -> dict[str, Json]:
    """`NAME: what it means`; a name alone means what it says."""
    name, _, about = _clean(text).partition(": ")
    return {"name": name.strip(), "description": about.strip() or name.strip()}


def _clean(text: str) -> str:
    return redact(text)[0].strip()
