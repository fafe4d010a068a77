"""Hostile calls by every tool and every name of it: nothing is run, nothing is written outside, nothing
secret is read, nothing hangs.
"""

import contextlib
import ctypes
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from agentforge.core.reply import Action, Json
from agentforge.tools.base import WRITING_TOOLS, ToolResult, Workbench
from agentforge.tools.bridge import ALIASES, TOOLS, Bridge, real_action
from agentforge.tools.look.searching import REGEX_SECONDS
from agentforge.tools.paths import PathLimits, closed_to_all
from tests.depth import SOAK
from tests.fuzzing import tries
from tests.rows import every

SECRET = "the-secret-of-outside"


def refuse(*_args: object) -> ToolResult:
    raise AssertionError("nothing was to run")


def check(schema: Mapping[str, Json], value: Json) -> list[str]:
    return [error.message for error in jsonschema_rs.validator_for(dict(schema)).iter_errors(value)]


def bridge(allowed: Sequence[str] = tuple(TOOLS), forbidden: Sequence[str] = ()) -> Bridge:
    role: dict[str, Json] = {
        "agent": {"role": "tester"},
        "capabilities": {"tools": {"allowed": list(allowed), "forbidden": list(forbidden)}},
    }
    return Bridge.of(role, PathLimits.compile({}), check)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    root = tmp_path / "tree"
    files = {
        "a.txt": "hello\n",
        "e.js": "let a = OLD;\n",
        "src/x.py": "x = 1\n",
        ".env": f"K={SECRET}\n",
        "keys/id_rsa": SECRET,
        ".git/config": SECRET,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f.txt").write_text(SECRET)
    (root / "link").symlink_to(outside)
    (root / "dang").symlink_to(outside / "d")
    (root / "file").symlink_to(outside / "f.txt")
    (root / "innocent.txt").symlink_to(".env")
    (root / "proc").symlink_to("/proc/self/root")
    os.mkfifo(root / "pipe")
    return Workbench(root, refuse, command=refuse)


def snapshot(root: Path) -> dict[str, bytes]:
    paths = [
        Path(folder, name) for folder, folders, names in os.walk(root.parent) for name in (*folders, *names)
    ]
    return {
        str(path): path.read_bytes() if path.is_file() and not path.is_symlink() else b"" for path in paths
    }


def test_the_table_says_what_each_tool_does_and_how_much_it_can_spoil() -> None:
    assert {name for name, tool in TOOLS.items() if tool.spec.effect == "write"} == WRITING_TOOLS | {
        "apply_patch",
        "move_file",
    }
    assert not {tool.spec.effect for tool in TOOLS.values()} - {
        "pure",
        "read",
        "write",
        "execute",
        "network",
        "control",
    }
    assert {tool.spec.risk for tool in TOOLS.values() if tool.spec.effect == "read"} == {"low"}
    assert "low" not in {
        tool.spec.risk for tool in TOOLS.values() if tool.spec.effect in ("write", "execute", "network")
    }
    assert {name for name, tool in TOOLS.items() if tool.spec.risk == "high"} == {"run_command"}


# ------------------------------------------------------------------ calls that must change nothing

PLACES = [
    "dang",
    "link/x",
    "link/nd/a.txt",
    "file",
    "../x",
    "/tmp/x",
    "~/x",
    "proc/tmp/x",
    "link/../../x",
    ".git/hooks/pre-commit",
    "src/../../x",
]
PLACES += [
    ".",
    "",
    "./",
    "..",
    "/",
    "//",
    "a\0b",
    ".GIT/config",
    "keys/id_rsa",
    ".env",
    ".ssh/config",
    ".aws/credentials",
    ".bashrc",
    "pipe/x",
]


def calls(path: str) -> list[Action]:
    patch = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    return [
        Action("create_file", {"path": path, "content": "x"}),
        Action("write_file", {"path": path, "content": "x"}),
        Action("write_file", {"path": path, "content": "x", "mode": "append"}),
        Action("edit_file", {"path": path, "old": SECRET, "new": "x"}),
        Action("move_file", {"source": "a.txt", "target": path}),
        Action("move_file", {"source": path, "target": "new.txt"}),
        Action("apply_patch", {"patch": patch}),
        Action(
            "apply_patch", {"patch": f"diff --git a/a.txt b/{path}\nrename from a.txt\nrename to {path}\n"}
        ),
        Action("read_file", {"path": path}),
        Action("list_dir", {"path": path}),
        Action("grep", {"pattern": SECRET, "path": path}),
        Action("glob", {"pattern": "*", "path": path}),
    ]


@every("path", PLACES)
def test_no_call_leaves_the_root_by_any_tool_or_name(bench: Workbench, path: str) -> None:
    before = snapshot(bench.root)
    for action in calls(path):
        result = bridge().perform(action, bench)
        assert SECRET not in result.text.replace(repr(SECRET), "").replace(f"`{SECRET}`", ""), action
        assert not result.wrote, action
        if action.name not in ("list_dir", "grep", "glob"):
            assert not result.ok, action
    assert snapshot(bench.root) == before


@every(
    ("name", "args", "kind"),
    [
        ("grep", {"pattern": "x", "maxResults": "1; touch PWN"}, "bad_arguments"),
        ("grep", {"pattern": "x", "max": 1, "maxResults": 2}, "bad_arguments"),
        ("grep", {"pattern": "x", "maxResults": 1, "max_results": 2}, "bad_arguments"),
        ("search_codebase", {"pattern": "x", "max": 1, "maxResults": 2}, "bad_arguments"),
        ("run_tests", {"framework": "pytest", "target": "; touch PWN"}, "bad_arguments"),
        ("delete_file", {"path": ".", "recursive": True}, "bad_arguments"),
        ("delete_file", {"path": "."}, "not_a_file"),
        ("move_file", {"from": "a.txt", "to": "link/nd/a.txt"}, "path_limit"),
        ("move_file", {"from": "a.txt", "source": "a.txt", "to": "b.txt"}, "bad_arguments"),
        ("edit_file", {"path": "dang", "oldText": "x", "newText": "y"}, "path_limit"),
        ("delete_file", {"path": "src"}, "not_a_file"),
        ("delete_file", {"path": "src/.."}, "not_a_file"),
        ("create_file", {"path": "x", "content": "\ud800"}, "not_text"),
        ("create_file", {"path": "x" * 1001, "content": ""}, "bad_arguments"),
        ("edit_file", {"path": "pipe", "old": "a", "new": "b"}, "no_such_file"),
        ("move_file", {"source": "pipe", "target": "x"}, "not_a_file"),
        ("run_command", {"command": "sleep 6; true"}, "not_plain"),
        ("run_command", {"argv": "rm -rf /"}, "bad_arguments"),
        ("run_command", {"argv": ["a"], "timeout": 10_000}, "bad_arguments"),
        ("run_command", {"argv": ["a"], "shell": True}, "bad_arguments"),
        ("run_command", {"argv": ["a"], "cwd": "/"}, "bad_arguments"),
        ("git_log", {"limit": 10**9}, "bad_arguments"),
        ("ask_user", {"question": "x"}, "unknown_tool"),
        ("web.fetch", {"url": "http://[::ffff:127.0.0.1]/"}, "unknown_tool"),
        ("commit", {}, "forbidden_tool"),
        ("__import__", {}, "unknown_tool"),
    ],
)
def test_a_call_that_is_wrong_is_answered_and_nothing_happens(
    bench: Workbench, name: str, args: dict[str, Json], kind: str
) -> None:
    before = snapshot(bench.root)
    result = bridge().perform(Action(name, args), bench)
    assert (result.ok, result.mistake) == (False, kind), result.text
    assert snapshot(bench.root) == before


@every(
    ("name", "args", "unknown"),
    [
        ("grep", {"pattern": "hello", "flags": "--pre=touch"}, "flags"),
        ("search_codebase", {"pattern": "hello", "flags": "--pre=touch", "max_count": 1}, "flags, max_count"),
        ("glob", {"pattern": "*", "exec": "touch PWN"}, "exec"),
        ("read_file", {"path": "a.txt", "encoding": "; touch PWN"}, "encoding"),
    ],
)
def test_a_look_does_without_arguments_that_it_does_not_have_and_names_them(
    bench: Workbench, name: str, args: dict[str, Json], unknown: str
) -> None:
    before = snapshot(bench.root)
    result = bridge().perform(Action(name, args), bench)
    assert result.ok, result.text
    assert f"Left out, because {real_action(Action(name, {})).name} has no such argument: {unknown}." in (
        result.text
    )
    bare = {key: value for key, value in args.items() if key not in unknown.split(", ")}
    assert result.text.startswith(bridge().perform(Action(name, bare), bench).text)
    assert snapshot(bench.root) == before


def test_a_look_that_lacks_an_argument_hears_of_the_name_it_was_given_by(bench: Workbench) -> None:
    result = bridge().perform(Action("read_file", {"files": "a.txt"}), bench)
    assert result.mistake == "bad_arguments"
    assert "files" in result.text
    assert "path" in result.text


def test_a_pattern_is_text_whatever_a_shell_would_read_in_it(bench: Workbench) -> None:
    before = snapshot(bench.root)
    for pattern in (
        "*; touch PWN; echo ",
        "$(touch PWN)",
        "`touch PWN`",
        "| touch PWN",
        "{a,b}",
        "!a",
        "[",
        "\\",
    ):
        assert bridge().perform(Action("glob", {"pattern": pattern}), bench).ok
        assert bridge().perform(Action("search_codebase", {"pattern": pattern}), bench).ok
    assert snapshot(bench.root) == before


def test_what_only_looks_dangerous_is_done(bench: Workbench) -> None:
    assert bridge().perform(Action("write_file", {"path": "src/bootstrap.ts", "content": "x"}), bench).ok
    edited = bridge().perform(
        Action("edit_file", {"path": "e.js", "oldText": "OLD", "newText": "x.replace(/y/, '$&$`')"}), bench
    )
    assert edited.ok
    assert (bench.root / "e.js").read_text() == "let a = x.replace(/y/, '$&$`');\n"
    assert (
        bridge().perform(Action("grep", {"pattern": "hel+o", "path": "a.txt"}), bench).text
        == "a.txt:1: hello"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(.*a){25}", "a{1000}{1000}", "(" * 400, "[" * 400, "(?P<x>a)(?P<x>b)"]
)
def test_no_expression_holds_a_search_up(
    bench: Workbench, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not SOAK:
        monkeypatch.setattr("agentforge.tools.look.searching.REGEX_SECONDS", 0.5)
    (bench.root / "long.txt").write_text("a" * 1500 + "!\n")
    begun = time.monotonic()
    result = bridge().perform(Action("grep", {"pattern": pattern, "path": "long.txt"}), bench)
    assert time.monotonic() - begun < REGEX_SECONDS + 30
    assert result.ok or result.mistake in ("slow_pattern", "bad_arguments")


def test_an_edit_of_a_text_that_is_everywhere_is_answered_at_once(bench: Workbench) -> None:
    (bench.root / "same.txt").write_text("x\n" * 300_000)
    begun = time.process_time()
    assert (
        bridge()
        .perform(Action("edit_file", {"path": "same.txt", "old": "x\n" * 100_000, "new": "y"}), bench)
        .mistake
        == "many_matches"
    )
    assert time.process_time() - begun < 5


# ------------------------------------------------------------------ secrets


@every(
    "path",
    [
        ".ssh/known_hosts",
        "home/.ssh/id_ed25519",
        "id_rsa",
        "id_dsa.bak",
        "id_ecdsa_sk",
        "keys/ID_RSA",
        ".aws/credentials",
        ".AWS/config",
        ".netrc",
        "_netrc",
        ".pypirc",
        ".npmrc",
        "sub/.npmrc",
        ".git-credentials",
        ".pgpass",
        ".gnupg/pubring.kbx",
        ".kube/config",
        ".docker/config.json",
        ".agentforge/signing_key",
        ".config/gcloud/x.db",
        ".config/gh/hosts.yml",
        "server.key",
        "tls/private.pem",
        "key.pem",
        "store.jks",
        "a.p12",
        "b.pfx",
        "c.ppk",
        "d.kdbx",
        ".local/share/keyrings/login.keyring",
        "Library/Keychains/login.keychain-db",
        ".bashrc",
        ".bash_profile",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".kshrc",
        ".config/fish/config.fish",
        ".envrc",
        ".env",
        ".env.local",
        ".env.production",
        "sub/.env",
    ],
)
def test_keys_credentials_and_start_up_files_are_closed(path: str) -> None:
    assert closed_to_all(path)


@every(
    "path",
    [
        "src/bootstrap.ts",
        "id_rsa.pub",
        "keys/id_ed25519.pub",
        "keyboard.py",
        "src/keys.py",
        "monkey.py",
        "environment.py",
        ".environment",
        "env",
        ".env.example",
        ".env.sample",
        ".env.template",
        "docs/ssh.md",
        "ssh/config",
        "aws/credentials.py",
        "credentials.py",
        "netrc.py",
        "keyrings/backend.py",
        "cert.pem",
        "ca-bundle.pem",
        "public.pem",
        ".config/app.toml",
        "config.json",
        "docker/config.json",
        "profile",
        "bashrc.md",
        "test_profile.py",
        ".github/workflows/ci.yml",
        ".gitignore",
        ".npmignore",
    ],
)
def test_ordinary_names_are_open(path: str) -> None:
    assert closed_to_all(path) is None


def test_a_closed_file_is_not_read_by_its_name_by_a_link_or_by_a_search(bench: Workbench) -> None:
    for path in (".env", "innocent.txt", "keys/id_rsa", "src/../.env"):
        for action in calls(path)[8:]:
            assert SECRET not in bridge().perform(action, bench).text.replace(f"`{SECRET}`", "")
    searches: list[dict[str, Json]] = [
        {"pattern": "secret"},
        {"pattern": "secret", "regex": True},
        {"pattern": "secret", "path": "keys"},
    ]
    for args in searches:
        assert bridge().perform(Action("search_codebase", args), bench).text.startswith("No match")


# ------------------------------------------------------------------ second names


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_a_second_name_opens_nothing(bench: Workbench, alias: str) -> None:
    real = ALIASES[alias].name
    args: dict[str, Json] = (
        {"pattern": "x"} if alias in ("grep", "glob") else {"path": "n.txt", "content": "x"}
    )
    assert alias not in TOOLS
    if alias == "ask_user":
        assert real_action(Action(alias, {"question": "Which?"})) == Action(
            "escalate", {"question": "Which?"}
        )
        assert bridge().refusal(Action(alias, {"question": "Which?"}), bench) is None
        return
    assert bridge([real]).perform(Action(alias, args), bench).ok
    (bench.root / "n.txt").unlink(missing_ok=True)
    for own in (
        bridge(["read_file"]),
        bridge([real], [real]),
        bridge([real], [alias]),
        bridge([alias], [real]),
        bridge([alias, real], [alias]),
    ):
        for name in (alias, real):
            assert own.perform(Action(name, args), bench).mistake == "forbidden_tool"
    assert not (bench.root / "n.txt").exists()
    assert [spec.name for spec in bridge([alias, real]).specs()][:1] == [real]


# ------------------------------------------------------------------ a link put there between question and act


def _put_back(root: Path) -> None:
    """What was deleted or moved is there again, so that it can be tried again; wherever `d` leads now, only
    inside.
    """
    (root / "taken.txt").unlink(missing_ok=True)
    for place in (root / "d", root / "link"):
        if not place.is_symlink():
            with contextlib.suppress(OSError):
                fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    os.close(os.open("f.txt", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
                finally:
                    os.close(fd)


@pytest.mark.slow
@pytest.mark.parametrize("how", range(7))
def test_a_link_swapped_in_at_any_moment_leads_nowhere(tmp_path: Path, how: int) -> None:
    """A thread exchanges a directory with a link to outside, as fast as it can, while a tool works in it."""
    root, outside = tmp_path / "tree", tmp_path / "outside"
    for place, text in ((root / "d", "inside"), (outside, SECRET)):
        place.mkdir(parents=True)
        (place / "f.txt").write_text(text + "\n")
    (root / "link").symlink_to(outside)
    (root / "a.txt").write_text("x\n")
    over = threading.Event()

    exchange = ctypes.CDLL(None).renameat2

    def swap() -> None:
        while not over.is_set():
            exchange(-100, os.fsencode(root / "d"), -100, os.fsencode(root / "link"), 2)

    actions = [
        Action("create_file", {"path": "d/new/x.txt", "content": "x"}),
        Action("edit_file", {"path": "d/f.txt", "old": "inside", "new": "inside"}),
        Action("apply_patch", {"patch": "--- /dev/null\n+++ b/d/p.txt\n@@ -0,0 +1 @@\n+x\n"}),
        Action("move_file", {"source": "a.txt", "target": "d/a.txt"}),
        Action("search_codebase", {"pattern": "e", "path": "d/f.txt"}),
        Action("delete_file", {"path": "d/f.txt"}),
        Action("move_file", {"source": "d/f.txt", "target": "taken.txt"}),
    ]
    bench = Workbench(root, refuse, created=frozenset({"d/new/x.txt"}))
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        until = time.thread_time() + (1 if SOAK else 0.1)  # its own: whatever else the machine does
        while time.thread_time() < until:
            assert SECRET not in bridge().perform(actions[how], bench).text
            _put_back(root)
    finally:
        over.set()
        thread.join()
    assert sorted(path.name for path in outside.iterdir()) == ["f.txt"]
    assert (outside / "f.txt").read_text() == SECRET + "\n"


WORDS = st.sampled_from(
    [
        "..",
        ".",
        "",
        "link",
        "dang",
        "file",
        "proc",
        "src",
        "x.py",
        ".env",
        ".git",
        "keys",
        "id_rsa",
        "a.txt",
        "new",
        "/",
        "~",
        "pipe",
    ]
)


@tries(120, HealthCheck.function_scoped_fixture)
@given(parts=st.lists(WORDS, min_size=1, max_size=5), pick=st.integers(0, 11))
def test_whatever_the_spelling_outside_stays_as_it_is_and_unread(
    bench: Workbench, parts: list[str], pick: int
) -> None:
    outside = bench.root.parent / "outside"
    result = bridge().perform(calls("/".join(parts))[pick], bench)
    assert SECRET not in result.text.replace(f"`{SECRET}`", "")
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"f.txt": SECRET}
    assert (bench.root / ".env").read_text() == f"K={SECRET}\n"
