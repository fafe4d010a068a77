"""Every error of AgentForge, by audience.

    AgentForgeError
    ├── UserError            one sentence and the next step; shown without a traceback
    │   ├── UsageError       exit 2: the command line, a configuration file or the repository cannot be used
    as it is
    │   ├── PolicyError      exit 4: refused by policy (sandbox, permissions, a locked task)
    │   ├── Unanswered       exit 3: somebody has to answer a question first
    │   ├── Unusable         exit 1: the world failed (disk, tool, network); nothing recorded is lost
    │   │   └── Exhausted    the machine has no more of something; nothing that ran meanwhile is judged
    │   └── StateInvalid     exit 2: an illegal move of a task; names the legal ones
    └── ModelMistake         fed back to the model, counted, bounded; never shown as a crash

Anything else is ours: let it crash.
"""


class AgentForgeError(Exception):
    """The root of every error that AgentForge raises itself."""


class UserError(AgentForgeError):
    """Something a person can mend: one sentence, and what to do next."""

    exit_code = 1
    code = "unusable"
    """What a program is told."""

    def __init__(self, sentence: str, next_step: str = "") -> None:
        super().__init__(sentence if not next_step else f"{sentence} {next_step}")
        self.sentence = sentence
        self.next_step = next_step


class UsageError(UserError):
    """The command line, a file of configuration, or the repository cannot be used as it is."""

    exit_code = 2
    code = "usage"


class PolicyError(UserError):
    """What was asked for is forbidden by a rule or a setting; trying again does not help."""

    exit_code = 4
    code = "policy"


class Unanswered(UserError):
    """A person has to answer a question before there is a result."""

    exit_code = 3
    code = "unanswered"


class Unusable(UserError):
    """The world failed: disk, tool or network. What is recorded is safe."""

    exit_code = 1


class Exhausted(Unusable):
    """The machine has no more disk, memory or open files: whatever failed, failed for that. Nobody is asked
    about it and nobody's work is held against them; it goes on when there is more.
    """


class StateInvalid(UserError):
    """The task's status does not allow what was asked for."""

    exit_code = 2
    code = "state"


class ModelMistake(AgentForgeError):
    """A reply or an action that cannot be used. `kind` is counted, the text is fed back."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
