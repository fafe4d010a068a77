"""The integration tests of a JavaScript project: the scripts of that name, where they start a runner that has
a judge.
"""

import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentforge.core.errors import UsageError
from agentforge.languages.marked import MOST, declared_integration, is_integration
from agentforge.languages.node.manifest import NodeSuite, Package, suite_in
from agentforge.languages.node.test_files import CODE, is_test_name
from agentforge.languages.values import SETTINGS_FILE, MarkedTests

_SHORT = re.compile(r"(?:tests?[:-])?(?:system|it)(?:[:-]tests?)?")
_OWN_SETTINGS = re.compile(
    r"(?:^|\s)(?:-c|--config|--project|--workspace|--root|--dir|--selectProjects)[\s=]"
)
_UNKNOWN = "not run: it starts no test runner that is known"


def marked_scripts(
    packages: Sequence[Package], paths: Sequence[str]
) -> tuple[tuple[MarkedTests, ...], tuple[tuple[str, str], ...]]:
    """What the scripts of that name run; and those that nothing here runs, each with the reason."""
    marked: list[MarkedTests] = []
    left: dict[str, str] = {}
    for package in packages:
        for name in package.mapping("scripts"):
            if not is_integration(name) and not _SHORT.fullmatch(name):
                continue
            line = package.script(name)
            label = f"tests of the script `{name}`{' of ' + package.folder if package.folder else ''}"
            found = _read(label, line, package.folder, paths)
            if isinstance(found, str):
                left[label] = found
            elif len(marked) < MOST:
                marked.append(found)
    return tuple(marked), tuple(left.items())


def _read(label: str, line: str, folder: str, paths: Sequence[str]) -> MarkedTests | str:
    suite = suite_in(line, folder)
    if suite is None:
        return _UNKNOWN
    if suite.runner in ("vitest", "jest") and _OWN_SETTINGS.search(line):
        return f"not run: {suite.runner} is given settings of its own there"
    if folder or suite.runner in ("vitest", "jest"):
        files = _files(suite, line, folder, paths)
        if not files:
            return "not run: its command names no file of tests"
        return MarkedTests(label, replace(suite, places=()).command, files)
    return MarkedTests(label, suite.command)


def _files(suite: NodeSuite, line: str, folder: str, paths: Sequence[str]) -> tuple[str, ...]:
    """The files of tests that the words of the command are a part of the path of, as vitest and jest have
    it.
    """
    words = suite.places or tuple(
        word
        for word in shlex.split(line)
        if not word.startswith("-") and word not in (suite.runner, "run", "npx") and "=" not in word
    )
    parts = [posixpath.normpath(word).split("*")[0] for word in words]
    start = f"{folder}/" if folder else ""
    return tuple(
        path
        for path in sorted(paths)
        if path.startswith(start)
        and path.endswith(CODE)
        and (is_test_name(posixpath.basename(path)) or any(path == f"{start}{part}" for part in parts))
        and any(part and part in path.removeprefix(start) for part in parts)
    )


def declared_marks(settings: Mapping[str, object], found: tuple[MarkedTests, ...]) -> tuple[MarkedTests, ...]:
    """What the settings say instead of what was found."""
    line = declared_integration(settings)
    if line is None or not line:
        return found if line is None else ()
    if (suite := suite_in(line)) is None:
        raise UsageError(
            f"`commands.integration` in `{SETTINGS_FILE}` starts no test runner that is known: {line}.",
            "Write one of `node --test`, `vitest run`, `jest` and `mocha`, or an empty one for none.",
        )
    return (MarkedTests(f"tests of `{line}`", suite.command),)
