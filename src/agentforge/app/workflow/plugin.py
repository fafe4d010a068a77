"""The plugin for Claude Code in a workspace: installed, taken out again, and what its hooks do.

What is written is noted in a file beside it, so that taking it out knows what is ours. A file that was there
before, or that somebody has changed since, stays and is named.
"""

import contextlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePosixPath

from agentforge import __version__
from agentforge.core.errors import ModelMistake, PolicyError, UsageError
from agentforge.integrations.claude_code import (
    HOOK,
    MARKETPLACE,
    SETTINGS,
    read_settings,
    with_hooks,
    without_hooks,
    workspace_files,
)
from agentforge.system.beneath import (
    Content,
    OpenRoot,
    read_beneath,
    remove_beneath,
    replace_beneath,
    state_beneath,
)
from agentforge.system.bounded import SETTINGS_BYTES
from agentforge.system.visible import one_line

RECEIPT = ".claude/forge/plugin.json"


@dataclass(frozen=True, slots=True)
class PluginChange:
    """What an installation, or its opposite, did to a workspace."""

    workspace: Path
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Files of somebody else, or changed since: they stay as they are."""


@dataclass(frozen=True, slots=True)
class _Receipt:
    """The files that an installation of the plugin wrote."""

    files: Mapping[str, str] = field(default_factory=dict)
    """The hash of each file."""
    made: tuple[str, ...] = ()
    """What the settings did not have before: itself, named by an empty text, and containers in it."""


def marketplace_path() -> Path:
    """The folder that Claude Code can install the plugin from."""
    return MARKETPLACE


def install_plugin(workspace: Path) -> PluginChange:
    """Gives a workspace our commands, agents, skill and hooks; a second time changes nothing."""
    top = _top(workspace)
    with _no_links():
        old = _receipt(top)
        settings = _read(top, SETTINGS)
        text = "{}\n" if settings is None else _decoded(settings)
        new_text, made = with_hooks(text)
        if settings is None:
            made = ["", *made]
        files, kept = _files_to_write(top, old)
        if HOOK in kept and new_text != text:
            raise PolicyError(
                f"{HOOK} is not the plugin's, and Claude Code would run it, so nothing was changed.",
                "Move it out of the way, and repeat the command.",
            )
        noted = {path: _hash(data) for path, data in workspace_files().items() if path not in kept}
        files[RECEIPT] = _note(_Receipt(noted, tuple(dict.fromkeys((*old.made, *made)))))
        files[SETTINGS] = new_text.encode()  # last: whatever ends us before, the receipt knows of its parts
        written = [path for path, data in files.items() if _put(top, path, data)]
    return PluginChange(top, written=tuple(sorted(written)), kept=tuple(kept))


def uninstall_plugin(workspace: Path) -> PluginChange:
    """Takes out what an installation wrote, and nothing else."""
    top = _top(workspace)
    with _no_links():
        old = _receipt(top)
        removed: list[str] = []
        kept: list[str] = []
        written: list[str] = []
        settings = _read(top, SETTINGS)
        if settings is not None:
            rest = without_hooks(_decoded(settings), [way for way in old.made if way])
            if "" in old.made and not read_settings(rest):
                removed.append(SETTINGS)
            elif _put(top, SETTINGS, rest.encode()):
                written.append(SETTINGS)
        for path, data in workspace_files().items():
            found = _read(top, path)
            if found is not None:
                is_ours = _hash(found) == old.files.get(path, _hash(data))
                (removed if is_ours else kept).append(path)
        if _read(top, RECEIPT) is not None:
            removed.append(RECEIPT)
        for path in removed:
            remove_beneath(top, path)
        _remove_empty_folders(top, removed)
    return PluginChange(top, tuple(written), tuple(sorted(removed)), tuple(kept))


def _top(workspace: Path) -> Path:
    top = Path(os.path.realpath(workspace))
    if not top.is_dir():
        raise UsageError(f"{one_line(str(workspace))} is not a directory.", "Name the top of a project.")
    return top


@contextlib.contextmanager
def _no_links() -> Iterator[None]:
    """A link in a workspace's `.claude` may lead anywhere, so it is refused in one sentence."""
    try:
        yield
    except ModelMistake as error:
        raise PolicyError(
            f"Nothing is written through links: {error.text}.", "Remove it, and repeat the command."
        ) from error


def _files_to_write(top: Path, old: _Receipt) -> tuple[dict[str, bytes], list[str]]:
    """Our files, without those that somebody else has made, or has changed since we did; and these."""
    files = workspace_files()
    kept = []
    for path, data in files.items():
        found = _read(top, path)
        if found is not None and found != data and _hash(found) != old.files.get(path):
            kept.append(path)
    return {path: data for path, data in files.items() if path not in kept}, kept


def _read(top: Path, path: str) -> bytes | None:
    try:
        found = read_beneath(top, path, SETTINGS_BYTES)
    except FileNotFoundError:
        return None
    if len(found) > SETTINGS_BYTES:
        raise UsageError(f"{path} is larger than any such file.", "Move it away, and repeat the command.")
    return found


def _put(top: Path, path: str, data: bytes) -> bool:
    """Puts a file where it is to be, with the permissions that it has; False if it is like that already."""
    if _read(top, path) == data:
        return False
    about = state_beneath(top, path)
    mode = stat.S_IMODE(about.st_mode) if about is not None else None
    replace_beneath(top, path, Content(data, mode))
    return True


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{SETTINGS} is not UTF-8, so nothing was changed.", "Correct the file, and repeat the command."
        ) from error


def _receipt(top: Path) -> _Receipt:
    """What an installation noted. One that cannot be read is as good as none: then today's hashes count."""
    try:
        found = json.loads(_read(top, RECEIPT) or b"{}")
        made = tuple(way for way in found.get("made", ()) if way == "" or way.split("/")[0] == "hooks")
        return _Receipt(dict(found.get("files", {})), made)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return _Receipt()


def _note(receipt: _Receipt) -> bytes:
    noted = {"version": __version__, "made": list(receipt.made), "files": dict(sorted(receipt.files.items()))}
    return (json.dumps(noted, indent=2) + "\n").encode()


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()


def _remove_empty_folders(top: Path, removed: list[str]) -> None:
    folders = {parent for path in removed for parent in PurePosixPath(path).parents if parent.name}
    with OpenRoot(top) as root:
        for folder in sorted(folders, key=lambda each: -len(each.parts)):
            root.drop_folder(str(folder))
