"""What the files of a JavaScript project say: its packages, its runner, its manager and its tools."""

import json
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from agentforge.catalog.added import package_managers
from agentforge.languages.described import Read, decode
from agentforge.languages.generated import is_in_made_folder
from agentforge.languages.plain.answers import NOT_PROJECTS
from agentforge.languages.values import ADDED

PACKAGE = "package.json"
Runner = Literal["node", "vitest", "jest", "mocha"]
RUNNERS: tuple[Runner, ...] = ("vitest", "jest", "mocha", "node")
OTHER_RUNNERS = (
    "ava",
    "tap",
    "tape",
    "karma",
    "jasmine",
    "cypress",
    "@playwright/test",
    "uvu",
    "qunit",
    "lab",
    "bun",
    "deno",
)
"""Programs that run tests of projects, and that no judge is there for."""
OTHER_PLATFORMS = {
    "deno": frozenset({"deno.json", "deno.jsonc", "deno.lock"}),
    "bun": frozenset({"bunfig.toml", "bun.lock", "bun.lockb"}),
}
"""Files by which a project is one of another platform, whose own command runs its tests by default."""
_WRAPPERS = frozenset(
    {"npx", "npm", "exec", "c8", "nyc", "cross-env", "dotenv", "--", "yarn", "pnpm", "run", "--yes"}
)
_LOCK_OF_YARN_4 = 8
MOST_CALLS = 4
"""How deep scripts that call scripts are followed."""
_CALLED = re.compile(
    r"(?<![\w:/-])(?:npm|pnpm|yarn|bun) (?:(?:run|run-script|-s|--silent) )+(?P<name>[\w:.-]+)(?: -- )?"
)
_SPLIT = re.compile(r"&&|\|\||;")
_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_CONFIGS: dict[Runner, tuple[str, ...]] = {
    "vitest": ("vitest.config.", "vitest.workspace."),
    "jest": ("jest.config.",),
    "mocha": (".mocharc.",),
}


@dataclass(frozen=True, slots=True)
class Package:
    """One `package.json`, by its folder."""

    folder: str
    data: Mapping[str, object]

    def mapping(self, key: str) -> dict[str, str]:
        """A part of it that maps names to texts."""
        found = self.data.get(key)
        pairs = found.items() if isinstance(found, dict) else ()
        return {str(name): value for name, value in pairs if isinstance(value, str)}

    def script(self, name: str, depth: int = 0) -> str:
        """A script with those that it calls in their places; empty if there is none."""
        scripts = self.mapping("scripts")

        def called(found: re.Match[str]) -> str:
            inner = found["name"]
            return self.script(inner, depth + 1) if inner in scripts and depth < MOST_CALLS else found[0]

        return _CALLED.sub(called, scripts.get(name, ""))

    @property
    def packages(self) -> frozenset[str]:
        """Every package that it asks for."""
        return frozenset(name for key in _DEPENDENCIES for name in self.mapping(key))

    @property
    def installed(self) -> frozenset[str]:
        """The packages that are installed with it."""
        return frozenset(name for key in _DEPENDENCIES[:3] for name in self.mapping(key))


def package_at(read: Read, folder: str) -> Package | None:
    """The package of a folder; None where there is none, or its file is broken."""
    text = decode(read(posixpath.join(folder, PACKAGE)))
    try:
        data = json.loads(text) if text else None
    except ValueError:
        return None
    return Package(folder, cast("dict[str, object]", data)) if isinstance(data, dict) else None


def packages_in(read: Read, paths: Sequence[str]) -> Iterator[Package]:
    """Every package of a project, the outermost first; not those that its tests or others brought."""
    folders = sorted(
        (
            posixpath.dirname(path)
            for path in paths
            if posixpath.basename(path) == PACKAGE
            and not is_in_made_folder(path)
            and NOT_PROJECTS.isdisjoint(path.split("/")[:-1])
        ),
        key=lambda folder: (folder.count("/"), folder),
    )
    for folder in folders:
        if (found := package_at(read, folder)) is not None:
            yield found


@dataclass(frozen=True, slots=True)
class NodeSuite:
    """How the tests of one package are run."""

    folder: str
    runner: Runner
    options: tuple[str, ...] = ()
    """Of `node`, before the file that it runs; of `mocha`, those that decide which tests there are."""
    places: tuple[str, ...] = ()
    """Files, folders and patterns, where the project's own command names them."""

    @property
    def command(self) -> tuple[str, ...]:
        """The command as a person would write it."""
        words = {"vitest": ("vitest", "run"), "jest": ("jest",), "mocha": ("mocha",)}
        return (
            (*words[self.runner], *self.options, *self.places)
            if self.runner != "node"
            else ("node", *self.options, "--test", *self.places)
        )


def suite_of(package: Package, names: Sequence[str]) -> NodeSuite | None:
    """How a package is tested: by its own command, else by what it has; None where it does not say."""
    if (told := suite_in(package.script("test"), package.folder)) is not None:
        return told
    for runner, starts in _CONFIGS.items():
        if runner in package.data or any(name.startswith(starts) for name in names):
            return NodeSuite(package.folder, runner)
    brought = [runner for runner in RUNNERS if runner in package.packages]
    return NodeSuite(package.folder, brought[0]) if len(brought) == 1 else None


def suite_in(line: str, folder: str = "") -> NodeSuite | None:
    """The runner that a command line starts; None for one that is not known."""
    for part in _SPLIT.split(line):
        try:
            words = [
                word
                for word in shlex.split(part)
                if "=" not in word.partition("/")[0] or word.startswith("-")
            ]
        except ValueError:
            return None
        while words and (words[0] in _WRAPPERS or posixpath.basename(words[0]) in _WRAPPERS):
            words.pop(0)
        if not words:
            continue
        program = posixpath.basename(words[0]).removesuffix(".js").removesuffix(".mjs").removeprefix("_")
        if program in ("node", "tsx") and "--test" in words:
            return _node_suite(words, folder)
        if program == "mocha":
            return _mocha_suite(words[1:], folder)
        if program in ("vitest", "jest"):
            return NodeSuite(folder, cast("Runner", program))
    return None


_MOCHA_KEPT = frozenset({"-u", "--ui", "-r", "--require", "--import", "--loader", "--extension", "--file"})
"""Options with a value that decide which tests there are and how they are read."""
_MOCHA_FLAGS = frozenset({"--recursive", "--check-leaks", "--sort", "-S"})
_MOCHA_LEFT = frozenset({"-R", "-O", "-t", "-s", "-g", "-f", "-j", "--config", "--package", "--retries"}) | {
    f"--{name}"
    for name in (
        "reporter",
        "reporter-option",
        "reporter-options",
        "timeout",
        "slow",
        "grep",
        "fgrep",
        "jobs",
    )
}
"""Options with a value that are ours to say, or that no verdict may hang on."""


def _mocha_suite(words: Sequence[str], folder: str) -> NodeSuite:
    """What decides how tests are read is kept; how they are told and how long they take is ours."""
    options: list[str] = []
    places: list[str] = []
    rest = iter(words)
    for word in rest:
        name = word.partition("=")[0]
        if name in _MOCHA_KEPT:
            options += [word] if "=" in word else [word, next(rest, "")]
        elif word in _MOCHA_FLAGS:
            options.append(word)
        elif word in _MOCHA_LEFT:
            next(rest, None)
        elif word == "--spec":
            places.append(next(rest, ""))
        elif not word.startswith("-") and word not in ("run", "watch", "dev"):
            places.append(word)
    return NodeSuite(folder, "mocha", tuple(options), tuple(places))


def _node_suite(words: list[str], folder: str) -> NodeSuite:
    """Options of node are kept, but for those about tests; patterns are filled in by us."""
    options: list[str] = ["--import", "tsx"] if words[0] == "tsx" else []
    places: list[str] = []
    takes_value = {
        "--import",
        "--loader",
        "--experimental-loader",
        "-r",
        "--require",
        "-C",
        "--conditions",
        "--env-file",
    }
    rest = iter(words[1:])
    for word in rest:
        if word.startswith("--test"):
            if word in (
                "--test-reporter",
                "--test-reporter-destination",
                "--test-concurrency",
                "--test-timeout",
            ):
                next(rest, None)
        elif word.startswith("-"):
            options.append(word)
            if word in takes_value:
                options.append(next(rest, ""))
        else:
            places.append(word)
    return NodeSuite(folder, "node", tuple(options), tuple(places))


def suites_in(read: Read, paths: Sequence[str]) -> tuple[NodeSuite, ...]:
    """How the packages of a project are tested: the outermost alone if it says so, else each that does. One
    that says nothing at all, with nothing that could be another runner, has node's own.
    """
    found: list[NodeSuite] = []
    every = [*packages_in(read, paths)]
    for package in every:
        names = [posixpath.basename(path) for path in paths if posixpath.dirname(path) == package.folder]
        if (suite := suite_of(package, names)) is None:
            continue
        if not package.folder:
            return (suite,)
        found.append(suite)
    if found or any(other_runner(package) for package in every) or other_platform(paths):
        return tuple(found)
    return (NodeSuite("", "node"),)


def other_platform(paths: Sequence[str]) -> str:
    """Deno or Bun, by the files at the top that only they have; empty if there is none."""
    there = {path for path in paths if "/" not in path}
    return next((name for name, own in OTHER_PLATFORMS.items() if not own.isdisjoint(there)), "")


def other_runner(package: Package) -> str:
    """The runner of a package that no judge is there for; empty if none is seen."""
    line = package.script("test")
    words = {posixpath.basename(word) for part in _SPLIT.split(line) for word in part.split()}
    return next((name for name in OTHER_RUNNERS if name in package.packages or name in words), "")


@dataclass(frozen=True, slots=True)
class Manager:
    """What installs the packages of a project."""

    name: str
    lock: str
    """The file that it remembers its choice in; empty if there is none."""
    setup: tuple[tuple[str, ...], ...]
    """The commands that bring it, where npm is not enough, and that install."""


def manager_of(read: Read, paths: Sequence[str]) -> Manager:
    """By the lock file at the top, else npm."""
    there = {path for path in paths if "/" not in path}
    package = package_at(read, "")
    said = str(package.data.get("packageManager", "")) if package else ""
    if "pnpm-lock.yaml" in there:
        usual = _pnpm_version(decode(read("pnpm-lock.yaml")))
        return Manager(
            "pnpm", "pnpm-lock.yaml", _through_npm("pnpm", said, usual, ("install", "--frozen-lockfile"))
        )
    if "yarn.lock" in there:
        usual = _yarn_version(decode(read("yarn.lock")))
        how = "--frozen-lockfile" if usual == "1" else "--immutable"
        return Manager("yarn", "yarn.lock", _through_npm("yarn", said, usual, ("install", how)))
    lock = next((name for name in ("package-lock.json", "npm-shrinkwrap.json") if name in there), "")
    words = ("npm", "ci" if lock else "install", "--no-audit", "--no-fund")
    return Manager("npm", lock, (words if lock else (*words, "--no-save", "--no-package-lock"),))


def _through_npm(program: str, said: str, usual: str, words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Npm brings the manager, in the version that the project names, else in ours."""
    added = package_managers()[f"{program}-{usual}"]
    name, _, version = said.partition("+")[0].partition("@")
    if name == program and re.fullmatch(r"[\w.-]+", version):
        return (("npm", "exec", "--yes", f"--package={added.package}@{version}", "--", program, *words),)
    by_hand = ("npm", "install", "--prefix", "{env}", f"{added.package}@{added.version}")
    return ((ADDED, f"{program}-{usual}", *by_hand), (program, *words))


def _pnpm_version(lock: str) -> str:
    """The newest that writes such a lock."""
    found = re.search(r"lockfileVersion:\s*'?(\d+)", lock[:200])
    return {"5": "7", "6": "8"}.get(found[1] if found else "", "9")


def _yarn_version(lock: str) -> str:
    """Likewise; until its second version yarn wrote none of its own."""
    found = re.search(r"__metadata:\s+version:\s*'?(\d+)", lock[:2000])
    if "__metadata:" not in lock:
        return "1"
    return "3" if found and int(found[1]) < _LOCK_OF_YARN_4 else "4"
