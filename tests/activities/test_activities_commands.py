"""Programs that a role runs: what they see, what they may change, how they end, and what is kept of what they
said.
"""

import shutil
import stat
import sys
import time
from pathlib import Path

import pytest

from agentforge.activities.commands import Outputs, Surroundings, run_in
from agentforge.core.errors import ModelMistake
from agentforge.languages.values import Environment
from agentforge.sandbox.guarded import GUARDED, Guard, is_guarded
from agentforge.sandbox.walls import ladder
from agentforge.sandbox.worktree import Workspace
from agentforge.tools.base import RESULT_CHARS, Act, Permit, SandboxedProgram, ToolResult
from agentforge.tools.roots import Root
from tests.depth import SOAK
from tests.gates.bench_of_judges import make_site

FILES = {
    "src/a.py": "x = 1\n",
    "tests/test_a.py": "def test_a():\n    assert True\n",
    ".github/workflows/ci.yml": "on: push\n",
    ".agentforge/config/settings.yaml": "model: openai:x\n",
    ".gitignore": "build/\n",
    "ci/config.yml": "jobs: {}\n",
}
# With an end in a usual run: that the walls hold against one without is shown where they are tested.
BOMB = (
    "f() { f | f & }; f; sleep 61"
    if SOAK
    else "f() { [ $1 = 0 ] || { f $(($1-1)) & f $(($1-1)) & }; sleep 61; }; f 7"
)


@pytest.fixture(scope="module")
def shared_surroundings(tmp_path_factory: pytest.TempPathFactory) -> Surroundings:
    place = tmp_path_factory.mktemp("surroundings")
    site = make_site(place, FILES)
    env = Environment(
        Path(sys.prefix),
        Path(sys.executable),
        site.runner.env.source,
        (".",),
        (),
        "test",
        "",
        Path(sys.base_prefix),
    )
    return Surroundings(
        Workspace(site.git, place / "space", "task-1"), ladder.choose("auto"), env, site.git.head()
    )


@pytest.fixture
def surroundings(shared_surroundings: Surroundings) -> Surroundings:
    """The same one with the base in it."""
    shared_surroundings.workspace.snapshot() if shared_surroundings.workspace.worktree.exists() else None
    shared_surroundings.workspace.reset_to(
        shared_surroundings.workspace.git.tree_of(shared_surroundings.base_commit),
        shared_surroundings.base_commit,
    )
    shutil.rmtree(shared_surroundings.workspace.root.parent / "task", ignore_errors=True)
    return shared_surroundings


def anything(_act: Act, _path: str) -> None:
    """A role without limits."""


def only_source(act: Act, path: str) -> None:
    if not path.startswith("src/"):
        raise ModelMistake("path_limit", f"{act} of `{path}` is outside what this role may write")


def run(
    surroundings: Surroundings, *words: str, seconds: int = 20, permit: Permit = anything, writes: bool = True
) -> ToolResult:
    outputs = Outputs(surroundings.workspace.root.parent / "task", 3)
    return run_in(surroundings, outputs, SandboxedProgram(words, seconds, permit, writes))


def sh(
    surroundings: Surroundings,
    script: str,
    *words: str,
    permit: Permit = anything,
    writes: bool = True,
    seconds: int = 20,
) -> ToolResult:
    return run(surroundings, "sh", "-c", script, *words, permit=permit, writes=writes, seconds=seconds)


def test_a_program_works_in_the_worktree_with_the_tasks_environment_and_no_input(
    surroundings: Surroundings,
) -> None:
    looks = "pwd; cat; command -v python; echo word; echo other >&2; "
    result = sh(
        surroundings, looks + "mkdir -p build lib; echo 1 >lib/new.txt; echo 2 >build/x; rm tests/test_a.py"
    )
    place = surroundings.workspace.worktree
    assert result.ok
    assert "exit code 0 after" in result.text
    for said in (str(place.resolve()), f"{sys.prefix}/bin/python", "word", "other"):
        assert said in result.text
    assert result.wrote == ("lib/new.txt", "tests/test_a.py")
    assert result.created == ("lib/new.txt",)
    assert "Changed: lib/new.txt (A), tests/test_a.py (D)" in result.text
    assert (place / "build/x").read_text() == "2\n"


def test_a_program_that_fails_has_run_and_one_that_is_not_there_says_so(surroundings: Surroundings) -> None:
    failed = sh(surroundings, "echo no; exit 3")
    assert (failed.ok, failed.mistake) == (True, "")
    assert "exit code 3" in failed.text
    absent = run(surroundings, "no-such-program", "--x")
    assert "exit code 127" in absent.text
    assert "No such file" in absent.text
    quiet = run(surroundings, "true")
    assert "It printed nothing." in quiet.text


def test_the_projects_own_programs_work_and_leave_no_litter(surroundings: Surroundings) -> None:
    tests = run(surroundings, "python", "-m", "pytest", "-q", "-p", "no:anyio", "-p", "no:schemathesis")
    assert "1 passed" in tests.text
    assert tests.wrote == ()
    assert not (surroundings.workspace.worktree / ".pytest_cache").exists()
    assert "?? new.txt" in sh(surroundings, "echo x >new.txt; git status --short; git log --oneline").text


def test_there_is_no_network_and_nothing_of_the_person(surroundings: Surroundings, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("mine\n")
    code = (
        "import socket, pathlib\ntry: "
        f"print(pathlib.Path({str(tmp_path / 'secret.txt')!r}).read_text())\nexcept OSError: "
        "print('closed')\n"
    )
    code += "try: socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as error: print('no way')\n"
    result = run(surroundings, "python", "-c", code)
    assert "closed" in result.text
    assert "no way" in result.text


@pytest.mark.parametrize(
    ("script", "bomb"),
    [
        pytest.param("sleep 61 & wait", False, id="background"),
        pytest.param("mkfifo p; cat p", False, id="reader"),
        pytest.param(BOMB, True, id="bomb", marks=pytest.mark.slow),
    ],
)
def test_when_its_time_is_up_it_ends_with_all_that_it_started(
    surroundings: Surroundings, script: str, *, bomb: bool
) -> None:
    mark = f"mark-{time.monotonic_ns()}"
    started = time.monotonic()
    result = sh(surroundings, script, mark, seconds=1)
    # The claim is two seconds; a busy machine needs longer to start, and for thousands of processes to end.
    assert time.monotonic() - started < 30
    # A bomb has met the bound on processes by then, where the machine is quick.
    assert (result.ok, result.mistake) in ((False, "timed_out"), (False, "out_of_bounds" if bomb else ""))
    assert "it timed out" in result.text or (bomb and "out of bounds" in result.text)
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark in _words(path)]


def _words(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""


def test_what_runs_later_outside_cannot_be_changed(surroundings: Surroundings) -> None:
    place = surroundings.workspace.worktree
    (place / ".circleci").symlink_to("ci")
    surroundings.workspace.snapshot()
    tries = [
        "echo x >>.github/workflows/ci.yml",
        "rm -rf .github",
        "mv .github other",
        "echo x >.github/workflows/more.yml",
        "mkdir -p .git/hooks && echo x >.git/hooks/pre-commit",
        "echo x >>.agentforge/config/settings.yaml",
        "echo x >>ci/config.yml",
        "echo x >.circleci/more.yml",
    ]
    script = "\n".join(f"({each}) 2>/dev/null && echo 'done: {each}'" for each in tries)
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    result = sh(surroundings, f"{script}\ntrue")
    assert "It printed nothing." in result.text
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before
    assert result.wrote == ()


def test_what_a_program_makes_all_the_same_is_taken_away_and_told(surroundings: Surroundings) -> None:
    place = surroundings.workspace.worktree
    (place / ".circleci").symlink_to("ci")
    surroundings.workspace.snapshot()
    made = (
        "mkdir .husky && echo x >.husky/pre-commit; echo x >Jenkinsfile; ln -s src .woodpecker; rm "
        ".circleci; mkdir .circleci; "
    )
    result = sh(surroundings, made + "echo y >src/b.py")
    assert result.ok
    assert not any((place / name).exists() for name in (".husky", "Jenkinsfile", ".woodpecker"))
    assert (place / ".circleci").readlink() == Path("ci")
    assert "Removed again" in result.text
    assert all(name in result.text for name in (".circleci", ".husky", "Jenkinsfile", ".woodpecker"))
    assert result.wrote == ("src/b.py",)


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".GitHub",
        "Jenkinsfile.prod",
        "azure-pipelines-nightly.yml",
        ".woodpecker.yml",
        "lefthook-local.yml",
    ],
)
def test_names_are_guarded_by_pattern_and_in_any_case(name: str, tmp_path: Path) -> None:
    assert is_guarded(f"{name}/x") or is_guarded(name)
    assert not is_guarded(f"src/{name}")
    (tmp_path / name).mkdir()
    assert Guard.over(tmp_path).read_only() == (tmp_path / name,)
    assert all(each == each.casefold() for each in GUARDED)


def test_a_path_outside_of_the_roles_limits_takes_every_change_back(surroundings: Surroundings) -> None:
    place = surroundings.workspace.worktree
    fine = sh(surroundings, "echo 2 >src/a.py", permit=only_source)
    assert fine.wrote == ("src/a.py",)
    tree = surroundings.workspace.snapshot()
    result = sh(
        surroundings,
        "echo 3 >src/a.py; echo 1 >src/new.py; echo no >tests/test_a.py; echo said",
        permit=only_source,
    )
    assert (result.ok, result.mistake, result.wrote) == (False, "path_limit", ())
    assert "- tests/test_a.py: edit of" in result.text
    assert "said" in result.text
    assert (place / "src/a.py").read_text() == "2\n"
    assert not (place / "src/new.py").exists()
    assert surroundings.workspace.snapshot() == tree


def test_a_link_that_leads_out_takes_every_change_back(surroundings: Surroundings) -> None:
    result = sh(surroundings, "ln -s /etc/hosts src/hosts; ln -s ../src/a.py tests/inside.py")
    assert (result.ok, result.mistake) == (False, "path_limit")
    assert "- src/hosts: the path" in result.text
    assert "- tests/inside.py" not in result.text
    assert not (surroundings.workspace.worktree / "src/hosts").is_symlink()


def test_a_program_that_only_reads_cannot_write(surroundings: Surroundings) -> None:
    result = sh(
        surroundings,
        "cat src/a.py; echo x >src/a.py || echo refused; echo x >new || echo refused too",
        writes=False,
    )
    assert "x = 1" in result.text
    assert "refused too" in result.text
    assert (surroundings.workspace.worktree / "src/a.py").read_text() == "x = 1\n"


def test_long_output_is_cut_in_the_middle_and_kept_whole_without_its_secrets(
    surroundings: Surroundings,
) -> None:
    key = "ghp_" + "a1B2" * 10
    code = f"print('first'); print('x ' * 4000); print('{key}'); print('y ' * 4000); print('last')"
    result = run(surroundings, "python", "-c", code)
    assert len(result.text) <= RESULT_CHARS
    assert "first" in result.text
    assert result.text.rstrip().endswith("last")
    assert "people find the whole in outputs/3-1.txt" in result.text
    kept = surroundings.workspace.root.parent / "task/outputs/3-1.txt"
    text = kept.read_text()
    assert text.startswith("first\nx x")
    assert text.endswith("y \nlast\n")
    assert "[REDACTED:github_token]" in text
    assert key not in text
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "outputs/3-2.txt" in run(surroundings, "python", "-c", "print('z' * 500_000)").text


def test_an_opened_directory_is_there_for_a_program_that_names_it(
    surroundings: Surroundings, tmp_path: Path
) -> None:
    shared, drop = tmp_path / "shared", tmp_path / "drop"
    for folder in (shared, drop):
        folder.mkdir()
        (folder / "note.txt").write_text("a note\n")
    wide = Surroundings(
        surroundings.workspace,
        surroundings.sandbox,
        surroundings.environment,
        surroundings.base_commit,
        (Root(shared), Root(drop, write=True)),
    )
    script = (
        f"cat {shared}/note.txt; echo x >{shared}/note.txt || echo refused; echo y >{drop}/new.txt; "
        f"mkdir {drop}/.github"
    )
    result = sh(wide, script)
    assert "a note" in result.text
    assert "refused" in result.text
    assert (shared / "note.txt").read_text() == "a note\n"
    assert (drop / "new.txt").read_text() == "y\n"
    assert not (drop / ".github").exists()
    hidden = sh(wide, "cat ../../sha''red/note.txt || echo hidden")
    assert "hidden" in hidden.text
