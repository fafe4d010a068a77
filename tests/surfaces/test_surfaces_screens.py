"""How the screens look at 80 and at 200 columns, kept as text beside this file to be looked at: whoever changes
one changes its picture, with `SCREENS=write`, and reads it.

Digits are nought in the pictures, and whatever else is different each time has one form.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forked
from tests.surfaces.scene import CODE, PATCH, QUESTION, REVIEW, TEST, Scene, make_scene

pytestmark = pytest.mark.slow

PICTURES = Path(__file__).with_name("screens")
WIDTHS = (80, 200)
DEMO = "demo-"
"""The demo's pictures are looked at where the demo runs."""
REQUEST = "The greeting of an empty name must be Hello world, in every language that it has"
FORMS = (
    (re.compile(r"\x1b\[[0-9;?]*[A-Za-z]"), ""),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "2030-01-31T00:00:00.000Z"),
    (re.compile(r"\b[0-9a-f]{10}([0-9a-f]{2})?\b"), lambda found: "0" * len(found[0])),
    (re.compile(r" *\b\d+s\b"), " 0s"),
    (re.compile(r" *\b\d+ (KiB|MiB)"), " 0 KiB"),
    (re.compile(r"\r+\n"), "\n"),
    (re.compile(r"(?m)^.*\r"), ""),
    (re.compile(r"[\u2800-\u28ff]\s*\n"), ""),
    (re.compile(r"(bubblewrap|landlock.*)$", re.MULTILINE), "WALLS"),
    (re.compile(r"(?m)[ \t]+$"), ""),
    (re.compile(r"\d"), "0"),
)
WAITING = {
    "status-waiting": ("status",),
    "escalations-show": ("escalations", "show", "ESC-001"),
    "escalations-list": ("escalations", "list"),
    "models-list": ("models", "list"),
}
DONE = {
    "end": ("continue",),
    "status-done": ("status",),
    "status-task": ("status", "@1"),
    "cost": ("cost",),
    "trees-list": ("trees", "list"),
    "inspect": ("inspect", "@1"),
}


@pytest.fixture(scope="module")
def shown(environments: Path) -> Iterator[dict[str, str]]:
    """Every screen at every width, by name."""
    root = (
        Path(tempfile.gettempdir()) / f"af{os.getpid():08d}"
    )  # as long as any other: it is part of the screens
    try:
        yield dict(_screens(make_scene(root, {"greeting.py": CODE, "tests/test_greeting.py": TEST})))
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _screens(scene: Scene) -> Iterator[tuple[str, str]]:
    model = scene.script(("patch", QUESTION), ("patch", PATCH), ("review", REVIEW))
    away = dict.fromkeys(("LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL"), "http://127.0.0.1:9/v1")
    own = {"TERM": "xterm", "NO_COLOR": "1", "OLLAMA_HOST": "127.0.0.1:9", **away}
    of_the_runner = ("_API_KEY", "COLUMNS", "LINES")
    keyless = {name: value for name, value in scene.environ.items() if not name.endswith(of_the_runner)}

    def looked_at(screens: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
        for width in WIDTHS:
            for name, words in screens.items():
                _, text = forked.at_a_terminal(words, scene.top, keyless | own, width)
                yield f"{name}-{width}", same_each_time(text)

    assert scene.run("start", REQUEST, "--lane", "hotfix", "--model", model).returncode == 3
    yield from looked_at(WAITING)
    yield "inbox", same_each_time(scene.run("inbox").stdout)
    assert scene.run("resolve", "ESC-001", "--answer", "world").returncode == 0
    yield from looked_at(DONE)


def same_each_time(text: str) -> str:
    for pattern, form in FORMS:
        text = pattern.sub(form, text)
    return f"{text.strip()}\n"


def test_every_screen_looks_as_its_picture(shown: dict[str, str]) -> None:
    if os.environ.get("SCREENS") == "write":
        PICTURES.mkdir(exist_ok=True)
        for name, text in shown.items():
            (PICTURES / f"{name}.txt").write_text(text, encoding="utf-8")
    kept = {path.stem: path.read_text(encoding="utf-8") for path in PICTURES.glob("*.txt")}
    assert shown == {name: text for name, text in kept.items() if not name.startswith(DEMO)}


def test_no_table_and_no_frame_is_wider_than_the_screen(shown: dict[str, str]) -> None:
    """Sentences are broken by the terminal; what stands in columns would fall apart."""
    whole = ("cost", "trees-list", "inspect", "status-waiting", "status-done")
    for width in WIDTHS:
        for name in whole:
            assert [line for line in shown[f"{name}-{width}"].splitlines() if len(line) > width] == []


def test_the_costs_and_the_requests_are_seen_at_80_columns(shown: dict[str, str]) -> None:
    assert shown["cost-80"].splitlines()[0].split()[-1] == "cost"
    assert "$0.00" in shown["cost-80"]
    assert "The greeting of an empty name" in shown["status-waiting-80"]


def test_what_doctor_says_is_broken_at_words(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, {"a.py": "x = 1\n"})
    _, text = forked.at_a_terminal(("doctor",), scene.top, {**scene.environ, "TERM": "xterm"}, 80)
    long = [line for line in text.splitlines() if len(line) > 80 and " " in line.strip()[23:]]
    assert long == []
