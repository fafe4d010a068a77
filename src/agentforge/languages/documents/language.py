"""Documents as the port knows them: the one language of which nothing is executed."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentforge.core.errors import UsageError
from agentforge.languages.described import Read
from agentforge.languages.documents import checks
from agentforge.languages.documents.citations import RECORDS
from agentforge.languages.documents.library import Library, TreeShelf
from agentforge.languages.documents.lint import SUFFIXES as READ
from agentforge.languages.documents.lint import lint
from agentforge.languages.environments import build_environment
from agentforge.languages.outcomes import NO_TESTS, Reached, TestResult, TestRun, Watch, absent, covering
from agentforge.languages.plain.answers import PlainProjects, PlainRuns, PlainTests
from agentforge.languages.plain.reading import PlainImports, PlainMeasures, PlainNames, PlainSource
from agentforge.languages.port import Language
from agentforge.languages.set_up import Makings
from agentforge.languages.values import CheckRun, Environment, Liveness, Plan
from agentforge.sandbox.base import Sandbox
from agentforge.system.canon import digest

NAME = "documents"
_RUNNER = "the checks of documents"


class DocumentProjects(PlainProjects):
    """A repository in which documents have checks."""

    def roots(self, read: Read, paths: Sequence[str], /) -> tuple[str, ...]:  # noqa: ARG002 - the port
        """The top, if there is a file of checks."""
        return ("",) if any(path.endswith(checks.SUFFIX) for path in paths) else ()

    def detect(
        self,
        read: Read,  # noqa: ARG002 - the port
        paths: Sequence[str],
        settings: Mapping[str, object] | None = None,  # noqa: ARG002 - the port
        /,
    ) -> Plan:
        """Nothing is installed; the checks are wherever they lie."""
        count = sum(path.endswith(checks.SUFFIX) for path in paths)
        return Plan((), (NAME,), (), (f"**/*{checks.SUFFIX}",), (NAME,), (f"{count} files of checks",), ())

    def build(
        self,
        plan: Plan,
        tree_checkout: Callable[[Path], None],
        cache: Path,
        sandbox: Sandbox,
        /,
        **facts: Any,  # noqa: ANN401 - the port
    ) -> Environment:
        """An empty one."""
        path = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
        makings = Makings(prefix=Path("/usr"), program=".", identity=(NAME,), variables=path)
        key = str(facts["lock_text_hash"])
        return build_environment(plan, makings, tree_checkout, cache, sandbox, lock_text_hash=key)


class DocumentSource(PlainSource):
    """A file of checks as text."""

    def syntax_error(self, text: str, path: str, /) -> tuple[int, str] | None:
        """What is wrong with it, so that who wrote it hears of it at once."""
        return checks.problem(text, path)


class DocumentTests(PlainTests):
    """Checks as tests."""

    RUNNER = _RUNNER
    SETTINGS = frozenset({RECORDS})

    def is_test_name(self, name: str, /) -> bool:
        """By the end of the name."""
        return name.endswith(checks.SUFFIX)

    def test_globs(self, test_paths: Sequence[str], /) -> tuple[str, ...]:
        """Wherever they lie."""
        return tuple(test_paths)

    def test_ids_in_source(self, text: str, path: str, /) -> list[str]:
        """A check each."""
        return [f"{path}::{name}" for name in checks.names(text)]

    def source_of_test(self, text: str, identity: str, /) -> str | None:
        """One check."""
        return checks.source(text, _name(identity))

    def liveness(self, text: str, identity: str, /) -> Liveness:
        """Tried on a text that says nothing."""
        return checks.liveness(text, _name(identity))

    def asserts(self, text: str, identity: str, /) -> bool:
        """Whether it can fail."""
        return not self.liveness(text, identity).refused

    def made_to_fail(self, text: str, ids: Collection[str], /) -> tuple[str, frozenset[str]]:
        """The file in which they fail."""
        made, found = checks.made_to_fail(text, [_name(each) for each in ids])
        return made, frozenset(each for each in ids if _name(each) in found)

    def inputs(self, text: str, /) -> tuple[str, ...]:
        """What they compare with."""
        return checks.inputs(text)


class DocumentRuns(PlainRuns):
    """Checks are read and judged here: no program of anybody has a part in it."""

    def run_tests(
        self,
        sandbox: Sandbox,
        env: Environment,  # noqa: ARG002 - the port
        tree: Path,
        /,
        **facts: Any,  # noqa: ANN401 - the port
    ) -> TestRun:
        """What each check says of the tree."""
        ids: Sequence[str] = facts.get("ids", ())
        watch: Watch | None = facts.get("watch")
        began, asked = time.monotonic(), frozenset(ids)
        shelf = TreeShelf(tree)
        results: dict[str, TestResult] = {}
        broken: dict[str, str] = {}
        opened: dict[str, frozenset[str]] = {}
        for path in shelf.called(f"*{checks.SUFFIX}"):
            text = (shelf.data(path) or b"").decode("utf-8", "replace")
            try:
                found = checks.read_checks(text, path)
            except UsageError as error:
                broken[path] = error.sentence
                continue
            for name, check in found.items():
                identity = f"{path}::{name}"
                if asked and asked.isdisjoint(covering(identity)):
                    continue
                library = Library(shelf)
                results[identity] = checks.judged(identity, check, library)
                opened[identity] = frozenset(library.opened)
        covered = {name for identity in results for name in covering(identity)}
        results |= {each: absent(each, broken) for each in ids if each not in covered and "::" in each}
        said = "\n".join(f"{each.outcome} {key} {each.message}" for key, each in sorted(results.items()))
        return TestRun(
            argv=(*facts["base_command"], *ids),
            status="ran" if results or broken else "not_run",
            reason="" if results or broken else NO_TESTS,
            ids=tuple(ids),
            results=results,
            collect_errors=broken,
            output=said,
            output_hash=digest(said),
            duration_ms=round((time.monotonic() - began) * 1000),
            sandbox=sandbox.name,
            reached=None if watch is None else _reached(watch, opened),
        )

    def judge_hash(self) -> str:
        """A digest of what of ours has a part in the outcomes."""
        return digest(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))))

    def lint(self, sandbox: Sandbox, env: Environment, tree: Path, paths: Sequence[str], /) -> CheckRun:  # noqa: ARG002 - the port
        """What is wrong with those documents that are there."""
        library = Library(TreeShelf(tree))
        return CheckRun.of(
            row for path in sorted(paths) if path.endswith(READ) for row in lint(path, library)
        )


def _reached(watch: Watch, opened: Mapping[str, frozenset[str]]) -> Reached:
    data = frozenset(watch.data)
    read = {identity: paths & data for identity, paths in opened.items()}
    return Reached({}, {}, {}, frozenset(), frozenset().union(*read.values()), frozenset(), read=read)


def _name(identity: str) -> str:
    return identity.partition("::")[2]


DOCUMENTS = Language(
    name=NAME,
    suffixes=(checks.SUFFIX,),
    declarations=(),
    caches=frozenset(),
    no_caches={},
    projects=DocumentProjects(NAME),
    source=DocumentSource(),
    imports=PlainImports(),
    names=PlainNames(),
    measures=PlainMeasures(),
    tests=DocumentTests(NAME),
    runs=DocumentRuns(NAME),
    gaps=(
        (
            "whether a source means what is claimed",
            "read by the reviewer; the engine sees that its words stand there",
        ),
        ("coverage", "not available for documents"),
    ),
    runs_code=False,
)
