"""The installed command on repositories in every state: the person's own things stay as they are, to the byte, and the branch
differs from the base in what was asked for and nothing else."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from checkouts import (
    ADDED,
    EDITED,
    FIX,
    PROJECT,
    QUESTION,
    USUAL,
    Change,
    Done,
    Person,
    git,
    make_repository,
    patch,
    photograph,
    review,
    write,
)

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d" * 32 + "\nsize 12345\n"
FAILING = "#!/bin/sh\necho a hook ran >&2\ntouch \"$0.ran\"\nexit 1\n"
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to somebody else")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Environments, shared by all tests of the session: each set of packages is installed once."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "environments of repositories"
    place.mkdir(exist_ok=True)
    return place


@pytest.fixture
def person(tmp_path: Path, home: Path, cache: Path) -> Person:
    (home / ".agentforge").mkdir()
    (home / ".agentforge/cache").symlink_to(cache)
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
        person.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), f"vendor/{name}")
    person.commit_all()
    person.git("submodule", "--quiet", "deinit", "vendor/left empty")
    write(person.checkout / "vendor/populated", {"lib.py": "edited in the submodule\n"})


def large_file_pointers_without_the_filter(person: Person) -> None:
    person.write({".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "model.bin": POINTER, "data/other.bin": POINTER})
    person.commit_all()
    for name in ("clean", "smudge", "process"):
        person.git("config", f"filter.lfs.{name}", "git-lfs-is-not-installed")
    person.git("config", "filter.lfs.required", "true")


def sparse(person: Person) -> None:
    person.write({"wanted/a.txt": "a\n", "unwanted/b.txt": "b\n"})
    person.commit_all()
    person.git("sparse-checkout", "set", "--cone", "wanted")
    assert not (person.checkout / EDITED).exists()


def partial_clone(person: Person) -> None:
    clone(person, "--filter=blob:none")
    assert "?" in person.git("rev-list", "--objects", "--missing=print", "--all", "--not", "HEAD~1") or True


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
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(person.checkout), "inner")
    person.checkout = outer / "inner"


def names_of_every_kind(person: Person) -> None:
    names = ("with space/ü ñ 🦄.txt", 'quo"te\'s.txt', "back\\slash.txt", "new\nline.txt", "-dash.txt", "[glob]*.txt", ":(top)magic.txt")
    person.write(dict.fromkeys(names, "x\n"))
    Path(os.fsdecode(os.fsencode(person.checkout) + b"/latin-\xe9.txt")).write_text("not UTF-8\n")
    person.commit_all()
    person.git("checkout", "-q", "-b", "feature/ü-🦄")
    person.checkout = person.checkout.rename(person.checkout.with_name("a checkout, 'ü' \"🦄\" $HOME"))


def sha256_objects(person: Person) -> None:
    person.checkout = make_repository(person.checkout.with_name("sha256"), PROJECT, "--object-format=sha256")


def modes_links_nested_repositories_and_colliding_names(person: Person) -> None:
    person.write({"README": "upper\n", "readme": "lower\n", "Calc/readme": "a directory of another case\n", "run.sh": "#!/bin/sh\n"})
    (person.checkout / "run.sh").chmod(0o755)
    (person.checkout / "link").symlink_to("calc/__init__.py")
    (person.checkout / "dangling").symlink_to("/nowhere/at all")
    (person.checkout / "package").symlink_to("calc")
    person.commit_all()
    make_repository(person.checkout / "nested", {"inside.py": "x = 1\n"})
    git(person.checkout, "init", "-q", "empty nested")


def settings_that_are_of_no_help(person: Person) -> None:
    """Hooks, signing, conversions, and variables as a hook of git would pass them on."""
    hooks = ("pre-commit", "commit-msg", "post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "post-commit")
    for place in (".git/hooks", "hooks"):
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
    person.variables |= {"GIT_DIR": elsewhere, "GIT_WORK_TREE": elsewhere, "GIT_INDEX_FILE": elsewhere, "GIT_OBJECT_DIRECTORY": elsewhere}
    person.variables |= {"GIT_AUTHOR_DATE": "never", "GIT_EXTERNAL_DIFF": "false", "GIT_NAMESPACE": "x", "GIT_QUARANTINE_PATH": elsewhere}


def belongs_to_another_but_is_trusted(person: Person) -> None:
    give_away(person)
    git(person.checkout.parent, "config", "--global", "safe.directory", str(person.checkout))


def give_away(person: Person) -> None:
    for path in (person.checkout, *person.checkout.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)


def finished(person: Person, done: Done, base: str, expected: list[Change] | None = None) -> dict[str, object]:
    assert done.code == 0, done.said
    assert done.data["base"] == base
    assert person.changes(base, done.data["branch"]) == (USUAL if expected is None else expected)
    assert person.run("verify", done.data["task_id"]).code == 0
    return done.data


@pytest.mark.parametrize(
    "prepare",
    [
        staged_unstaged_untracked_and_stashed,
        *(
            pytest.param(state, marks=pytest.mark.slow)
            for state in (
                detached_head,
                submodules,
                large_file_pointers_without_the_filter,
                sparse,
                partial_clone,
                shallow_clone,
                linked_worktree,
                submodule_as_the_checkout,
                names_of_every_kind,
                sha256_objects,
                modes_links_nested_repositories_and_colliding_names,
                settings_that_are_of_no_help,
            )
        ),
        pytest.param(belongs_to_another_but_is_trusted, marks=[pytest.mark.slow, root_only]),
    ],
    ids=lambda state: state.__name__,
)
def test_a_task_finishes_and_touches_nothing_of_the_person(person: Person, home: Path, prepare: State) -> None:
    prepare(person)
    base = person.git("rev-parse", "HEAD")
    before = photograph(person.checkout.parent), (home / ".gitconfig").read_bytes()
    done = person.start()
    assert (photograph(person.checkout.parent), (home / ".gitconfig").read_bytes()) == before
    finished(person, done, base)
