"""What a task was started with: declared once, carried by the input, by the event and by the state."""

from dataclasses import dataclass

from agentforge.core.pipeline import Pipeline
from agentforge.core.values import (
    Budget,
    DegradedRule,
    Delivery,
    Oversight,
    Price,
    QuestionRule,
    TierPrice,
    Told,
)


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A request on a base commit, with everything that is fixed when it becomes a task."""

    task_id: str = ""
    request: str = ""
    """The person's words, redacted."""
    base_commit: str = ""
    """The commit that the work starts from."""
    base_tree: str = ""
    """The tree of that commit."""
    model: str = ""
    """The model that was named, or `tiers` where each tier has its own."""
    sandbox: str = ""
    """Which sandbox its programs run in."""
    catalogue: str = ""
    """Hash of the resolved pipeline, roles, contracts and prompts in the pack."""
    pipeline: Pipeline = Pipeline("", "", ())
    """The stages to go through. A task whose lane rises goes on with one of `higher`."""
    budget: Budget = Budget()
    """The cap. A person can raise it."""
    price: Price | None = None
    """What a call may cost, where a tier is not named in `prices`."""
    triage: tuple[str, ...] = ()
    """Why the task runs in this lane, a reason each."""
    higher: tuple[Pipeline, ...] = ()
    """The lanes it may rise to."""
    prices: tuple[TierPrice, ...] = ()
    """What a call may cost, by tier."""
    marker: str = ""
    """Random text, made for this task: what text from outside is fenced with, so that it cannot know its own
    fence.
    """
    delivery: Delivery = "live"
    """`batch`: every call that can go by batch does, whatever is configured."""
    given_tree: str = ""
    """The base with the tests that were handed in; empty where none were."""
    deadline_s: int = 0
    """How long a call may wait for its batch before it is sent live; 0: as long as it takes."""
    max_wait_s: int = 0
    """How long a provider whose quota is used up is waited for; 0: a person is asked at once."""
    questions: QuestionRule = QuestionRule()
    """How long its questions wait for an answer."""
    degraded: DegradedRule = DegradedRule()
    """When too many of its steps fail."""
    reworks: str = ""
    """The task whose result this one corrects."""
    iterates: tuple[str, ...] = ()
    """Stages whose result a person is shown, version by version, until they are content."""
    approves: tuple[str, ...] = ()
    """Stages whose result a person approves before anything is built on it."""
    oversight: Oversight = "autonomous"
    """How often a person is asked otherwise."""
    asks_servers: bool = False
    """Whether language servers that are installed are asked about the base."""
    told: Told | None = None
    """What they said; of a task that is played again, what they said to the first."""
