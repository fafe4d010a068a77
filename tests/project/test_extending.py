"""What it takes to add a tool, a gate, a check, an effect and a surface: the files that AGENTS.md names, and no
other. One of each is added to a scratch copy of the package, and used there. A language is added in
`tests/languages/test_languages_table.py`.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import agentforge
from tests.rows import every

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "AGENTS.md").read_text(encoding="utf-8").partition("## How to add")[2]

Edit = tuple[str, str]
"""Words of a file, and what takes their place."""


def before(words: str, new: str) -> Edit:
    return words, new + words


def after(words: str, new: str) -> Edit:
    return words, words + new


@dataclass(frozen=True, slots=True)
class Addition:
    """One thing more that the package can do."""

    new: Mapping[str, str]
    """Files that it adds, by path."""
    edited: Mapping[str, tuple[Edit, ...]]
    """What it changes in others."""

    @property
    def files(self) -> list[str]:
        return [*self.new, *self.edited]


COUNT_LINES = Addition(
    new={
        "tools/look/counting.py": '''\
"""The tool that counts lines."""

from collections.abc import Mapping

from agentforge.core.reply import Json
from agentforge.tools.base import Tool, ToolResult, ToolSpec, Workbench, object_schema, text_of
from agentforge.tools.look.source import read_source


def count_lines(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """How many lines a file has."""
    text = read_source(bench.root, text_of(args, "path")).text
    return ToolResult(ok=True, text=str(len(text.splitlines())))


COUNTING = (
    Tool(
        ToolSpec("count_lines", "Counts lines.", object_schema({"path": {"type": "string"}}), "read"),
        count_lines,
    ),
)
'''
    },
    edited={
        "tools/bridge.py": (
            ("SCANNING, GIT_READING)\n", "SCANNING, GIT_READING, COUNTING)\n"),
            before(
                "from agentforge.tools.look.documentation import",
                "from agentforge.tools.look.counting import COUNTING\n",
            ),
        ),
        "catalog/own_tools.py": (('"analyze_complexity",', '"count_lines", "analyze_complexity",'),),
        "catalog/agents/software_architect.yaml": (
            ("    allowed:\n", "    allowed:\n      - count_lines\n"),
        ),
    },
)
COUNT_LINES_USED = """\
from pathlib import Path
from tempfile import TemporaryDirectory

from agentforge.catalog.contracts import schema_problems
from agentforge.catalog.load import Catalog
from agentforge.core.reply import Action
from agentforge.tools.base import ToolResult, Workbench
from agentforge.tools.bridge import Bridge
from agentforge.tools.paths import PathLimits

def result_for(role, **args):
    bridge = Bridge.of(Catalog.packaged().document("agents", role), PathLimits.compile({}), schema_problems)
    with TemporaryDirectory() as root:
        (Path(root) / "poem.txt").write_text("one\\ntwo\\n")
        bench = Workbench(Path(root), lambda _: ToolResult(ok=False, text=""))
        return [spec.name for spec in bridge.specs()], bridge.perform(Action("count_lines", args), bench)

shown, result = result_for("software_architect", path="poem.txt")
assert "count_lines" in shown and result == ToolResult(ok=True, text="2"), result
assert result_for("software_architect", path=".env")[1].mistake == "path_limit"
assert result_for("software_architect", file="poem.txt")[1].mistake == "bad_arguments"
shown, result = result_for("reviewer", path="poem.txt")
assert "count_lines" not in shown and result.mistake == "forbidden_tool", result
"""

SIZE = Addition(
    new={
        "gates/size.py": '''\
"""Whether a change is small enough to be read."""

from agentforge.gates.verdict import Verdict


def judge_size(lines: int) -> Verdict:
    """Passes up to 400 lines."""
    return Verdict("passed" if lines <= 400 else "failed", (), {"lines": lines})
'''
    },
    edited={
        "core/pipeline.py": (
            (
                'GateName = Literal["red", "green", "quality",',
                'GateName = Literal["red", "green", "quality", "size",',
            ),
        ),
        "activities/judge.py": (
            after('        "quality": quality,\n', '        "size": _size,\n'),
            before(
                "from agentforge.gates.rules.subject import", "from agentforge.gates.size import judge_size\n"
            ),
            before(
                "GATES: Mapping[GateName",
                "def _size(world: World, state: RunView) -> Ruling:\n    return judge_size(7), ()\n\n\n",
            ),
        ),
        "catalog/stages/green.yaml": (
            ("gates: [green, quality, contracts]", "gates: [green, size, contracts]"),
        ),
    },
)
SIZE_USED = """\
from agentforge.activities.judge import GATES
from agentforge.catalog.line import Line, read_only_problem
from agentforge.catalog.load import Catalog
from agentforge.catalog.modes import mode_named
from agentforge.core.pipeline_json import pipeline_from_json
from agentforge.gates.verdict import Verdict

resolved = Catalog.packaged().resolve("implement", "small")
stage = pipeline_from_json(resolved.value["pipeline"]).stage("green")
assert stage.gates == ("green", "size", "contracts"), stage.gates
assert [GATES[gate].__name__ for gate in stage.gates] == ["green", "_size", "_contracts"]
assert GATES["size"](None, None) == (Verdict("passed", (), {"lines": 7}), ())

# Nobody has said that it judges words alone: a mode that changes nothing refuses it.
line = Line("full", ({"name": "trim", "gates": ["size"]},), {})
assert "trim" in str(read_only_problem(line, "design", mode_named("plan")))
"""

SPELLING_CHECK = """\
def _spelling(world: World, state: State) -> CheckDigest:
    return CheckDigest("passed", "every word is known")


"""
SPELLING = Addition(
    new={},
    edited={
        "core/pipeline.py": (('CheckName = Literal["syntax",', 'CheckName = Literal["syntax", "spelling",'),),
        "activities/check.py": (
            before('        "lint": _lint,\n', '        "spelling": _spelling,\n'),
            before("def _syntax(world", SPELLING_CHECK),
        ),
        "catalog/stages/green.yaml": (
            ("checks: [syntax, lint, conformance, types, tests]", "checks: [syntax, spelling, lint, tests]"),
        ),
    },
)
SPELLING_USED = """\
from agentforge.activities.check import CHECKS
from agentforge.catalog.load import Catalog
from agentforge.core.pipeline_json import pipeline_from_json

resolved = Catalog.packaged().resolve("implement", "small")
stage = pipeline_from_json(resolved.value["pipeline"]).stage("green")
assert stage.checks == ("syntax", "spelling", "lint", "tests"), stage.checks
assert CHECKS["spelling"](None, None).summary == "every word is known"
"""

PING_EFFECT = '''\
@dataclass(frozen=True, slots=True)
class Ping(OfRun):
    """Do nothing, once in each step."""

    key: str
    uses: Uses = "nothing"


'''
PING_OUTCOME = '''\
@dataclass(frozen=True, slots=True)
class Pinged:
    """Outcome of `Ping`."""


'''
PING_ARM = """\
        case Pinged():
            own.tell(WaitEnded(own.id))
            return "pinged"
"""
PING_IMPORTED = before("    Prepare,\n", "    Ping,\n")
PINGED_IMPORTED = before("    Prepared,\n", "    Pinged,\n")
PING = Addition(
    new={},
    edited={
        "core/effects.py": (
            before("@dataclass(frozen=True, slots=True)\nclass Act(OfRun):", PING_EFFECT),
            after("RunEffect: TypeAlias = ", "Ping | "),
        ),
        "core/inputs.py": (
            before("@dataclass(frozen=True, slots=True)\nclass Elapsed:", PING_OUTCOME),
            after("    | Elapsed\n", "    | Pinged\n"),
        ),
        "core/machine.py": (
            PING_IMPORTED,
            PINGED_IMPORTED,
            after("Point = Literal[", '"ping", '),
            before('    "ask": Ask,\n', '    "ping": Ping,\n'),
            before("    Await: (),\n", "    Ping: (Pinged,),\n"),
            ('    Assembled: ("ask",', '    Pinged: ("ask", "blocked"),\n    Assembled: ("ping",'),
            ('    ContextAssembled: ("ask",),', '    ContextAssembled: ("ping",),'),
        ),
        "core/pending.py": (
            PING_IMPORTED,
            before("    Ask: _ask,\n", '    Ping: lambda _, run: Ping(run.id, f"{run.prefix}/ping"),\n'),
        ),
        "core/decide.py": (
            PINGED_IMPORTED,
            before("        case Elapsed():\n", PING_ARM),
        ),
        "activities/perform.py": (
            PING_IMPORTED,
            after("import Elapsed, Outcome, ", "Pinged, "),
            before("        case Act():\n", "        case Ping():\n            return Pinged()\n"),
        ),
    },
)
PING_USED = """\
from agentforge.activities.perform import perform
from agentforge.core.digests import ActionResults, ContextDigest
from agentforge.core.evolve import replay
from agentforge.core.inputs import Acted, Assembled, Pinged
from agentforge.engines.temporal.activities import FAMILIES
from agentforge.engines.temporal.answers import family_of
from agentforge.surfaces.cli.pages.now import doing
from tests.core.scenes import EDIT, answered, begun

task = begun()
for _ in range(2):
    task.end("Assemble", Assembled(ContextDigest("context", 500)))
    assert task.owes() == ["Ping"], task.owes()
    assert " · ping · " in doing(task.state), doing(task.state)
    effect = task.owed("Ping")
    outcome = perform(None, effect, task.state)
    assert outcome == Pinged(), outcome
    task.end("Ping", outcome)
    assert (task.owes(), task.why) == (["Ask"], "pinged"), (task.owes(), task.why)
    assert replay(task.events) == task.state
    task.end("Ask", answered())
    task.end("Act", Acted(ActionResults("results", task.state.tree, (EDIT,))))
assert family_of(type(effect)) == "ping"

# The names of the others stay: workflows that are under way know them.
usual = ("prepare", "baseline", "depend", "assemble", "ask", "elapsed", "act", "check", "judge", "commit", "deliver")
assert FAMILIES == (*usual, "ping", "await"), FAMILIES
"""

ECHO = Addition(
    new={
        "surfaces/echo/__init__.py": '"""A surface that lists the pipelines."""\n',
        "surfaces/echo/listing.py": '''\
"""The pipelines, one in a line."""

from pathlib import Path

from agentforge.app.setup.catalogues import list_pipelines, project_catalogue


def listing(where: Path) -> str:
    """The names of the pipelines that a task could run."""
    return "\\n".join(row.name for row in list_pipelines(project_catalogue(where)))
''',
    },
    edited={},
)
ECHO_USED = """\
from pathlib import Path

from agentforge.surfaces.echo.listing import listing

assert "implement" in listing(Path("/")).splitlines()
"""

ADDITIONS = {
    "A tool": COUNT_LINES,
    "A gate": SIZE,
    "A check": SPELLING,
    "An effect": PING,
    "A surface": ECHO,
}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a copy of the package that has all the additions."""
    place = tmp_path_factory.mktemp("scratch")
    package = place / "agentforge"
    shutil.copytree(Path(agentforge.__file__).parent, package)
    for addition in ADDITIONS.values():
        add(package, addition)
    return place


def add(package: Path, addition: Addition) -> None:
    for name, text in addition.new.items():
        path = package / name
        path.parent.mkdir(exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    for name, edits in addition.edited.items():
        text = (package / name).read_text(encoding="utf-8")
        for old, new in edits:
            assert text.count(old) == 1, f"{name}: {old!r} is there {text.count(old)} times"
            text = text.replace(old, new)
        (package / name).write_text(text, encoding="utf-8")


def ran(scratch: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A program at the root of the repository that finds the copy instead of the package."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={"PYTHONPATH": f"{scratch}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )


def paths_named(entry: str) -> list[str]:
    """The files and folders of the package that an entry of "How to add" names."""
    found = re.search(rf"\*\*{entry}\*\*(.*?)(?=\*\*|\n- |\n\n)", GUIDE, re.DOTALL)
    assert found is not None, f"AGENTS.md does not say how to add: {entry}"
    named: list[str] = []
    for path in re.findall(r"`([\w.{},]+/[\w./{},]*)`", found[1]):
        before, _, rest = path.partition("{")
        between, _, after = rest.partition("}")
        named += [f"{before}{each}{after}" for each in between.split(",")]
    return [path for path in dict.fromkeys(named) if not path.startswith("docs/")]


def place_of(file: str, named: Iterable[str]) -> str:
    """The narrowest of the named places that a file is, or is in; itself if it is in none."""
    inside = [path for path in named if file == path or (path.endswith("/") and file.startswith(path))]
    return max(inside, key=len, default=file)


@every("entry", ADDITIONS)
def test_an_addition_takes_the_files_that_the_guide_names_and_no_other(entry: str) -> None:
    named = paths_named(entry)
    assert {place_of(file, named) for file in ADDITIONS[entry].files} == set(named)


def test_an_effect_takes_six_files_at_most() -> None:
    assert len(paths_named("An effect")) <= 6
    assert len(PING.files) <= 6


@pytest.mark.parametrize(
    "used",
    [
        pytest.param(COUNT_LINES_USED, id="a tool is shown to the roles that may use it and is performed"),
        pytest.param(SIZE_USED, id="a gate can be named by a stage and judges"),
        pytest.param(SPELLING_USED, id="a check can be named by a stage and is run"),
        pytest.param(PING_USED, id="an effect is owed, performed and taken in"),
        pytest.param(ECHO_USED, id="a surface calls a use case"),
    ],
)
def test_what_was_added_is_used_like_what_was_there(scratch: Path, used: str) -> None:
    done = ran(scratch, "-c", f"{used}\nimport agentforge\nprint(agentforge.__file__)")
    assert done.stderr == ""
    assert done.stdout == f"{scratch / 'agentforge/__init__.py'}\n"


def layers(scratch: Path) -> subprocess.CompletedProcess[str]:
    """What the import rules of the repository say about the copy."""
    words = ["--cache-dir", str(scratch / "cache"), "--no-logo"]
    return ran(scratch, "-c", "from importlinter.cli import lint_imports_command as run; run()", *words)


def test_what_was_added_keeps_to_the_layers_and_a_surface_that_imports_another_one_does_not(
    scratch: Path,
) -> None:
    kept = layers(scratch)
    assert (kept.returncode, "0 broken" in kept.stdout) == (0, True), kept.stdout + kept.stderr
    other = scratch / "agentforge/surfaces/echo/other.py"
    other.write_text('"""A rule is broken here."""\n\nfrom agentforge.surfaces.cli import main as main\n')
    try:
        broken = layers(scratch)
    finally:
        other.unlink()
    assert broken.returncode == 1, broken.stdout + broken.stderr
    assert "Surfaces do not import one another BROKEN" in broken.stdout
    assert "1 broken" in broken.stdout
