"""What a person said when they started a task: what is allowed, how strictly, and with which walls.

It lies in the user's own directory, by repository and task. A repository can bring a journal along, and no
journal can say what a person allowed. Where it is missing nothing is allowed beforehand; where it is damaged,
or others could have written it, everything is asked.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home, plain_name, repo_name
from agentforge.store.user.own_files import read_own, replace_own
from agentforge.system import strict_yaml
from agentforge.system.files import make_own_directory

Area = Literal["files", "shell", "network", "web", "mcp"]
"""What `--allow-…` can speak of."""
AREAS: tuple[Area, ...] = get_args(Area)

_SWITCHES = ("strict", "interactive", "yes", "grants")
_TEXTS = ("sandbox", "marker", "suggested")


@dataclass(frozen=True, slots=True)
class StartPermissions:
    """What a person allowed when they started a task. By default nothing, and what would be
    asked is asked.
    """

    allow: frozenset[Area] = frozenset()
    strict: bool = False
    interactive: bool = True
    """False: nobody is asked, and what would be asked is denied."""
    yes: bool = False
    """What would be asked is allowed, unless it is critical."""
    sandbox: str = ""
    """`none`, where a person may say so and did. The walls that stand are on record; that there may be none
    is not.
    """
    marker: str = ""
    """Of the task that this was said about: a journal that only has its name is another one."""
    grants: bool = True
    """False: standing grants of the user do not count: a replay only looks, unless a person says more."""
    suggested: str = ""
    """The digest of the models that the repository suggested, where nobody else named one."""


class StoredPermissions(NamedTuple):
    """What the file of a task holds, or why nothing of it counts."""

    permissions: StartPermissions
    problem: str = ""


def permissions_file(home: Home, repo: Path, task_id: str) -> Path:
    """The file that holds what was allowed for one task."""
    return home.path / "wishes" / repo_name(repo) / f"{plain_name(task_id)}.yaml"


def read_permissions(path: Path) -> StoredPermissions:
    """What was allowed. If anything is wrong with the file, a sentence, and as strict as can be: it may have
    said so.
    """
    try:
        data = read_own(path)
        if data is None:
            return StoredPermissions(StartPermissions())
        return StoredPermissions(_parsed(strict_yaml.load(data.decode("utf-8"), path.name)))
    except UnicodeDecodeError:
        problem = "is not text in UTF-8"
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except UsageError as error:
        problem = f"is damaged ({error.sentence.rstrip('.')})"
    return StoredPermissions(
        StartPermissions(strict=True),
        f"{path} {problem}; until you say it again with flags of `agentforge continue`, all is asked.",
    )


def write_permissions(path: Path, permissions: StartPermissions) -> None:
    """Stores what is allowed from now on, in place of what was."""
    value = {
        "allow": [area for area in AREAS if area in permissions.allow],
        "strict": permissions.strict,
        "interactive": permissions.interactive,
        "yes": permissions.yes,
        "grants": permissions.grants,
        "sandbox": permissions.sandbox,
        "marker": permissions.marker,
        "suggested": permissions.suggested,
    }
    make_own_directory(path.parent, 0o700)
    replace_own(path, strict_yaml.dump(value).encode())


def _parsed(document: Any) -> StartPermissions:  # noqa: ANN401  a document is any YAML
    if not isinstance(document, dict):
        raise UsageError("it is a mapping")
    if unknown := sorted(str(key) for key in set(document) - {"allow", *_TEXTS, *_SWITCHES}):
        raise UsageError(f"it has the unknown key `{unknown[0]}`")
    allow = document.get("allow", [])
    if not isinstance(allow, list) or not all(area in AREAS for area in allow):
        raise UsageError(f"`allow` is a list of {', '.join(AREAS)}")
    switches = {name: document[name] for name in _SWITCHES if name in document}
    if wrong := next((name for name, value in switches.items() if not isinstance(value, bool)), None):
        raise UsageError(f"`{wrong}` is true or false")
    texts = {name: document[name] for name in _TEXTS if name in document}
    if wrong := next((name for name, value in texts.items() if not isinstance(value, str)), None):
        raise UsageError(f"`{wrong}` is text")
    return StartPermissions(frozenset(allow), **switches, **texts)
