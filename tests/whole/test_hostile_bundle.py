"""A repository in which everything that can run or lead away does: every command on it, at a terminal, leaves
everything outside as it was, and shows nothing raw.
"""

import fcntl
import hashlib
import json
import os
import pty
import re
import select
import socket
import stat
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agentforge.surfaces.cli.main import cli
from tests import forked
from tests.depth import SOAK, telling
from tests.sharing import share_here
from tests.whole.checkouts import COMMAND, Person
from tests.whole.plays import REQUEST, SHOP, Play, patch, review

pytestmark = pytest.mark.slow

# What git itself runs, fetches by, or reads from elsewhere. Each would leave a mark of its own.
SETTINGS = {
    **dict.fromkeys(
        (
            *("core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.pager", "core.editor"),
            *("core.askPass", "core.alternateRefsCommand", "diff.external", "diff.evil.textconv"),
            *("diff.evil.command", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process"),
            *("merge.evil.driver", "credential.helper", "gpg.program", "gpg.ssh.defaultKeyCommand"),
            *("sequence.editor", "uploadpack.packObjectsHook", "pager.diff", "pager.status", "pager.log"),
            *(
                "interactive.diffFilter",
                "remote.origin.uploadpack",
                "remote.origin.proxy",
                "trailer.x.command",
            ),
            *("difftool.x.cmd", "mergetool.x.cmd", "browser.x.cmd", "web.browser", "sendemail.smtpServer"),
        ),
        "touch {marks}/{key}; false",
    ),
    "alias.status": "!touch {marks}/alias.status",
    "alias.diff": "!touch {marks}/alias.diff",
    "submodule.sub.update": "!touch {marks}/submodule.update",
    "submodule.sub.url": "ext::touch% {marks}/submodule.url",
    "remote.origin.url": "ext::touch% {marks}/remote.url",
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "remote.origin.vcs": "evil",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "commit.gpgSign": "true",
    "tag.gpgSign": "true",
    "core.hooksPath": "{marks}/../checkout/evil-hooks",
    "core.attributesFile": "{marks}/../checkout/evil-attributes",
    "core.excludesFile": "{marks}/../checkout/evil-excludes",
    "fetch.recurseSubmodules": "true",
    "status.submoduleSummary": "true",
    "diff.submodule": "log",
    "include.path": "{marks}/../checkout/evil-config",
    "includeIf.gitdir:/.path": "{marks}/../checkout/evil-config",
    "url.ext::touch% {marks}/instead-of .insteadOf": "https://",
    "init.templateDir": "{marks}/../checkout/evil-template",
    "gc.auto": "1",
    "maintenance.auto": "true",
}
HOOKS = (
    *(
        "pre-commit",
        "post-commit",
        "post-checkout",
        "post-index-change",
        "post-merge",
        "pre-push",
        "commit-msg",
    ),
    *(
        "reference-transaction",
        "prepare-commit-msg",
        "pre-auto-gc",
        "post-rewrite",
        "fsmonitor-watchman",
        "update",
    ),
    *("pre-receive", "post-receive", "post-update", "proc-receive", "push-to-checkout", "applypatch-msg"),
)
# Of a build, of tests and of an interpreter's start. They may run, but inside alone.
CODE = """
import os, pathlib, sys
for place in ({marks!r}, {home!r}, "/etc", "/usr", "/var/tmp"):
    try:
        pathlib.Path(place, "agentforge-mark-" + {name!r}).touch()
    except OSError:
        pass
sys.stdout.write("\\x1b]0;owned\\x07\\x9b31m\\u202eowned\\n")
"""
BACKEND = """
import runpy
runpy.run_path(__file__.replace("backend.py", "conftest.py"))
def build_wheel(*words, **more): raise SystemExit("\\x1b]0;owned\\x07 no wheel")
build_editable = build_sdist = build_wheel
def get_requires_for_build_wheel(*words): return []
get_requires_for_build_editable = get_requires_for_build_wheel
"""
BUILT = (
    SHOP["pyproject.toml"]
    + '\n[project.entry-points.pytest11]\nevil = "conftest"\n\n[project.scripts]\ngit = "conftest:main"\n'
    + '\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
)
ODD_NAMES = (
    "\x1b]0;owned\x07.txt",
    "\u202egpj.exe",
    "two\nlines",
    "-rf",
    "$(touch mark)",
    "\x9b31mred",
    "a\tb",
)
RAW = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _made_hostile(play: Play, marks: Path, home: Path) -> None:
    top = play.top
    facts = {"marks": str(marks), "home": str(home)}
    files = {
        ".gitattributes": "* filter=evil diff=evil merge=evil\n*.txt ident\n",
        ".gitmodules": f'[submodule "sub"]\n\tpath = sub\n\turl = ext::touch% {marks}/modules\n\tupdate = none\n',
        ".lfsconfig": f"[lfs]\n\turl = file://{marks}\n",
        "evil-config": f"[core]\n\tfsmonitor = touch {marks}/included\n\tpager = touch {marks}/included\n",
        "conftest.py": CODE.format(name="conftest", **facts),
        "tests/conftest.py": CODE.format(name="tests-conftest", **facts),
        "sitecustomize.py": CODE.format(name="sitecustomize", **facts),
        "usercustomize.py": CODE.format(name="usercustomize", **facts),
        "evil.pth": f"import os; os.system('touch {marks}/pth')\n",
        "Makefile": f"$(shell touch {marks}/make)\nall:\n",
        ".envrc": f"touch {marks}/envrc\n",
        ".python-version": "../../../../bin/sh\n",
        "tox.ini": "[testenv]\ncommands = touch x\n",
        # Through a link to itself pytest finds every test forty times, and the last ones now and then.
        "pytest.ini": "[pytest]\ntestpaths = tests\n",
    }
    play.person.write({**files, **dict.fromkeys(ODD_NAMES, "x\n")})
    for hook in HOOKS:
        _executable(top / "evil-hooks" / hook, marks)
        _executable(top / "evil-template/hooks" / hook, marks)
    (top / "out").symlink_to(marks)
    (top / "shop/secret.py").symlink_to(home / ".ssh/id")
    (top / "around").symlink_to(".")
    play.person.git("add", "-A")
    play.person.git(
        "update-index", "--add", "--cacheinfo", f"160000,{play.person.git('rev-parse', 'HEAD')},sub"
    )
    play.person.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "\x1b]0;owned\x07 more")
    other = play.person.git("commit-tree", "HEAD^{tree}", "-m", "replaced")
    play.person.git("replace", "HEAD~1", other)
    for hook in HOOKS:
        _executable(top / ".git/hooks" / hook, marks)
    (top / ".git/info/grafts").write_text(f"{play.person.git('rev-parse', 'HEAD')}\n")
    (top / ".git/objects/info/alternates").write_text(f"{marks}\n")
    with (top / ".git/config").open("a") as config:
        for key, value in SETTINGS.items():
            section, _, name = key.rpartition(".")
            head, _, rest = section.partition(".")
            title = f'[{head} "{rest}"]' if rest else f"[{head}]"
            text = json.dumps(value.format(key=key, **facts)).replace("\\u", "u")
            config.write(f"{title.format(**facts)}\n\t{name} = {text}\n")


def _executable(path: Path, marks: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch {marks}/hook-{path.name}\n")
    path.chmod(0o755)


def _picture(places: tuple[Path, ...]) -> dict[str, tuple[object, ...]]:
    return {str(path): _facts(path) for place in places for path in (place, *_below(place))}


def _below(top: Path) -> Iterator[Path]:
    for entry in os.scandir(top):
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False) and entry.name not in (".agentforge", ".git", "checkout"):
            yield from _below(Path(entry.path))


def _facts(path: Path) -> tuple[object, ...]:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        return (found.st_mode, found.st_uid)
    content = hashlib.sha256(path.read_bytes()).hexdigest() if found.st_size < 1 << 20 else found.st_size
    return (found.st_mode, found.st_uid, found.st_mtime_ns, content)


def _at_a_terminal(person: Person, *words: str, installed: bool) -> tuple[int, str]:
    """What a command says there: the installed program, whose start is tried, too, or one that is loaded."""
    share_here(person.checkout)
    env = {**person.environment(), "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "120"}
    if not installed:
        return forked.at_a_terminal(words, person.checkout, env, 120)
    keeper, terminal = pty.openpty()
    with subprocess.Popen(
        (COMMAND, *words), cwd=person.checkout, env=env, stdin=terminal, stdout=terminal, stderr=terminal
    ) as process:
        os.close(terminal)
        said = b""
        while True:
            try:
                piece = os.read(keeper, 65536)
            except OSError:
                break
            said += piece
        os.close(keeper)
    return process.returncode, said.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def test_nothing_of_a_hostile_repository_leads_out_by_any_command_and_nothing_is_raw_on_the_terminal(
    play: Play, tmp_path: Path, agentforge_home: Path
) -> None:
    home, marks = agentforge_home.parent, tmp_path / "marks"
    marks.mkdir()
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("a key of the person's\n")
    _made_hostile(play, marks, home)
    play.person.scripted(patch(), review())
    watched = (marks, home, tmp_path, Path("/etc"), Path("/usr/local/bin"))
    before = _picture(watched)
    start = ("start", REQUEST, "--lane", "hotfix", "--model", f"scripted:{play.person.script}")
    said: list[str] = []

    def runs(*words: str) -> int:
        code, text = _at_a_terminal(play.person, *words, installed=SOAK or len(said) == 1)
        said.append(text)
        assert RAW.findall(text) == [], (words, text)
        assert "Traceback" not in text, text
        assert "a key of the person's" not in text
        return code

    assert runs("init") == 0
    assert runs(*start) == 0, said
    task = play.person.only_task()
    for words in (
        ("status",),
        ("status", task),
        ("diff", task),
        ("verify", task),
        ("continue", task),
        ("abort", task),
    ):
        assert runs(*words) in {0, 1, 2}, said
    # A build that runs what it likes, and fails.
    play.person.write({"pyproject.toml": BUILT, "backend.py": BACKEND})
    settings = (play.top / ".git/config").read_text()
    (play.top / ".git/config").write_text("[core]\n\trepositoryformatversion = 0\n\thooksPath = /dev/null\n")
    play.person.commit_all()
    (play.top / ".git/config").write_text(settings)
    assert runs(*start) == 3, said
    assert "owned" in said[-1]
    (other,) = {each.name for each in (play.top / ".agentforge/tasks").iterdir()} - {task}
    assert (runs("status", other, "--json"), runs("abort", other)) == (0, 0), said
    after = _picture(watched)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed == {str(agentforge_home)}  # which was open to others, and is closed now
    assert stat.S_IMODE(agentforge_home.stat().st_mode) == 0o700
    # The control: the watcher sees, and git would have run what it was told.
    (home / "new").touch()
    assert _picture(watched) != after
    subprocess.run(("git", "status"), cwd=play.top, capture_output=True, check=False)
    subprocess.run(("git", "diff"), cwd=play.top, capture_output=True, check=False)
    assert list(marks.iterdir())


# Every command of the table, with words that let it do what it is for. `TASK`, `SCRIPT` and `V` are filled in.
TYPED: dict[str, tuple[str, ...]] = {
    "implement": (REQUEST, "--model", "SCRIPT"),
    "design": ("Where do prices live?", "--model", "SCRIPT"),
    "test": ("shop/price.py", "--model", "SCRIPT"),
    "review": ("shop/price.py", "--model", "SCRIPT"),
    "document": ("shop/price.py", "--model", "SCRIPT"),
    "fix": ("V-000000000000", "--model", "SCRIPT"),
    "debate": ("Where?", "--options", "a", "--options", "b", "--model", "SCRIPT"),
    "research": ("What is a pantry?", "--model", "SCRIPT"),
    "write": ("A page about prices", "--model", "SCRIPT"),
    "analyse": ("Prices", "--model", "SCRIPT"),
    "curate": ("Prices", "--model", "SCRIPT"),
    "phase start": ("Where do sessions live?",),
    "logs": ("TASK",),
    "inspect": ("TASK",),
    "context": ("--dry-run", REQUEST),
    "diff": ("TASK",),
    "artifacts export": ("TASK",),
    "artifacts list": ("TASK",),
    "artifacts show": ("TASK",),
    "trace": ("TASK",),
    "cost": ("TASK",),
    "escalations show": ("esc-1",),
    "resolve": ("esc-1", "--answer", "yes"),
    "approve": ("TASK",),
    "feedback": ("TASK", "more"),
    "reject": ("TASK", "no"),
    "continue": ("TASK",),
    "status": ("TASK",),
    "verify": ("TASK",),
    "report": ("TASK",),
    "audit": ("TASK",),
    "replay": ("TASK", "--actions-only"),
    "fork": ("TASK", "--no-drive"),
    "compare": ("TASK", "@1"),
    "defect": ("TASK", "--note", "it is wrong"),
    "check": ("--all",),
    "violations exempt": ("V-000000000000", "--reason", "no"),
    "violations show": ("V-000000000000",),
    "sources add": ("https://example.invalid/x",),
    "models explain": ("software_engineer",),
    "permissions explain": ("--", "git", "status"),
    "permissions revoke": ("grant-0",),
    "keys trust": ("ada", "not a key"),
    "repo remove": ("nothing",),
    "pipelines show": ("implement",),
    "pipelines validate": ("Makefile",),
    "plugin hook": ("session-start",),
    "completion": ("bash",),
    "clean": ("--dry-run",),
    "trees clean": ("--dry-run",),
    "sandbox run": ("--", "true"),
    "redact": ("conftest.py",),
    "abort": ("TASK",),
    **dict.fromkeys(
        ("phase brainstorm", "phase build", "phase check", "phase continue", "phase debate", "phase design"),
        (),
    ),
    **dict.fromkeys(
        ("phase learn", "phase log", "phase plan", "phase research", "phase review", "phase save"), ()
    ),
    **dict.fromkeys(
        ("phase status", "phase test", "phase validate", "metrics", "inbox", "escalations list"), ()
    ),
    **dict.fromkeys(("violations baseline", "violations list", "sources list", "init", "config path"), ()),
    **dict.fromkeys(
        ("config show", "models list", "permissions list", "keys list", "keys show", "repo list"), ()
    ),
    **dict.fromkeys(("pipelines list", "plugin install", "plugin path", "plugin uninstall", "doctor"), ()),
    **dict.fromkeys(("trees list", "auth status"), ()),
}
# Those that ask a person, or do not end by themselves: with what is typed whenever they fall silent.
END = "\x03"
SPOKEN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "setup": (("--provider", "anthropic", "--no-test"), ("sk-ant-typed\n", "\n", "\n", "\n")),
    "auth login": (("mistral", "--file"), ("a-key-that-was-typed\n",)),
    "dashboard": (("--port", "0"), (END,)),
    "discard": (("TASK",), ("y\n",)),
    "config edit": ((), ()),
    "models test": (("SCRIPT",), ()),
    "auth logout": (("mistral",), ()),
    "permissions allow": (("run_command", "--command", "make docs"), ()),
    "keys init": (("--name", "ada"), ()),
    "repo add": ((".",), ()),
    "worker": ((), (END,)),
    "server dev": (("--port", "PORT"), (END,) * 9),
    "demo": (("--keep", "kept"), ()),
}
ELSEWHERE = {
    "start": "it makes the task that the others look at",
    "merge": "the person's own git in their own checkout, with what they configured there",
}


def _every_command(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[str]:
    """The command lines of the table, as they are typed."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from _every_command(found, (*above, name))
        else:
            yield " ".join((*above, name))


def test_every_command_is_tried_in_the_hostile_repository_or_says_why_not() -> None:
    assert sorted(_every_command(cli)) == sorted((*TYPED, *SPOKEN, *ELSEWHERE))


ROWS = tuple((*name.split(), *TYPED[name]) for name in TYPED)
NEWER = (("check",), *ROWS)
"""`abort` comes after what looks at the task."""


def test_no_command_that_looks_back_checks_or_decides_leads_out_of_a_hostile_repository(
    play: Play, tmp_path: Path, agentforge_home: Path
) -> None:
    home, marks = agentforge_home.parent, tmp_path / "marks"
    marks.mkdir()
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("a key of the person's\n")
    play.person.scripted(patch(), review())
    _made_hostile(play, marks, home)
    script = f"scripted:{play.person.script}"
    watched = (marks, home, tmp_path, Path("/etc"), Path("/usr/local/bin"))
    before = _picture(watched)
    start = ("start", REQUEST, "--lane", "hotfix", "--model", script)
    code, text = _at_a_terminal(play.person, *start, installed=False)
    assert code == 0, text
    task = play.person.only_task()
    for row in telling(NEWER, 8):
        words = [{"TASK": task, "SCRIPT": script}.get(word, word) for word in row]
        code, text = _at_a_terminal(play.person, *words, installed=SOAK or row == NEWER[0])
        assert RAW.findall(text) == [], (words, text)
        assert "Traceback" not in text, (words, text)
        assert "a key of the person's" not in text, words
        assert code in {0, 1, 2, 3, 4}, (words, text)
        after = _picture(watched)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        assert changed <= {str(agentforge_home)}, words


def _spoken_to(person: Person, words: tuple[str, ...], typed: tuple[str, ...]) -> tuple[int, str]:
    """What a command says at a terminal at which somebody types a line whenever it falls silent."""
    keeper, terminal = pty.openpty()
    env = {**person.environment(), "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "120", "EDITOR": "true"}
    env |= {"HTTPS_PROXY": "http://127.0.0.1:9"}  # nobody: no command here needs anything of another machine
    said, until, rest = b"", time.monotonic() + 120, [*typed]
    with subprocess.Popen(
        (COMMAND, *words),
        cwd=person.checkout,
        env=env,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - it does one call
    ) as process:
        os.close(terminal)
        while time.monotonic() < until:
            if select.select([keeper], [], [], 0.5 if said else None)[0]:
                try:
                    said += os.read(keeper, 65536)
                except OSError:
                    break
            elif rest:
                os.write(keeper, rest.pop(0).encode())
        else:
            process.kill()
        os.close(keeper)
    return process.returncode, said.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def test_no_command_that_asks_a_person_or_stays_leads_out_of_a_hostile_repository(
    play: Play, tmp_path: Path, agentforge_home: Path
) -> None:
    home, marks = agentforge_home.parent, tmp_path / "marks"
    marks.mkdir()
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("a key of the person's\n")
    play.person.scripted(patch(), review())
    _made_hostile(play, marks, home)
    script = f"scripted:{play.person.script}"
    code, text = _at_a_terminal(
        play.person, "start", REQUEST, "--lane", "hotfix", "--model", script, installed=False
    )
    assert code == 0, text
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    facts = {"TASK": play.person.only_task(), "SCRIPT": script, "PORT": port}
    watched = (marks, home, tmp_path, Path("/etc"), Path("/usr/local/bin"))
    before = _picture(watched)
    for name in [*SPOKEN] if SOAK else ["setup", "dashboard", "discard"]:
        rest, typed = SPOKEN[name]
        words = tuple(facts.get(word, word) for word in (*name.split(), *rest))
        code, text = _spoken_to(play.person, words, typed)
        assert RAW.findall(text.replace("^C", "")) == [], (words, text)
        assert "Traceback" not in text, (words, text)
        assert "a key of the person's" not in text, words
        assert "typed" not in text, (words, "a key is not shown")
        assert code in {0, 1, 2, 3, 4, 130}, (words, text)
        after = _picture(watched)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        assert changed <= {str(agentforge_home)}, words
