"""The package as a library: its names, what importing it costs, and the example of the documentation, run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import agentforge
from tests.surfaces.scene import CODE, PATCH, QUESTION, REVIEW, TEST, make_scene

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_of_the_documentation_runs_and_prints_only_its_own_line(
    tmp_path: Path, environments: Path
) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    files = {"greeting.py": CODE, "tests/test_greeting.py": TEST}
    scene = make_scene(tmp_path, files)
    model = scene.script(("patch", QUESTION), ("patch", PATCH), ("review", REVIEW))
    done = subprocess.run(
        [sys.executable, "-c", example.replace("openai:NAME", model)],
        cwd=scene.top,
        env=dict(scene.environ),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert (done.stdout, done.stderr) == (f"completed agentforge/{scene.task} True\n", "")


def test_every_name_is_there_and_every_function_is_in_the_documentation() -> None:
    names = [name for names in agentforge.NAMES.values() for name in names.split()]
    found = {name: getattr(agentforge, name) for name in names}
    source = Path(agentforge.__file__).read_text(encoding="utf-8")
    assert sorted(names) == sorted(re.findall(r"(\w+) as \1", source))
    functions = {name for name, value in found.items() if callable(value) and name[0].islower()}
    assert {name for name in functions if f"`{name}(" not in PAGE} == set()
    with pytest.raises(AttributeError, match="has no attribute 'begin'"):
        _ = agentforge.begin  # type: ignore[attr-defined]  # that is the claim
