"""The first hour with AgentForge, in a fresh account and at a real terminal: install, set up, a wrong key and a
wrong model, projects of every shape, Ctrl-C, `kill -9`, continue, clean, uninstall.

Everything that was typed and shown is in one transcript; its path is printed at the end, and `FIRST_HOUR` names
another one. `make wide TESTS=tests/wide/test_first_hour.py`
"""

import json
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentforge.core.reply import Json
from agentforge.testing import AnthropicServer
from tests.wide.account import BIN, Account, interrupt_at
from tests.wide.released import MEMBERS, PROJECTS, Released

pytestmark = [
    pytest.mark.wide,
    pytest.mark.slow,
    pytest.mark.network,
    pytest.mark.timeout(4 * 3600),  # each command has a limit of its own: what it computes
    pytest.mark.xdist_group("first-hour"),
]

KEY, WRONG = "a-right-key-of-9-parts", "a-wrong-key-of-9-parts"
MODELS = ("claude-sonnet-5-5", "claude-opus-5-5")
READY: dict[str, Json] = {"actions": [{"name": "ready", "args": {"word": "ready"}}], "summary": "Ready."}
OUTCOMES: dict[str, str] = {}
TYPESCRIPT = {
    "package.json": '{"name": "shop", "version": "1.0.0", "scripts": {"test": "node --test"}}\n',
    "src/price.ts": "export function net(price: number): number {\n  return price;\n}\n",
    "tsconfig.json": '{"compilerOptions": {"strict": true}}\n',
}


class Provider:
    """What the model says: the change to who asks for it, and an approval to the last reader."""

    def __init__(self) -> None:
        self.change: dict[str, Any] = {}
        self.approval: dict[str, Any] = {}

    def __call__(self, body: Mapping[str, Json]) -> Mapping[str, Json]:
        role = str(body.get("system"))
        if "being tried out" in role:
            return READY
        return self.approval if "the last reader before a person" in role else self.change


@pytest.fixture(scope="module")
def provider() -> Provider:
    return Provider()


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Account]:
    top = tmp_path_factory.mktemp("account")
    (top / "home").mkdir()
    made = Account(top / "home", Path(os.environ.get("FIRST_HOUR") or top / "transcript.txt"))
    with AnthropicServer(provider, models=MODELS, key=KEY) as server:
        made.variables = {
            "ANTHROPIC_BASE_URL": server.base_url,
            **dict.fromkeys(
                ("LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL"), "http://127.0.0.1:9/v1"
            ),
            "OLLAMA_HOST": "127.0.0.1:9",
        }
        code, shown = made.install()
        assert code == 0, shown
        first_words(made)
        set_up(made)
        yield made
        clean_up(made)
        uninstall(made)
        made.note("\nOutcomes\n" + "".join(f"  {name}: {what}\n" for name, what in OUTCOMES.items()))
        print(f"\ntranscript: {made.transcript}")  # noqa: T201 - where to read on


def first_words(account: Account) -> None:
    """Before there is a model."""
    empty = account.home / "empty"
    empty.mkdir()
    code, shown = account.type("agentforge", "--help", at=empty)
    assert (code, "setup" in shown) == (0, True)
    code, shown = account.type("agentforge", "doctor", at=empty)
    assert "agentforge setup" in shown or "model: anthropic:NAME" in shown
    assert f"{account.home}/.agentforge" in shown
    code, shown = account.type("agentforge", "start", "Add a flag", at=empty)
    assert (code, "git init" in shown) == (2, True), shown
    code, shown = account.type("agentforge", "status", at=empty)
    assert code == 2
    repository = account.check_out(
        {"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n', "x.py": "y = 1\n"}, "x"
    )
    code, shown = account.type("agentforge", "start", "Add a flag", at=repository)
    assert (code, "agentforge setup" in shown) == (2, True), shown


def set_up(account: Account) -> None:
    """Without the provider's library, whose hint is typed; then with a wrong key and a wrong model first."""
    code, shown = account.type("agentforge", "setup", at=account.home, answers=[("Provider [anthropic]", "")])
    assert (code, "its library is not installed" in shown) == (2, True)
    hint = " ".join(shown.partition("Run: ")[2].split()).replace("uv tool", f"{BIN}/uv tool", 1)
    code, shown = account.type("/bin/sh", "-c", hint, at=account.home)
    assert code == 0, shown
    code, shown = account.type(
        "agentforge",
        "setup",
        at=account.home,
        answers=[
            ("Provider [anthropic]", ""),
            ("(not shown)", WRONG),
            ("(not shown)", KEY),
            ("by number or name [claude-sonnet-5-5]", "claude-opus"),
            ("by number or name [claude-sonnet-5-5]", ""),
        ],
    )
    assert code == 0, shown
    assert "does not take the key (401)" in shown
    assert "has no model claude-opus" in shown
    assert f"Written: {account.home}/.agentforge/config.yaml." in shown
    assert KEY not in shown
    code, shown = account.type("agentforge", "config", "show", at=account.home)
    assert (code, "anthropic:claude-sonnet-5-5" in shown) == (0, True)


def test_a_wrong_model_on_the_command_line(account: Account) -> None:
    code, shown = account.type(
        "agentforge", "start", "Add a flag", "--model", "anthropic:claude-sonet", at=account.home / "src/x"
    )
    assert (code, "nearest first: claude-sonnet-5-5" in shown) == (2, True), shown
    assert not (account.home / "src/x/.agentforge/tasks").exists(), "nothing was begun"


def test_a_repository_in_typescript(account: Account) -> None:
    top = account.check_out(TYPESCRIPT, "shop")
    code, shown = account.type("agentforge", "init", at=top)
    assert code in (0, 2), shown
    code, shown = account.type("agentforge", "start", "Take the discount off in net()", at=top)
    OUTCOMES["a TypeScript repository"] = f"exit {code}"
    assert code in (2, 3), shown


def test_interrupted_killed_and_continued(account: Account, provider: Provider) -> None:
    project = next(each for each in PROJECTS if each.name == "polib")
    top = account.check_out(project.files(downloads(account)), "polib-again")
    request = "Add a function half(number) to a new module halves.py: it returns half of the number"
    provider.change, provider.approval = (
        _renamed(reply, "first_hour", "halves", "TestHalf", "TestHalves") for reply in project.replies()
    )
    words = ("agentforge", "start", request, "--lane", "hotfix")
    code, shown = account.type(*words, at=top, meanwhile=interrupt_at("worktree ready"))
    assert (code, "resumes the task" in shown) == (130, True), shown
    code, shown = account.type(
        "agentforge",
        "continue",
        at=top,
        meanwhile=interrupt_at("running the tests on the base", signal.SIGKILL),
    )
    if code != 0:  # a quick machine may have been done
        assert code == -signal.SIGKILL
        assert "Stopped: " in account.type("agentforge", "status", at=top)[1]
        code, shown = account.type("agentforge", "continue", at=top)
    assert code == 0, shown
    assert account.type("agentforge", "continue", at=top)[0] == 0, "a finished task says so again"


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_a_released_project(account: Account, provider: Provider, project: Released) -> None:
    top = account.check_out(project.files(downloads(account)), project.name)
    deliver(account, provider, project, top)


def test_a_workspace_of_uv(account: Account, provider: Provider) -> None:
    files: dict[str, bytes | str] = {
        "pyproject.toml": '[project]\nname = "both"\nversion = "1"\nrequires-python = ">=3.11"\n\n'
        '[tool.uv.workspace]\nmembers = ["packages/*"]\n\n[dependency-groups]\ndev = ["pytest"]\n'
    }
    first = next(each for each in PROJECTS if each.name == MEMBERS[0])
    for member in (each for each in PROJECTS if each.name in MEMBERS):
        files |= {
            f"packages/{member.name}/{path}": data for path, data in member.files(downloads(account)).items()
        }
    inside = f"packages/{first.name}"
    project = Released(
        "a uv workspace",
        "",
        "two released projects in one",
        f"{inside}/{first.code}",
        first.package,
        f"{inside}/{first.tests}",
    )
    deliver(account, provider, project, account.check_out(files, "workspace"))


def downloads(account: Account) -> Path:
    return account.home.parent / "downloads"


def deliver(account: Account, provider: Provider, project: Released, top: Path) -> None:
    """`init`, then the request to its end; what came of it is noted. A question is an end, a failure is none."""
    code, shown = account.type("agentforge", "init", at=top)
    assert code == 0, shown
    provider.change, provider.approval = project.replies()
    code, shown = account.type("agentforge", "start", project.request, "--lane", "hotfix", at=top)
    base = next((line for line in shown.splitlines() if line.startswith("baseline:")), "no baseline")
    asked = next((line.strip() for line in shown.splitlines() if "needs your answer" in line), "")
    OUTCOMES[project.name] = f"exit {code}; {base.strip()}; {asked or 'delivered'}"
    assert code in (0, 3), shown
    if code == 0:
        assert "failed → passed" in shown
        assert account.type("agentforge", "verify", "@1", at=top)[0] == 0
        assert account.type("agentforge", "merge", "@1", at=top)[0] in (0, 2)


def _renamed(reply: dict[str, Any], *pairs: str) -> dict[str, Any]:
    text = json.dumps(reply)
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        text = text.replace(old, new)
    renamed: dict[str, Any] = json.loads(text)
    return renamed


def clean_up(account: Account) -> None:
    """What it cost, what is there, and what may go."""
    top = account.home / "src" / "x"
    for words in (
        ("status", "--all"),
        ("cost",),
        ("trees", "list"),
        ("inbox", "--json"),
        ("clean", "--dry-run"),
        ("clean",),
    ):
        code, shown = account.type("agentforge", *words, at=top)
        assert code in (0, 3), shown


def uninstall(account: Account) -> None:
    """What is left is said by the transcript."""
    code, shown = account.type(str(BIN / "uv"), "tool", "uninstall", "agentforge-pipeline", at=account.home)
    assert code == 0, shown
    assert not (account.home / ".local/bin/agentforge").exists()
    left = sorted(path.name for path in account.home.iterdir() if path.name.startswith("."))
    account.note(f"left in the home: {', '.join(left)}\n")
    assert set(left) <= {".agentforge", ".cache", ".local", ".config"}
