"""Where the user's own directory is."""

import os
from collections.abc import Mapping
from pathlib import Path

from agentforge.core.errors import UsageError
from agentforge.system.visible import one_line

_SET = "Set HOME or AGENTFORGE_HOME."


def home_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own directory: `AGENTFORGE_HOME`, or `~/.agentforge`."""
    given = environ.get("AGENTFORGE_HOME")
    if not given and environ.get("HOME") == "":  # else it would be taken for the root
        raise UsageError("HOME is empty, so your own directory cannot be found.", _SET)
    try:
        place = Path(given).expanduser() if given else Path.home() / ".agentforge"
    except RuntimeError:  # neither HOME nor an account says where it is, or `~NAME` names nobody
        raise UsageError("Your own directory cannot be found.", _SET) from None
    if not place.is_absolute():  # else every directory would get settings and keys of its own
        raise UsageError(
            f"AGENTFORGE_HOME is {one_line(str(place))!r}, which depends on the directory you are in.",
            "Set it to an absolute path.",
        )
    # The directory may itself be a link; nothing below it is followed.
    found = place.resolve()
    if found.exists() and not found.is_dir():
        raise UsageError(
            f"{one_line(str(found))} is no directory, so nothing of yours can be kept there.",
            "Set AGENTFORGE_HOME to a directory of your own.",
        )
    return found
