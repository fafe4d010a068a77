"""Runs of a judge that are kept for a session of the tests: each question about the same files is put to a real
judge once, whichever test asks first. Who asks again is told what it said, under the names of their own run.

For whole tasks that are about what follows from a verdict (`tests/conftest.py` names them). What a judged test
does must follow from its files: what looks at a clock, at chance or at anything outside is judged anew.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentforge.sandbox.base import Confinement
from agentforge.system.processes import Completed

_MOST_FILES = 500
_OWN = ("key", "token", "report", "root", "hidden")
"""Settings that only name this very run."""


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """A folder of runs, by what was asked."""

    place: Path

    def run(self, argv: Sequence[str], confinement: Confinement, judge: Callable[[], Completed]) -> Completed:
        """What a judge says to this; it is started if none has been asked before."""
        settings = json.loads(confinement.input)
        tree = Path(settings["root"])
        if settings["coverage"] or tree in confinement.write:
            return judge()
        own = _Own(settings["root"], str(Path(settings["report"]).parents[1]), settings["token"])
        if (files := _digest(tree)) is None:
            return judge()
        asked = [
            argv,
            dict(confinement.env),
            {name: value for name, value in settings.items() if name not in _OWN},
        ]
        text = own.without(json.dumps([*asked, str(confinement.cwd), files], sort_keys=True))
        kept = self.place / hashlib.sha256(text.encode()).hexdigest()
        report, key = Path(settings["report"]), bytes.fromhex(settings["key"])
        if kept.exists():
            return _told_again(json.loads(own.put_in(kept.read_text())), argv, report, key)
        done = judge()
        facts = [] if done.timed_out or not report.exists() else list(_facts(report, key))
        if facts and facts[-1] is not None and facts[-1]["kind"] == "end" and None not in facts:
            self._keep(kept, own.without(json.dumps(_told(done, facts))))
        return done

    def _keep(self, kept: Path, text: str) -> None:
        self.place.mkdir(exist_ok=True)
        new = kept.with_name(f"{kept.name}.{os.getpid()}")
        new.write_text(text)
        new.rename(kept)


class _Own:
    """The words that differ from run to run, for which others stand in."""

    def __init__(self, *words: str) -> None:
        spelled = {json.dumps(word)[1:-1]: f"<own word {place}>" for place, word in enumerate(words)}
        self._words = sorted(spelled.items(), key=lambda pair: -len(pair[0]))

    def without(self, text: str) -> str:
        for word, stand_in in self._words:
            text = text.replace(word, stand_in)
        return text

    def put_in(self, text: str) -> str:
        for word, stand_in in self._words:
            text = text.replace(stand_in, word)
        return text


def _facts(report: Path, key: bytes) -> Iterator[dict[str, Any] | None]:
    """What the judge wrote, line by line; None for what somebody else did."""
    for line in report.read_bytes().splitlines():
        mac, _, body = line.partition(b" ")
        ours = hashlib.blake2b(body, key=key, digest_size=16).hexdigest().encode()
        yield json.loads(body) if mac == ours else None


def _told(done: Completed, facts: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    out, err = (text.decode("utf-8", "surrogateescape") for text in (done.out, done.err))
    return {"code": done.code, "out": out, "err": err, "facts": facts}


def _told_again(kept: Mapping[str, Any], argv: Sequence[str], report: Path, key: bytes) -> Completed:
    """Writes the report that the judge would write for whoever has this key."""
    started, begun = time.monotonic(), hashlib.blake2b(key=key, digest_size=16)
    with report.open("wb") as file:
        for fact in kept["facts"]:
            body, mac = json.dumps(fact).encode(), begun.copy()
            mac.update(body)
            file.write(mac.hexdigest().encode() + b" " + body + b"\n")
    out, err = (kept[name].encode("utf-8", "surrogateescape") for name in ("out", "err"))
    took = round((time.monotonic() - started) * 1000)
    return Completed(tuple(argv), kept["code"], out, err, timed_out=False, seconds_ms=took, truncated=False)


def _digest(tree: Path) -> str | None:
    """All files below a folder; None for too many."""
    found = hashlib.sha256()
    for number, path in enumerate(_files(tree)):
        if number == _MOST_FILES:
            return None
        name = bytes(path.relative_to(tree))
        data = bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
        found.update(b"%d %o %b\0%d\0" % (len(name), path.lstat().st_mode, name, len(data)))
        found.update(data)
    return found.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path))
        else:
            yield Path(entry.path)
