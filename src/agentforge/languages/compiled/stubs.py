"""*Stub-red*: the names that a new test lacks get bodies that only fail, so that the test has an outcome.

Only functions that are called by a plain name are stood in for. What a stub returns fits any comparison;
where that is not enough to compile, the test is *compile-red*, which is weaker (`running.py`).
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from agentforge.languages.compiled.braces import code_of
from agentforge.languages.compiled.running import Bench

FAILS = "{name} is not there yet"
GO_STUB = "agentforge_stub.go"
_GO_NAME = re.compile(r"undefined: (?:\w+\.)?(?P<name>\w+)$")
_GO_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_RUST_NAME = re.compile(r"cannot find function `(?P<name>\w+)`|unresolved import `\w+::(?P<import>\w+)`")
_RUST_VALUE = """
#[allow(missing_docs)]
pub struct AgentforgeStub;
impl<T: ?Sized> core::cmp::PartialEq<T> for AgentforgeStub {
    fn eq(&self, _: &T) -> bool {
        false
    }
}
impl core::fmt::Debug for AgentforgeStub {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a stub")
    }
}
"""


def go_stubs(bench: Bench, broken: Mapping[str, str]) -> dict[str, str]:
    """A file of stubs for each package whose tests lack functions; none if something else is lacking."""
    found: dict[str, set[str]] = {}
    for path, said in broken.items():
        names = _names(said, _GO_NAME)
        if names is None or not all(_arity(bench.text(path), name) is not None for name in names):
            return {}
        found.setdefault(str(PurePosixPath(path).parent), set()).update(names)
    texts = {}
    for folder, wanted in found.items():
        place = "" if folder == "." else f"{folder}/"
        code = (bench.text(file) for file in bench.found(f"{place}*.go") if not file.endswith("_test.go"))
        package = next((named[1] for text in code if (named := _GO_PACKAGE.search(code_of(text)))), None)
        if package is None:
            return {}
        stubs = (
            f'func {name}(_ ...interface{{}}) interface{{}} {{ panic("{FAILS.format(name=name)}") }}\n'
            for name in sorted(wanted)
        )
        texts[f"{place}{GO_STUB}"] = f"package {package}\n\n{''.join(stubs)}"
    return texts


def rust_stubs(bench: Bench, broken: Mapping[str, str]) -> dict[str, str]:
    """The first file of each library with stubs at its end; none if its tests lack anything else."""
    found: dict[str, dict[str, int]] = {}
    for path, said in broken.items():
        names, library = _names(said, _RUST_NAME), f"{path.partition('tests/')[0]}src/lib.rs"
        if names is None or not bench.has(library):
            return {}
        for name in names:
            count = _arity(bench.text(path), name)
            if count is None:
                return {}
            found.setdefault(library, {})[name] = count
    return {
        library: "".join((bench.text(library), _RUST_VALUE, *(_rust_stub(*each) for each in names.items())))
        for library, names in found.items()
    }


def _rust_stub(name: str, count: int) -> str:
    types = ", ".join(f"A{number}" for number in range(count))
    arguments = ", ".join(f"_: A{number}" for number in range(count))
    return (
        f"#[allow(missing_docs)]\npub fn {name}<{types}>({arguments}) -> AgentforgeStub {{\n"
        f'    panic!("{FAILS.format(name=name)}")\n}}\n'
    )


def _names(said: str, pattern: re.Pattern[str]) -> set[str] | None:
    """The names of which all these errors are; None if one of them is about something else."""
    found = [pattern.search(line) for line in said.splitlines() if line.strip()]
    return {next(filter(None, each.groups())) for each in found if each} if all(found) and found else None


def _arity(text: str, name: str) -> int | None:
    """With how many arguments a function is called, the first time; None if it is not called."""
    code = code_of(text)
    called = re.search(rf"(?<!fn )(?<!func )\b{re.escape(name)}\s*\(", code)
    if called is None:
        return None
    depth, commas, inside = 1, 0, False
    for at in range(called.end(), len(code)):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0:
            return commas + 1 if inside or text[called.end() : at].strip() else 0
        commas += code[at] == "," and depth == 1
        inside = inside or not code[at].isspace()
    return None
