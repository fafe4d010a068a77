"""What a language server is to us: a program, and what it wants to be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class LanguageServer:
    """One server that people install, as a row of its language."""

    name: str
    """As people call it."""
    command: tuple[str, ...]
    """Its program, and what makes it speak on its standard streams."""
    ids: Mapping[str, str]
    """How the protocol calls the language of a file, by suffix."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What it is told when it starts."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What it is told when it asks for its settings, by section."""
    says_when_ready: bool = False
    """Whether it tells by itself that it has read the project; before that its answers are empty."""

    def language_id(self, path: str) -> str:
        """How the protocol calls the language of a file; empty for none of its own."""
        return next((name for suffix, name in self.ids.items() if path.endswith(suffix)), "")
