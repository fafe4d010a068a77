"""The documents say what the program does: what they quote is compared, what they point to exists, what they
show is valid.
"""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from agentforge.app.drivers.connection import read_temporal
from agentforge.app.setup.settings import USER_KEYS, check_settings, read_own_settings
from agentforge.catalog.contracts import compile_contract
from agentforge.catalog.load import Catalog
from agentforge.core.pipeline import GATE_NAMES, LANES, PREDICATES
from agentforge.models.known.providers import known
from agentforge.models.known.tiers import read_tiers
from agentforge.store.task.lines import parse_lines
from agentforge.surfaces.cli.command_list import COMMANDS
from agentforge.surfaces.cli.main import cli
from agentforge.system import strict_yaml

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "agentforge"
TOP = ("README.md", "AGENTS.md", "CHANGELOG.md")
DOCUMENTS = [ROOT / name for name in TOP] + sorted((ROOT / "docs").rglob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
VARIABLE = re.compile(r"\b(?:AGENTFORGE|OPENAI)_[A-Z_]*[A-Z]\b")
FORBIDDEN = re.compile(
    r"https?://|\b[\w.-]+\.(?:org|com|io|net|internal)\b|/(?:home|root|work|Users|tmp|mnt)/\w|\bspec-decisions\b|\bthe seeds?\b",
    re.IGNORECASE,
)
NOT_FOR_PEOPLE = frozenset({"OPENAI_URL", "AGENTFORGE_LINES"})
"""A constant of ours that looks like a variable, and what a judge tells the program that it watches."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(text_of(name)) if kind == language]


def anchors(document: Path) -> set[str]:
    """The headings of a document as links name them."""
    prose = FENCE.sub("", document.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_what_the_documents_quote_of_the_program_is_fresh() -> None:
    checked = subprocess.run(
        [sys.executable, str(ROOT / "scripts/make-docs"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_the_reference_holds_the_help_that_a_person_sees() -> None:
    command = Path(sys.executable).with_name("agentforge")
    if not command.exists():
        pytest.skip("agentforge is not installed beside this interpreter")
    said = subprocess.run([str(command), "--help"], capture_output=True, text=True, check=True).stdout
    quoted = blocks("docs/commands.md", "text")[0]
    assert said.split() == quoted.split()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_leads_somewhere(document: Path) -> None:
    lost = []
    for link in LINK.findall(FENCE.sub("", document.read_text(encoding="utf-8"))):
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_no_document_names_a_host_or_a_path_of_a_machine(document: Path) -> None:
    assert [match[0] for match in FORBIDDEN.finditer(document.read_text(encoding="utf-8"))] == []


def test_the_guide_for_contributors_stays_short() -> None:
    assert len(text_of("AGENTS.md").splitlines()) < 100


@pytest.mark.parametrize("name", ["AGENTS.md", "docs/architecture.md"])
def test_the_map_names_every_package(name: str) -> None:
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    parts = packages | ({path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"})
    assert {part for part in parts if not re.search(rf"\b{part}\b", text_of(name))} == set()


@pytest.mark.parametrize("name", ["README.md", "AGENTS.md"])
def test_every_make_target_named_is_there(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    assert set(re.findall(r"^\$ make ([a-z-]+)", text_of(name), re.MULTILINE)) <= targets


def test_every_file_that_the_guide_names_is_there() -> None:
    named = re.findall(r"`((?:[\w-]+/)+[\w.-]+\.(?:py|yaml))`", text_of("AGENTS.md"))
    assert named
    assert [path for path in named if not (ROOT / path).exists() and not (PACKAGE / path).exists()] == []


def test_the_settings_shown_are_valid_and_complete() -> None:
    shown = blocks("docs/settings.md", "yaml")[0]
    value = check_settings(strict_yaml.load_settings(shown, "docs/settings.md"), "docs/settings.md")
    contract = Catalog.packaged().contract("settings")
    # a mapping: the dialect says so
    assert set(value) == set(contract.document["schema"])  # type: ignore[arg-type]


def test_the_configuration_shown_can_be_used(tmp_path: Path) -> None:
    shown = (
        blocks("docs/settings.md", "yaml")[-1]
        .replace("ADDRESS", "http://127.0.0.1:9/v1")
        .replace("/srv/shared", str(tmp_path))
    )
    (tmp_path / "config.yaml").write_text(shown, encoding="utf-8")
    shared, own = read_own_settings(tmp_path / "config.yaml")
    providers = known({}, own.providers)
    read_tiers(shared, {}, model=None, providers=providers)
    read_temporal({"AGENTFORGE_HOME": str(tmp_path)})
    assert "lab" in providers
    value = strict_yaml.load_settings(shown, "docs/settings.md")
    assert isinstance(value, dict)
    assert set(value) == {*USER_KEYS, "sandbox"}


def test_every_variable_a_person_can_set_is_explained_and_no_other() -> None:
    read = {
        found
        for path in PACKAGE.rglob("*.py")
        for found in VARIABLE.findall(path.read_text(encoding="utf-8"))
    }
    rows = re.findall(r"^\| `([A-Z_]+)` \|", text_of("docs/settings.md"), re.MULTILINE)
    assert sorted(rows) == sorted(read - NOT_FOR_PEOPLE)


def test_the_lanes_and_stages_shown_are_those_of_the_pipeline() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([\w, ]+) \|$", text_of("docs/tasks.md"), re.MULTILINE))
    catalogue = Catalog.packaged()
    assert rows == {
        lane: ", ".join(stage.name for stage in catalogue.resolve("implement", lane).pipeline().stages)
        for lane in LANES
    }


def test_the_gates_and_rules_named_exist() -> None:
    (row,) = re.findall(
        r"^\| \*\*Gate\*\* \| a judge: ([^.]+)\.", text_of("docs/architecture.md"), re.MULTILINE
    )
    assert set(re.findall(r"`(\w+)`", row)) == set(GATE_NAMES)
    (rules,) = re.findall(
        r"^`validation` names rules.+?(?=\n\n)", text_of("docs/contracts.md"), re.MULTILINE | re.DOTALL
    )
    assert set(re.findall(r"`(\w+_\w+)`", rules)) <= set(PREDICATES)


def test_the_contract_and_the_override_shown_are_accepted() -> None:
    contract, override = blocks("docs/contracts.md", "yaml")
    compile_contract(strict_yaml.load_settings(contract, "docs/contracts.md"), "docs/contracts.md")
    path = override.splitlines()[0].removeprefix("# ")
    changed = Catalog.packaged().with_overrides({path: override}).resolve("implement", "small")
    assert "Every public function has a docstring." in str(changed.to_json()["roles"])


def test_the_line_of_a_journal_shown_is_a_real_one() -> None:
    (line,) = blocks("docs/journal.md", "text")
    path = ROOT / "tests/store/journals/v2-small-lane.yaml"
    data = path.read_bytes()
    assert line.encode() in data
    assert [entry.seq for entry in parse_lines(data, path)] == list(range(1, data.count(b"\n- ") + 1))


def test_the_list_of_commands_is_in_the_index() -> None:
    rows = re.findall(r"^\| `agentforge (\w+)` \| (.+) \|$", text_of("docs/README.md"), re.MULTILINE)
    assert rows == [(name, entry.help) for name, entry in COMMANDS.items() if entry.help]


def test_the_path_for_newcomers_is_read_in_twenty_minutes() -> None:
    part = text_of("AGENTS.md").partition("## Read first")[2].partition("## The map")[0]
    named = [name for name in re.findall(r"`([\w/.]+)`", part) if not name.startswith("docs/")]
    files = [path for name in named for path in (ROOT / name, PACKAGE / name) if path.is_file()]
    assert len(files) == len(named) == 10
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 1500


def test_the_readme_is_short_and_fits_a_terminal() -> None:
    lines = text_of("README.md").splitlines()
    assert len(lines) < 150
    assert [line for line in lines if len(line) > 100] == []


def test_every_page_is_reached_from_the_index_which_the_readme_names() -> None:
    index = ROOT / "docs/README.md"
    assert "docs/README.md" in LINK.findall(text_of("README.md"))
    named = {
        (index.parent / link.partition("#")[0]).resolve() for link in LINK.findall(text_of("docs/README.md"))
    }
    pages = {path.resolve() for path in (ROOT / "docs").rglob("*.md")} - {index.resolve()}
    assert pages - named == set()


@pytest.mark.parametrize("document", [page for page in DOCUMENTS if page.name != "CHANGELOG.md"], ids=name_of)
def test_every_command_and_option_that_a_page_names_is_there(document: Path) -> None:
    """In fences and code spans; a line may go on with what is no option."""
    text = document.read_text(encoding="utf-8")
    spans = [body for _, body in FENCE.findall(text)] + re.findall(
        r"`(agentforge [^`]+)`", FENCE.sub("", text)
    )
    wrong = []
    for line in (line.strip().removeprefix("$ ") for body in spans for line in body.splitlines()):
        if line.startswith("agentforge "):
            wrong += [f"{line}: {fault}" for fault in faults(line.split("#")[0].split()[1:])]
    assert wrong == []


def faults(words: list[str]) -> list[str]:
    """What no command of ours has: its name, or an option."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        below = command.get_command(click.Context(command), words[0])
        if below is None:
            return [words[0]] if words[0].islower() and words[0].isascii() else []
        command, words = below, words[1:]
    known = {name for parameter in command.params for name in parameter.opts} | {"--help", "-h", "--version"}
    words = words[: words.index("--")] if "--" in words else words
    return [
        word for word in words if word.startswith("--") and word.partition("=")[0].rstrip(",.") not in known
    ]


def test_a_command_or_option_that_is_not_there_would_be_found() -> None:
    assert faults(["start", "x", "--bogus"]) == ["--bogus"]
    assert faults(["strat", "x"]) == ["strat"]
    assert faults(["models", "tset"]) == ["tset"]
    assert faults(["sandbox", "run", "--", "ls", "--all"]) == []
