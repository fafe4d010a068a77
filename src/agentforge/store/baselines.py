"""What the suite of a commit did, kept beside the environment that it ran in: a second task on that commit
need not run it again.

A file that is damaged, of another format or not there is no file: the suite is run. It goes with its
environment, and no run of a project can see it.
"""

import contextlib
import json
from pathlib import Path
from typing import cast

from agentforge.core.errors import AgentForgeError
from agentforge.core.reply import Json
from agentforge.system.canon import digest_value
from agentforge.system.files import write_atomic
from agentforge.system.unlinked import make_unlinked, read_unlinked

FORMAT = 1


def read_kept(folder: Path, about: Json) -> dict[str, Json] | None:
    """What was kept about this; None if nothing was, or nothing that is whole."""
    try:
        value = json.loads(read_unlinked(_file(folder, about)))
    except (OSError, ValueError, AgentForgeError):
        return None
    if not isinstance(value, dict) or (value.get("format"), value.get("about")) != (FORMAT, about):
        return None
    body = value.get("body")
    if not isinstance(body, dict) or digest_value(cast("Json", body)) != value.get("hash"):
        return None
    return body


def keep(folder: Path, about: Json, body: dict[str, Json]) -> None:
    """Keep it for the next task. What cannot be written is not kept, and nobody is the worse for it."""
    whole: Json = {"format": FORMAT, "about": about, "hash": digest_value(body), "body": body}
    with contextlib.suppress(OSError, AgentForgeError):
        make_unlinked(folder)
        write_atomic(_file(folder, about), json.dumps(whole).encode(), durable=False)


def _file(folder: Path, about: Json) -> Path:
    return folder / f"{digest_value(about)}.json"
