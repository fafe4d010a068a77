"""`check --fix`: what the project's own programs correct by themselves, tried on copies behind the walls,
shown as a diff, and only then written.
"""

import difflib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.activities.task_permissions import sandbox_name
from agentforge.app.setup.settings import read_own_settings
from agentforge.core.errors import UsageError
from agentforge.languages.conformance import menders, program_of
from agentforge.sandbox.base import Confinement
from agentforge.sandbox.walls.ladder import choose
from agentforge.store.site import Site
from agentforge.system.bounded import SETTINGS_BYTES, read_bounded
from agentforge.system.files import write_atomic

SECONDS = 120


@dataclass(frozen=True, slots=True)
class Mended:
    """How many files the linters and formatters changed, and which of them did."""

    files: int
    programs: tuple[str, ...]


def mend(site: Site, paths: Sequence[str], show: Callable[[str], None]) -> Mended:
    """Mends what can be mended in these files; the diff is shown before anything is written."""
    top = site.project.top
    found = list(menders(top, paths))
    ready = [(where, each) for each in found if (where := program_of(top, each.program)) is not None]
    if not ready:
        names = ", ".join(dict.fromkeys(each.program for each in found))
        missing = f": {names} cannot be found" if names else ""
        raise UsageError(
            f"No program here corrects anything by itself{missing}.",
            "Install the linters that the project uses, or settle one violation by `agentforge fix V-…`.",
        )
    _, own = read_own_settings(site.home.path / "config.yaml")
    walls = choose(sandbox_name(own.sandbox or "auto"), own.container)
    with tempfile.TemporaryDirectory(prefix="agentforge-fix-") as name:
        copy = Path(name).resolve() / "copy"
        files = sorted({path for _, each in ready for path in each.files})
        _lay(top, copy, [*files, *(path for _, each in ready for path in each.settings)])
        for where, each in ready:
            seen = (where.parent, where.resolve().parent)
            confinement = Confinement(cwd=copy, write=(copy,), read=seen, env={}, timeout_s=SECONDS)
            done = walls.run((str(where), *each.words, "--", *each.files), confinement)
            if done.timed_out or done.code not in (0, 1):
                raise UsageError(f"{where.name} ended with {done.code}; nothing was changed.")
        after = {path: _read(copy / path) for path in files}
        changed = {path: data for path, data in after.items() if data and data != _read(top / path)}
        show("".join(_diff(top, path, data) for path, data in changed.items()))
        for path, data in changed.items():
            write_atomic(top / path, data, durable=False)
    return Mended(len(changed), tuple(dict.fromkeys(where.name for where, _ in ready)))


def _lay(top: Path, copy: Path, paths: Sequence[str]) -> None:
    for path in paths:
        data = _read(top / path)
        if data is not None:
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes(data)


def _read(path: Path) -> bytes | None:
    try:
        return read_bounded(path, SETTINGS_BYTES, follow=False)
    except OSError:
        return None


def _diff(top: Path, path: str, data: bytes) -> str:
    def lines(text: bytes) -> Iterator[str]:
        yield from text.decode("utf-8", "replace").splitlines(keepends=True)

    before = list(lines(_read(top / path) or b""))
    return "".join(difflib.unified_diff(before, list(lines(data)), f"a/{path}", f"b/{path}"))
