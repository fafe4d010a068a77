"""Whether a debate is held: the command line first, then the phase, then the default."""

from dataclasses import dataclass
from typing import Literal

from agentforge.catalog.debates import Trigger

Flag = Literal["debate", "no_debate"]


@dataclass(frozen=True, slots=True)
class DebateSettings:
    """What is configured for a phase."""

    enabled: bool
    trigger: Trigger
    risk_threshold: int
    component_threshold: int


@dataclass(frozen=True, slots=True)
class Stakes:
    """What is at stake in a phase, counted from its documents."""

    components: int = 0
    """How many are affected."""
    risk_score: int = 0
    """The highest probability times impact of an open risk."""
    challenged: tuple[str, ...] = ()
    """Decisions that new facts put in doubt."""


@dataclass(frozen=True, slots=True)
class Triggered:
    """Whether a debate is held, and why."""

    debate: bool
    why: str
    override: bool = False
    """Whether a debate that the configuration asks for is skipped, which goes on record."""


def triggered(flags: frozenset[Flag], settings: DebateSettings, stakes: Stakes) -> Triggered:
    """The answer for a phase. `--debate` beats `--no-debate`, which beats the configuration."""
    configured = _configured(settings, stakes)
    if "debate" in flags:
        return Triggered(debate=True, why="--debate asks for it")
    if "no_debate" in flags:
        if configured.debate:
            return Triggered(debate=False, why=f"--no-debate, though {configured.why}", override=True)
        return Triggered(debate=False, why="--no-debate")
    return configured


def _configured(settings: DebateSettings, stakes: Stakes) -> Triggered:
    if not settings.enabled:
        return Triggered(debate=False, why="debates are not enabled for this phase")
    match settings.trigger:
        case "always":
            return Triggered(debate=True, why="this phase always has one")
        case "never":
            return Triggered(debate=False, why="the trigger is `never`")
        case "explicit_only":
            return Triggered(debate=False, why="this phase has one only with --debate")
        case "major_decision":
            if stakes.challenged:
                return Triggered(debate=True, why=f"{', '.join(stakes.challenged)} is challenged")
            more = stakes.components > settings.component_threshold
            word = "more than" if more else "not more than"
            why = f"{stakes.components} components are affected, {word} {settings.component_threshold}"
            return Triggered(debate=more, why=why)
        case "risk_threshold":
            reached = stakes.risk_score >= settings.risk_threshold
            why = f"the highest risk scores {stakes.risk_score}, the threshold is {settings.risk_threshold}"
            return Triggered(debate=reached, why=why)
