"""The questions that a person was shown last, in their order: what a number means until the next list."""

import contextlib
import json
from collections.abc import Iterable
from typing import NamedTuple

from agentforge.core.errors import UserError
from agentforge.store.layout import Home
from agentforge.system.files import write_atomic


class ListedQuestion(NamedTuple):
    """A question as a list names it."""

    repo: str
    task_id: str
    identity: str


def keep_listed(home: Home, questions: Iterable[ListedQuestion]) -> None:
    """Remembers a list that is being shown. Where nothing can be written, numbers mean the list as it is."""
    with contextlib.suppress(OSError, UserError):
        write_atomic(home.listed, json.dumps([*questions]).encode(), durable=False)


def last_listed(home: Home) -> list[ListedQuestion] | None:
    """The list that was shown last; None if there is none that can be read."""
    try:
        found = json.loads(home.listed.read_bytes())
        return [ListedQuestion(*map(str, each)) for each in found]
    except (OSError, ValueError, TypeError):
        return None
