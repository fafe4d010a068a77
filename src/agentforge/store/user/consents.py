"""The tools of repositories that a person has looked at and agreed to: by project and by the hash of what is
declared.

The file is the user's own. One that cannot be read, or that others could have written, holds no consent.
"""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.task.times import stamp
from agentforge.store.user.own_files import locked, read_own, replace_own
from agentforge.system import strict_yaml

MOST = 2000
"""Entries beyond which the oldest are forgotten: then a person is asked once more."""

_DIGEST = re.compile(r"[0-9a-f]{16,128}")


def consents_file(home: Home) -> Path:
    """Where a user's consents are."""
    return home.path / "consents.yaml"


def consented(home: Home, project: str, digest: str) -> bool:
    """Whether a person agreed to this very content in this project. `project` is the real path of the
    checkout.
    """
    try:
        entries = _read(consents_file(home))
    except UsageError:
        return False
    return any(entry["project"] == project and entry["digest"] == digest for entry in entries)


def consent(home: Home, project: str, digest: str, now: datetime) -> None:
    """Write one more. A damaged file is left as it is, and refused."""
    if not _DIGEST.fullmatch(digest) or not project:
        raise ValueError(f"{digest!r} of {project!r} is nothing that can be agreed to")
    path = consents_file(home)
    with locked(path):
        entries = _read(path)
        if all((entry["project"], entry["digest"]) != (project, digest) for entry in entries):
            added = [*entries, {"project": project, "digest": digest, "at": stamp(now)}]
            replace_own(path, strict_yaml.dump({"consents": added[-MOST:]}).encode())


def _read(path: Path) -> list[dict[str, str]]:
    try:
        data = read_own(path)
        return [] if data is None else _entries(strict_yaml.load(data.decode("utf-8"), path.name))
    except UnicodeDecodeError:
        problem = "is not text in UTF-8"
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except UsageError as error:
        problem = f"is damaged ({error.sentence.rstrip('.')})"
    raise UsageError(
        f"{path} {problem}; no consent counts until it is fixed.", "Fix or remove the file, then try again."
    )


def _entries(document: Any) -> list[dict[str, str]]:  # noqa: ANN401  a document is any YAML
    if document is None:
        return []
    if (
        not isinstance(document, dict)
        or set(document) != {"consents"}
        or not isinstance(document["consents"], list)
    ):
        raise UsageError("it is a mapping with one key, `consents`, which is a list")
    for number, entry in enumerate(document["consents"], 1):
        if (
            not isinstance(entry, dict)
            or set(entry) != {"project", "digest", "at"}
            or not all(isinstance(each, str) for each in entry.values())
        ):
            raise UsageError(f"consent {number} is a mapping of project, digest and at, all of them text")
    return list(document["consents"])
