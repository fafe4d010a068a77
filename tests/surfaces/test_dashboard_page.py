"""The page: small, of one piece, nothing from elsewhere, and all text as text."""

import gzip
import re
from pathlib import Path

from agentforge.surfaces import dashboard
from agentforge.surfaces.dashboard.page import static_files

SCRIPTS = {name: file.data.decode() for name, file in static_files().items() if name.endswith(".js")}
OURS = {name: text for name, text in SCRIPTS.items() if not name.startswith("vendor/")}
_ALLOWED = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml", "http://www.w3.org/1999/xlink"}
"""Names of namespaces; nothing is loaded from there."""


def test_all_scripts_together_are_small_when_compressed() -> None:
    assert {"app.js", "board.js", "task.js"} <= OURS.keys()
    assert sum(len(gzip.compress(text.encode(), 9)) for text in SCRIPTS.values()) <= 60_000


def test_no_text_becomes_markup_or_code() -> None:
    for name, text in OURS.items():
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "new Function",
            "srcdoc",
        ):
            assert word not in text, (name, word)
    page = static_files()["index.html"].data.decode()
    assert re.findall(r"<script(?![^>]*src=)", page) == []
    assert re.findall(r"\son\w+=|\sstyle=|javascript:", page) == []


def test_nothing_is_loaded_from_elsewhere() -> None:
    for name, file in static_files().items():
        if file.kind.startswith("image/"):
            continue
        found = {each.rstrip("/") for each in re.findall(r"https?://[\w./-]+", file.data.decode())}
        assert found <= _ALLOWED, (name, found)
        assert not re.search(r"@import|url\(", file.data.decode()) or name.endswith(".js"), name


def test_what_the_scripts_import_is_there() -> None:
    for name, text in OURS.items():
        for wanted in re.findall(r'from "\./([^"]+)"', text):
            assert wanted in SCRIPTS, (name, wanted)


def test_the_licences_of_what_is_vendored_lie_beside_it() -> None:
    place = Path(dashboard.__file__).parent / "static" / "vendor"
    assert "Apache License" in (place / "LICENSE-htm.txt").read_text()
    assert "MIT License" in (place / "LICENSE-preact.txt").read_text()
