"""Go: what its projects are, how its tests look, and its judge, `go test -json`."""

import json
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.languages.compiled.braces import TestDialect, tests_in
from agentforge.languages.compiled.kit import Commands, Kit, OwnChecker, Row, doubts_of
from agentforge.languages.compiled.running import Bench, JudgedTests, covers, first_line, placed
from agentforge.languages.compiled.servers import GOPLS
from agentforge.languages.compiled.stubs import go_stubs
from agentforge.languages.compiled.watching import VARIABLE, LineCalls
from agentforge.languages.described import Read, decode, words
from agentforge.languages.reports.ends import Canaries, Program
from agentforge.languages.reports.go_events import broken_files, read_go
from agentforge.languages.values import MarkedTests

DIALECT = TestDialect(
    test=re.compile(
        r"^func\s+(?P<name>Test(?![a-z])\w*)\s*\(\s*(?P<t>\w+)\s+\*testing\.T\s*\)\s*\{", re.MULTILINE
    ),
    scope=None,
    outermost=True,
    asserts=re.compile(
        r"\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt|must)\.\w+\(|\bpanic\("
    ),
    helps=re.compile(r"\(\s*t\s*[,)]"),
    skips=re.compile(r"\.(?:Skip|Skipf|SkipNow)\("),
    opens='defer func() { {t}.Errorf("1 + 1 is not 3") }();',
)
# They run like tests, but cannot be made to fail by a line of ours.
OTHER_TESTS = re.compile(r"^func\s+((?:Example|Fuzz)(?![a-z])\w*)\s*\(", re.MULTILINE)
FIELDS = "Dir,ImportPath,Name,TestGoFiles,XTestGoFiles,Error"
FIRST, LAST = "aa_agentforge_test.go", "zz_agentforge_test.go"
_CANARY = 'package {package}\n\nimport "testing"\n\nfunc {name}(t *testing.T) {{{body}}}\n'


def judge(bench: Bench, wanted: Collection[str] | None, command: Sequence[str]) -> JudgedTests:
    """`go test -json` on the packages that have such tests."""
    options, places = _words(command)
    tags = [word for word in options if word.startswith("-tags")]
    done = bench.call("go", "list", "-e", f"-json={FIELDS}", *tags, *places)
    listed = list(_objects(done.out.decode("utf-8", "replace")))
    if not listed:
        said = done.err.decode("utf-8", "replace").strip().splitlines()
        return JudgedTests(trouble=f"go lists no package: {said[0]}" if said else "go lists no package")
    packages = [package for found in listed if (package := _package(bench, found)).asked(wanted)]
    if not packages:
        return JudgedTests()
    for package in packages:
        package.lay(bench)
    names = {name for package in packages for name in package.names(wanted)}
    only = ("-run", f"^({'|'.join(sorted(names))})$") if wanted is not None else ()
    done = bench.call(
        "go",
        "test",
        "-json",
        "-count=1",
        "-vet=off",
        *options,
        *only,
        *(package.path for package in packages),
    )
    text = done.out.decode("utf-8", "replace")
    broken = broken_files(text + "\n" + done.err.decode("utf-8", "replace"))
    ends, began = read_go(text)
    programs = []
    for package in packages:
        own = Program(
            package.path,
            tuple(each for each in package.tests.values() if covers(wanted, each)),
            tuple(end for end in ends if end.id.partition("::")[0] == package.path),
            tuple(each for each in began if each.partition("::")[0] == package.path),
            package.canaries(bench),
        )
        # What another package lacks is said with that one: the first complaint is then the best there is.
        near = {path: said for path, said in broken.items() if _is_beside(path, package.folder)} or broken
        if broken and not own.ends and not own.began:
            own = replace(own, unbuilt=first_line(near))
        programs.append(placed(own, package.tests))
    return JudgedTests(tuple(programs), _own(broken))


def _own(broken: dict[str, str]) -> dict[str, str]:
    return {path: said for path, said in broken.items() if not path.endswith((FIRST, LAST))}


def _words(command: Sequence[str]) -> tuple[list[str], list[str]]:
    rest = [word for word in command[2:] if word not in ("-json", "-v")]
    return [word for word in rest if word.startswith("-")], [
        word for word in rest if not word.startswith("-")
    ] or ["./..."]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects one after the other."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield found
        at = text.find("{", end)


class _Package:
    """One package with its tests."""

    def __init__(self, path: str, folder: str, name: str, tests: dict[str, str]) -> None:
        self.path, self.folder, self._name = path, folder, name
        self.tests = tests
        """`package::Test` to the id of the test."""

    def asked(self, wanted: Collection[str] | None) -> bool:
        return any(covers(wanted, each) for each in self.tests.values())

    def names(self, wanted: Collection[str] | None) -> list[str]:
        return [
            *(key.partition("::")[2] for key, each in self.tests.items() if covers(wanted, each)),
            "TestAgentforge.*",
        ]

    def canaries(self, bench: Bench) -> Canaries:
        return Canaries(
            f"{self.path}::TestAgentforgePasses{bench.token}",
            f"{self.path}::TestAgentforgeFails{bench.token}",
        )

    def lay(self, bench: Bench) -> None:
        """Our own tests, in the first and in the last file of the package's tests."""
        for file, canary, body in zip(
            (FIRST, LAST), self.canaries(bench), ("", ' t.Errorf("as it must") '), strict=True
        ):
            name = canary.partition("::")[2]
            text = _CANARY.format(package=self._name, name=name, body=body)
            bench.write(f"{self.folder}/{file}" if self.folder else file, text)


def _package(bench: Bench, found: dict[str, Any]) -> _Package:
    folder = bench.relative(str(found.get("Dir", "")))
    folder = "" if folder in (str(bench.tree), ".") else folder
    inside = [str(name) for name in found.get("TestGoFiles") or () if name not in (FIRST, LAST)]
    outside = [str(name) for name in found.get("XTestGoFiles") or () if name not in (FIRST, LAST)]
    path = str(found.get("ImportPath", ""))
    tests = {}
    for name in (*inside, *outside):
        file = f"{folder}/{name}" if folder else name
        text = bench.text(file)
        for test in (*(test.name for test in tests_in(text, DIALECT)), *OTHER_TESTS.findall(text)):
            tests[f"{path}::{test}"] = f"{file}::{test}"
    name = str(found.get("Name", "main"))
    return _Package(path, folder, f"{name}_test" if outside else name, tests)


def _is_beside(path: str, folder: str) -> bool:
    return str(PurePosixPath(path).parent) == (folder or ".")


# ------------------------------------------------------------------ the language as data


def _variables(env: Path, out: Path) -> Mapping[str, str]:
    return {
        "GOCACHE": f"{out}/gocache",
        "GOMODCACHE": f"{env}/gomod",
        "GOPATH": f"{env}/go",
        "GOFLAGS": "-modcacherw" if out == env else "-mod=vendor" if (env / "vendored").exists() else "",
        "GOPROXY": "https://proxy.golang.org" if out == env else "off",
        "GOTOOLCHAIN": "local",
        "GOENV": "off",
        "GOTELEMETRY": "off",
        "CGO_ENABLED": "0" if shutil.which("gcc") is None else "1",
    }


def _setup(read: Read, paths: Sequence[str]) -> Commands:
    """Modules from the proxy, unless they lie in the tree; then everything that tests need is compiled."""
    places = _places(read, paths)
    modules = [f"{place.removesuffix('...')}go.mod".removeprefix("./") for place in places]
    needs = any(re.search(r"^\s*require\b", decode(read(path)), re.MULTILINE) for path in modules)
    vendored = any(path.startswith("vendor/") for path in paths)
    download = (("go", "mod", "download"),) if needs and not vendored else ()
    return (*download, ("go", "list", "-e", "-test", "-deps", "-export", "-f", "{{.Name}}", *places))


_USED = re.compile(r"^\s*(?:use\s+)?\"?(\./[\w./@+-]*[\w@+-])/?\"?\s*(?://.*)?$", re.MULTILINE)


def _places(read: Read, paths: Sequence[str]) -> tuple[str, ...]:
    """Every package; of a workspace without a module at its top, those of its modules: `./...` means none
    there.
    """
    if "go.work" not in paths or "go.mod" in paths:
        return ("./...",)
    used = (folder for folder in _USED.findall(decode(read("go.work"))) if ".." not in folder.split("/"))
    there = [folder for folder in dict.fromkeys(used) if f"{folder[2:]}/go.mod" in paths]
    return tuple(f"{folder}/..." for folder in there) or ("./...",)


def _vet(bench: Bench, said: str) -> Iterator[Row]:
    for line in said.splitlines():
        if found := re.match(r"(?:vet: )?(?P<file>[^\s:#]+\.go):(?P<line>\d+):(?:\d+:)? (?P<said>.*)", line):
            yield bench.relative(found["file"]), "vet", f"{found['line']}: {found['said']}"


def _unformatted(bench: Bench, said: str) -> Iterator[Row]:
    for line in said.splitlines():
        if line.endswith(".go"):
            yield bench.relative(line.strip()), "gofmt", "1: it is not formatted as gofmt does"


def _is_test(path: str) -> bool:
    return path.endswith("_test.go")


_TAGGED = re.compile(r"^//go:build[^\n]*(?<![!\w])(integration|e2e|acceptance)\b", re.MULTILINE)


def _behind_tags(read: Read, paths: Sequence[str]) -> tuple[MarkedTests, ...]:
    """Tests that are built only where somebody asks for them by a tag; by file, so that no other runs."""
    behind: dict[str, list[str]] = {}
    for path in sorted(path for path in paths if path.endswith("_test.go")):
        if found := _TAGGED.search(decode(read(path))[:2000]):
            behind.setdefault(found[1], []).append(path)
    return tuple(
        MarkedTests(
            f"tests behind the build tag {tag}",
            ("go", "test", f"-tags={tag}", *_places(read, paths)),
            tuple(files),
        )
        for tag, files in sorted(behind.items())
    )


_TELLER = """package {package}

import (
	"fmt"
	"os"
	"sync/atomic"
)

var agentforgeSeen [{count}]uint32

func agentforgeRan(number int) {{
	if atomic.SwapUint32(&agentforgeSeen[number], 1) != 0 {{
		return
	}}
	if place := os.Getenv("{variable}"); place != "" {{
		if file, err := os.OpenFile(place, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {{
			fmt.Fprintln(file, number)
			file.Close()
		}}
	}}
}}
"""


def _teller(text: str, count: int) -> tuple[str, str]:
    package = re.search(r"^package\s+(\w+)", text, re.MULTILINE)
    named = package[1] if package else "main"
    return "agentforge_lines.go", _TELLER.format(package=named, count=count, variable=VARIABLE)


KIT = Kit(
    name="Go",
    servers=(GOPLS,),
    suffixes=(".go",),
    runner="go test",
    markers=words("go.mod go.work"),
    locks=words("go.sum go.work.sum"),
    settings=frozenset(),
    sections={name: lambda text: text for name in ("go.work", "go.env", "vendor/modules.txt")},
    test_globs=("**/*_test.go", "**/testdata/**"),
    is_test=_is_test,
    dialect=DIALECT,
    missing_names=re.compile(
        r"undefined|not declared by package|has no field or method|is not in std|no required module"
    ),
    command=lambda read, paths: ("go", "test", *_places(read, paths)),
    starts=("go",),
    setup=_setup,
    variables=_variables,
    places=("proxy.golang.org", "sum.golang.org", "storage.googleapis.com"),
    warm="gocache",
    judge=judge,
    stub=go_stubs,
    lines=LineCalls(
        lambda number: f"agentforgeRan({number})",
        re.compile(r'"os/exec"|\bos\.StartProcess|testscript'),
        _teller,
    ),
    held_out="held_out_by_agentforge_test.go",
    doubts=doubts_of(
        r"\btesting\.|\bflag\.Lookup|\bos\.Args",
        r"\bos\.Exit\(|\bsyscall\.|\bruntime\.(?:Goexit|Caller)",
        r"\btime\.(?:Now|Since|Until)\(",
    ),
    checkers=(
        OwnChecker("gofmt", ("gofmt", "-l", "{files}"), _unformatted, writes=("gofmt", "-w")),
        OwnChecker("go vet", ("go", "vet", "./..."), _vet),
    ),
    not_run=(("benchmarks", "they are no tests"),),
    marked=_behind_tags,
)
