"""The installed command on repositories in every state: the person's own things stay as they are, to the
byte, and the branch
differs from the base in what was asked for and nothing else."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.depth import SOAK
from tests.whole.checkouts import (
    EDITED,
    FIX,
    PROJECT,
    QUESTION,
    USUAL,
    Change,
    Done,
    Person,
    differences,
    git,
    make_repository,
    patch,
    photograph,
    review,
    write,
)

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d" * 32 + "\nsize 12345\n"
FAILING = '#!/bin/sh\necho a hook ran >&2\ntouch "$0.ran"\nexit 1\n'
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to somebody else")


@pytest.fixture
def person(tmp_path: Path, agentforge_home: Path) -> Person:
    someone = Person(make_repository(tmp_path / "there" / "checkout", PROJECT), tmp_path / "script.yaml")
    someone.scripted(patch(*FIX), review())
    return someone


# ------------------------------------------------------------------ a finished task


State = Callable[[Person], None]


def staged_unstaged_untracked_and_stashed(person: Person) -> None:
    person.write({"calc/stashed.py": "later = True\n", EDITED: "stashed\n"})
    person.git("stash", "push", "-q", "-u")
    person.write({"calc/staged.py": "staged = True\n", "calc/scratch.py": "untracked, and not even Python\n"})
    person.git("add", "calc/staged.py")
    person.write({EDITED: "not Python either\n", "calc/staged.py": "staged = 'and edited'\n"})


def detached_head(person: Person) -> None:
    person.write({"later.txt": "of a commit that is not checked out\n"})
    person.commit_all()
    person.git("checkout", "-q", "--detach", "HEAD~1")


def submodules(person: Person) -> None:
    library = make_repository(person.checkout.parent / "library", {"lib.py": "x = 1\n"})
    for name in ("populated", "left empty"):
        person.git(
            "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), f"vendor/{name}"
        )
    person.commit_all()
    person.git("submodule", "--quiet", "deinit", "vendor/left empty")
    write(person.checkout / "vendor/populated", {"lib.py": "edited in the submodule\n"})


def large_file_pointers_without_the_filter(person: Person) -> None:
    person.write(
        {
            ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
            "model.bin": POINTER,
            "data/other.bin": POINTER,
        }
    )
    person.git("add", ".gitattributes", "model.bin", "data/other.bin")
    person.git("commit", "-q", "-m", "pointers")
    for name in ("clean", "smudge", "process"):
        person.git("config", f"filter.lfs.{name}", "git-lfs-is-not-installed")
    person.git("config", "filter.lfs.required", "true")


def line_ends_modes_and_conversions(person: Person) -> None:
    person.write(
        {
            EDITED: PROJECT[EDITED].replace("\n", "\r\n"),
            "run.bat": "echo\n",
            "mixed.txt": "a\r\nb\n",
            "big.bin": POINTER,
        }
    )
    person.commit_all()
    person.write(
        {
            ".gitattributes": (
                "*.bat text eol=crlf\n/big.bin filter=lfs-that-nobody-set-up -text\n*.txt text=auto\n"
            )
        }
    )
    (person.checkout / EDITED).chmod(0o755)
    person.commit_all()
    person.git("config", "core.autocrlf", "true")


def sparse(person: Person) -> None:
    person.write({"wanted/a.txt": "a\n", "unwanted/b.txt": "b\n"})
    person.commit_all()
    person.git("sparse-checkout", "set", "--cone", "wanted")
    assert not (person.checkout / EDITED).exists()


def partial_clone(person: Person) -> None:
    clone(person, "--filter=blob:none", "--no-checkout")
    assert person.git("rev-list", "--objects", "--missing=print", "HEAD").count("\n?") == len(PROJECT)


def shallow_clone(person: Person) -> None:
    person.write({"history.txt": "second\n"})
    person.commit_all()
    clone(person, "--depth=1")
    assert person.git("rev-list", "--count", "HEAD") == "1"


def clone(person: Person, *options: str) -> None:
    person.git("config", "uploadpack.allowFilter", "true")
    origin = person.checkout.rename(person.checkout.with_name("origin"))
    git(origin.parent, "clone", "-q", *options, origin.as_uri(), person.checkout.name)


def linked_worktree(person: Person) -> None:
    person.git("worktree", "add", "-q", "-b", "side", "../side")
    person.checkout = person.checkout.parent / "side"


def submodule_as_the_checkout(person: Person) -> None:
    outer = make_repository(person.checkout.parent / "outer", {"f": "x"})
    git(
        outer,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(person.checkout),
        "inner",
    )
    person.checkout = outer / "inner"


def names_of_every_kind(person: Person) -> None:
    names = (
        "with space/ü ñ 🦄.txt",
        "quo\"te's.txt",
        "back\\slash.txt",
        "new\nline.txt",
        "-dash.txt",
        "[glob]*.txt",
        ":(top)magic.txt",
    )
    person.write(dict.fromkeys(names, "x\n"))
    Path(os.fsdecode(os.fsencode(person.checkout) + b"/latin-\xe9.txt")).write_text("not UTF-8\n")
    person.commit_all()
    person.git("checkout", "-q", "-b", "feature/ü-🦄")
    person.checkout = person.checkout.rename(person.checkout.with_name("a checkout, 'ü' \"🦄\" $HOME"))


def sha256_objects(person: Person) -> None:
    person.checkout = make_repository(person.checkout.with_name("sha256"), PROJECT, "--object-format=sha256")


def modes_links_nested_repositories_and_colliding_names(person: Person) -> None:
    person.write(
        {
            "README": "upper\n",
            "readme": "lower\n",
            "Calc/readme": "a directory of another case\n",
            "run.sh": "#!/bin/sh\n",
        }
    )
    (person.checkout / "run.sh").chmod(0o755)
    (person.checkout / "link").symlink_to("calc/__init__.py")
    (person.checkout / "dangling").symlink_to("/nowhere/at all")
    (person.checkout / "package").symlink_to("calc")
    for name, target in {"loop": "loop", "there": "back", "back": "there"}.items():
        (person.checkout / name).symlink_to(target)
    person.commit_all()
    make_repository(person.checkout / "nested", {"inside.py": "x = 1\n"})
    git(person.checkout, "init", "-q", "empty nested")


def settings_that_are_of_no_help(person: Person) -> None:
    """Hooks, signing, conversions, and variables as a hook of git would pass them on."""
    hooks = (
        "pre-commit",
        "commit-msg",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "pre-auto-gc",
        "post-commit",
    )
    for place in (person.git("rev-parse", "--git-path", "hooks"), "hooks"):
        for name in hooks:
            write(person.checkout / place, {name: FAILING})
            (person.checkout / place / name).chmod(0o755)
    settings = {
        "core.hooksPath": "hooks",
        "commit.gpgSign": "true",
        "tag.gpgSign": "true",
        "gpg.program": "gpg-is-broken",
        "core.autocrlf": "true",
        "core.safecrlf": "true",
        "core.fsmonitor": str(person.checkout / "hooks/pre-commit"),
        "core.excludesFile": str(person.checkout / "pyproject.toml"),
        "core.fileMode": "false",
        "core.symlinks": "false",
        "core.ignoreCase": "true",
        "user.useConfigOnly": "true",
        "diff.external": "false",
        "diff.noprefix": "true",
        "status.showUntrackedFiles": "no",
        "feature.manyFiles": "true",
        "fetch.fsckObjects": "true",
        "transfer.hideRefs": "refs",
        "uploadpack.hideRefs": "refs",
    }
    for name, value in settings.items():
        person.git("config", name, value)
    elsewhere = str(person.checkout.parent / "elsewhere")
    person.variables |= {
        "GIT_DIR": elsewhere,
        "GIT_WORK_TREE": elsewhere,
        "GIT_INDEX_FILE": elsewhere,
        "GIT_OBJECT_DIRECTORY": elsewhere,
    }
    person.variables |= {
        "GIT_AUTHOR_DATE": "never",
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_NAMESPACE": "x",
        "GIT_QUARANTINE_PATH": elsewhere,
    }


def belongs_to_another_but_is_trusted(person: Person) -> None:
    if os.geteuid() == 0:  # only root can give a directory to somebody else
        give_away(person)
    git(person.checkout.parent, "config", "--global", "safe.directory", str(person.checkout))


def give_away(person: Person) -> None:
    for path in (person.checkout, *person.checkout.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)


def finished(person: Person, done: Done, base: str, *others: Change) -> str:
    """The branch of a task that did what was asked for, what a person did (`others`), and nothing else; its
    proof checked.
    """
    assert done.code == 0, done.said
    assert done.data["base"] == base
    branch = str(done.data["branch"])
    mode = person.git("ls-tree", base, EDITED).split()[0]
    assert person.changes(base, branch) == sorted(
        [Change("M", EDITED, mode, mode), USUAL[1], *others], key=lambda change: change.path
    )
    assert content(person, f"{branch}:{EDITED}") == content(person, f"{base}:{EDITED}").replace(
        b"return number", b"return number * 2"
    )
    assert person.run("verify", done.data["task_id"]).code == 0
    return branch


def content(person: Person, name: str) -> bytes:
    return subprocess.run(
        ["git", "cat-file", "blob", name], cwd=person.checkout, capture_output=True, check=True
    ).stdout


TOGETHER: list[tuple[State, ...]] = [
    (submodule_as_the_checkout, staged_unstaged_untracked_and_stashed, settings_that_are_of_no_help),
    (
        sha256_objects,
        names_of_every_kind,
        modes_links_nested_repositories_and_colliding_names,
        large_file_pointers_without_the_filter,
        belongs_to_another_but_is_trusted,
    ),
    (shallow_clone, linked_worktree, submodules, detached_head, line_ends_modes_and_conversions, sparse),
]
"""Every state, few checkouts: what one of them would break stays broken in the company of the others. In a
soak each is alone, too.
"""


@pytest.mark.parametrize(
    "prepare",
    [*TOGETHER, *((state,) for states in TOGETHER for state in states if SOAK)],
    ids=lambda states: "+".join(state.__name__ for state in states),
)
def test_a_task_finishes_and_touches_nothing_of_the_person(
    person: Person, home: Path, prepare: tuple[State, ...]
) -> None:
    for state in prepare:
        state(person)
    base = person.git("rev-parse", "HEAD")
    before, settings = photograph(person.checkout.parent), (home / ".gitconfig").read_bytes()
    done = person.start()
    assert differences(before, photograph(person.checkout.parent)) == []
    assert (home / ".gitconfig").read_bytes() == settings
    finished(person, done, base)


# ------------------------------------------------------------------ what cannot be done is said


def refused(person: Person, done: Done, *words: str, code: int = 2) -> None:
    assert done.code == code, done.said
    first, *rest = done.err.strip().splitlines()
    assert first.startswith("error: "), done.said
    assert len(rest) == 1, done.said
    for word in words:
        assert word in done.err


def no_commits_yet(person: Person) -> None:
    person.checkout = person.checkout.with_name("fresh")
    git(person.checkout.parent, "init", "-q", "fresh")
    person.write(PROJECT)


def bare(person: Person) -> None:
    git(person.checkout.parent, "clone", "-q", "--bare", "checkout", "bare")
    person.checkout = person.checkout.with_name("bare")


def inside_of_git(person: Person) -> None:
    person.checkout /= ".git"


def no_repository(person: Person) -> None:
    person.checkout = person.checkout.parent


def a_line_break_in_the_path(person: Person) -> None:
    person.checkout = person.checkout.rename(person.checkout.with_name("check\nout"))


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (no_commits_yet, ("no commits yet", "Make the first one with `git add --all`")),
        (bare, ("bare repository", "Clone it")),
        (inside_of_git, ("inside of a `.git` directory", "Run in the checkout itself")),
        (no_repository, ("not in a git repository", "git init")),
        (a_line_break_in_the_path, ("line break", "Rename")),
        pytest.param(
            give_away, ("another user", "git config --global --add safe.directory"), marks=root_only
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_cannot_be_worked_on_is_refused_in_one_sentence_with_the_next_step(
    person: Person, prepare: State, words: tuple[str, ...]
) -> None:
    prepare(person)
    before = photograph(person.checkout.parent)
    refused(person, person.start(), *words)
    assert differences(before, photograph(person.checkout.parent)) == []
    assert not (person.checkout / ".agentforge").exists()


def test_a_branch_in_the_way_of_the_tasks_branch_is_named_before_anything_is_spent(person: Person) -> None:
    person.git("branch", "agentforge")
    before = photograph(person.checkout)
    refused(person, person.start(), "`agentforge`", "git branch -m agentforge")
    assert differences(before, photograph(person.checkout)) == []
    assert "No tasks" in person.run("status").said


def test_a_task_begins_after_a_fetch_of_what_is_missing_goes_on_after_a_kill_and_names_what_it_saved(
    person: Person,
) -> None:
    partial_clone(person)
    before, base = photograph(person.checkout), person.git("rev-parse", "HEAD")
    done = person.start()
    assert (done.code, "partial clone" in done.err, "git fetch --refetch" in done.err) == (1, True, True), (
        done.said
    )
    assert not (person.checkout / ".agentforge/tasks").exists()
    assert differences(before, photograph(person.checkout)) == []
    person.git("fetch", "-q", "--refetch", "--no-filter")
    before = photograph(person.checkout)
    person.run_and_kill_at("stage patch", *person._start())
    task = person.only_task()
    write(person.worktree(task), {"debris.txt": "of a crash\n", EDITED: "half writ"})
    done = person.run("continue", "--json")
    salvage = f"refs/agentforge/{task}/salvage/1"
    assert salvage in done.err
    assert person.git("show", f"{salvage}:debris.txt") == "of a crash"
    assert person.git("show", f"{salvage}:{EDITED}") == "half writ"
    finished(person, done, base)
    assert differences(before, photograph(person.checkout)) == []


# ------------------------------------------------------------------ in the middle of a task


def halted(done: Done) -> str:
    """The task that has a question now."""
    assert done.code == 3, done.said
    return str(done.data["task_id"])


def answered(person: Person, number: int, task: str) -> Done:
    return person.run("resolve", f"ESC-{number:03d}", "--task", task, "--answer", "Two times.", "--json")


def test_a_persons_edits_of_a_halted_worktree_become_their_commit_and_what_failed_attempts_left_does_not(
    person: Person,
) -> None:
    person.git("config", "user.name", "Grace Ü. Hopper")
    person.git("config", "user.email", "grace@example.invalid")
    wrong = {"name": "create_file", "args": {"path": "calc/wrong.py", "content": "WRONG = 1\n"}}
    failed = {"stage": "patch", "reply": {"actions": [wrong], "signal": "failure_retryable"}}
    mend = {"name": "edit_file", "args": {"path": EDITED, "old": "number * 3", "new": "number * 2"}}
    person.scripted(
        failed,
        failed,
        patch(*FIX, QUESTION, done=False),
        patch(expects=("A person answered: Two times", "A person edited ")),
        patch(mend, expects=("test_two_becomes_four",)),
        review(),
    )
    before, base = photograph(person.checkout), person.git("rev-parse", "HEAD")
    halted(person.start())
    done = person.run("resolve", "ESC-001", "--answer", "retry", "--json")
    assert "edits in the worktree" not in done.err
    task = halted(done)
    worktree = person.worktree(task)
    write(worktree, {EDITED: (worktree / EDITED).read_text().replace("* 2", "* 3"), "docs/ü.md": "by hand\n"})
    done = answered(person, 2, task)
    assert done.err.count("edits in the worktree were committed as") == 1
    branch = finished(person, done, base, Change("A", "docs/ü.md", "000000", "100644"))
    log = person.git("log", "--reverse", "--format=%an <%ae>", f"{base}..{branch}").splitlines()
    ours = "AgentForge <agentforge@localhost>"
    assert log == ["Grace Ü. Hopper <grace@example.invalid>", ours, ours]  # the work, and its seal
    assert person.git("for-each-ref", "refs/agentforge/*/salvage") == ""
    assert differences(before, photograph(person.checkout)) == []


def test_git_clean_and_garbage_collection_take_nothing_of_a_halted_task(person: Person) -> None:
    asking = {"stage": "review", "reply": {"actions": [QUESTION]}}
    person.scripted(patch(*FIX, QUESTION, done=False), patch(QUESTION, done=False), patch(), asking, review())
    base = person.git("rev-parse", "HEAD")
    task = halted(person.start())
    person.git("gc", "-q", "--prune=now")
    assert person.run("resolve", "ESC-001", "--answer", "Two times.", "--no-drive").code == 0
    write(person.worktree(task), {"by-hand.txt": "x\n"})
    assert person.run("continue").code == 3
    clean(person, task)
    halted(answered(person, 2, task))
    clean(person, task)
    before = photograph(person.checkout)
    finished(person, answered(person, 3, task), base, Change("A", "by-hand.txt", "000000", "100644"))
    assert differences(before, photograph(person.checkout)) == []
    person.git("fsck", "--connectivity-only")


def clean(person: Person, task: str) -> None:
    """All that git itself would throw away goes."""
    person.git("reflog", "expire", "--expire=now", "--all")
    person.git("clean", "-q", "-f", "-d", "-x")
    person.git("gc", "-q", "--prune=now")
    assert not (person.checkout / ".agentforge/tasks" / task).exists()
