"""Pages that documents may cite: fetched or handed over by a person, kept in the repository with their hash.

    sources/sources.yaml            address, time, hash and file of each
    sources/HOST-HASH.SUFFIX        the page as it was

A task changes neither. Committing them is the person's own decision.
"""

import hashlib
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.languages.documents.citations import RECORDS, recorded
from agentforge.languages.documents.library import Library, TreeShelf
from agentforge.store.site import Site
from agentforge.system import strict_yaml
from agentforge.system.bounded import read_bounded
from agentforge.system.files import resolve_inside, write_atomic

FOLDER = "sources"
MOST_BYTES = 16 << 20
TIMEOUT_S = 30
_SUFFIXES = {"text/html": ".html", "application/pdf": ".pdf", "application/json": ".json"}


@dataclass(frozen=True, slots=True)
class RecordedPage:
    """One recorded page."""

    url: str
    file: str
    sha256: str
    state: str = "kept"
    """`kept`, or what is wrong with its copy."""

    def to_json(self) -> dict[str, Json]:
        """As `--json` prints it."""
        return {"url": self.url, "file": self.file, "sha256": self.sha256, "state": self.state}


def add_source(site: Site, url: str, saved: Path | None = None) -> RecordedPage:
    """Record a page: as it is fetched now, or as a file holds it. One that is recorded already is renewed."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise UsageError(f"{url} is not the address of a page.", "It begins with https:// and names no user.")
    data, suffix = _fetched(url) if saved is None else (_handed_over(saved), saved.suffix)
    digest = hashlib.sha256(data).hexdigest()
    name = re.sub(r"[^\w.-]", "-", parts.hostname)
    file = f"{name}-{digest[:12]}{suffix if re.fullmatch(r'[.][a-z0-9]{1,8}', suffix) else '.txt'}"
    record = f"{FOLDER}/{RECORDS}"
    rows = [row for row in _rows(site, record) if row.get("url") != url]
    rows.append({"url": url, "fetched": f"{site.clock():%Y-%m-%dT%H:%M:%SZ}", "sha256": digest, "file": file})
    for path, content in (
        (f"{FOLDER}/{file}", data),
        (record, strict_yaml.dump({"sources": [*rows]}).encode()),
    ):
        place = resolve_inside(site.git.top, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(place, content)
    return RecordedPage(url, f"{FOLDER}/{file}", digest)


def list_sources(site: Site) -> list[RecordedPage]:
    """What is recorded in the checkout, each with whether its copy is as it was."""
    library = Library(TreeShelf(site.git.top))
    found = []
    for url, (file, digest) in recorded(library).items():
        data = library.data(file)
        state = (
            "missing" if data is None else "kept" if hashlib.sha256(data).hexdigest() == digest else "changed"
        )
        found.append(RecordedPage(url, file, digest, state))
    return found


def _rows(site: Site, record: str) -> list[dict[str, Json]]:
    place = resolve_inside(site.git.top, record)
    value = strict_yaml.load_file(place)
    rows = value.get("sources") if isinstance(value, dict) else []
    if value is not None and not isinstance(rows, list):
        raise UsageError(f"{record} is not a record of sources.", "Fix or remove it.")
    return [row for row in rows or [] if isinstance(row, dict)] if isinstance(rows, list) else []


def _handed_over(saved: Path) -> bytes:
    try:
        return read_bounded(saved, MOST_BYTES)
    except OSError as error:
        raise UsageError(
            f"{saved} cannot be read: {error.strerror}.", "Name a file that holds the page."
        ) from None


def _fetched(url: str) -> tuple[bytes, str]:
    request = urllib.request.Request(url, headers={"user-agent": "agentforge"})  # noqa: S310 - checked above
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310 - checked above
            data = answer.read(MOST_BYTES + 1)
            kind = answer.headers.get_content_type()
    except (urllib.error.URLError, HTTPException, OSError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise UsageError(
            f"{url} could not be fetched: {why}.", "Save the page yourself, and record it with `--from FILE`."
        ) from None
    if len(data) > MOST_BYTES:
        raise UsageError(f"{url} is larger than {MOST_BYTES >> 20} MiB.", "Record a smaller page.")
    return data, _SUFFIXES.get(kind, ".txt")
