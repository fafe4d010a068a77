"""The user's own settings file, for the commands that show and change it."""

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentforge.app.setup.settings import read_own_settings
from agentforge.core.errors import UsageError
from agentforge.store.site import home_path
from agentforge.system import strict_yaml
from agentforge.system.bounded import SETTINGS_BYTES, read_bounded
from agentforge.system.files import make_own_directory, write_atomic
from agentforge.system.yaml_places import line_of

_TEMPLATE = """\
# Your own settings, for every repository. Everything may be left out.

# The model for every call: PROVIDER:NAME. `agentforge models list` shows what is known.
# model: anthropic:NAME

# Or models by tier; a role asks for a tier, and the first model that answers is used.
# tiers:
#   reasoning: [anthropic:NAME]
#   generation: [anthropic:NAME]
#   summarization: [anthropic:NAME]

# The most that one task may use.
# limits:
#   cost_usd: 2.50
#   calls: 200

# The most that all tasks together may use in a day.
# day_cap:
#   usd: 20
"""
_EXAMPLE = re.compile(r"^# model: .*$", re.MULTILINE)
_PLAIN = re.compile(r"[a-z][\w-]*:[\w./@+-][\w./@:+-]*", re.ASCII)
_COMMENT = re.compile(r"\s+#.*")


@dataclass(frozen=True, slots=True)
class OwnConfig:
    """The settings file of the user."""

    path: Path
    text: str | None
    """None where there is no file."""
    settings: Mapping[str, Any]


def own_config_path() -> Path:
    """Where the user's settings are."""
    return home_path() / "config.yaml"


def read_own_config(*, check: bool = True) -> OwnConfig:
    """The file as it is; `check` refuses one that says something wrong."""
    path = own_config_path()
    try:
        text = read_bounded(path, SETTINGS_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return OwnConfig(path, None, {})
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    if check:
        read_own_settings(path)
    value = strict_yaml.load_settings(text, str(path)) if check else {}
    return OwnConfig(path, text, value if isinstance(value, dict) else {})


def write_own_config(text: str) -> Path:
    """Writes the user's settings, if they are valid: what is there stays otherwise."""
    path = own_config_path()
    make_own_directory(path.parent)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".config-") as place:
        draft = Path(place) / path.name
        draft.touch(0o600)
        draft.write_text(text, "utf-8")
        try:
            read_own_settings(draft)
        except UsageError as error:
            raise UsageError(
                error.sentence.replace(str(draft), str(path)), error.next_step.replace(str(draft), str(path))
            ) from error
    write_atomic(path, text.encode())
    path.chmod(0o600)
    return path


def with_model(text: str | None, spec: str) -> str:
    """The settings with this model for every call; every other line, comments too, is as it was."""
    line = f"model: {spec if _PLAIN.fullmatch(spec) else json.dumps(spec, ensure_ascii=False)}"
    if text is None or not text.strip():
        return _EXAMPLE.sub(lambda _: line, _TEMPLATE, count=1)
    lines = text.splitlines(keepends=True)
    at = line_of(text, ("model",))
    if at is not None:
        comment = _COMMENT.search(lines[at - 1])
        lines[at - 1] = f"{line}{comment[0] if comment else ''}\n"
        return "".join(lines)
    if lines[-1].strip() and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    example = next((place for place, each in enumerate(lines) if _EXAMPLE.match(each)), None)
    if example is not None:
        return "".join([*lines[: example + 1], f"{line}\n", *lines[example + 1 :]])
    return "".join([*lines, f"{line}\n"])


def template() -> str:
    """A file to start from, all of it comments."""
    return _TEMPLATE
