"""Tools that compute: who imports whom, what a project requires, how its packages stand, how complex its
functions are.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agentforge.core.errors import ModelMistake, UsageError
from agentforge.core.reply import Json
from agentforge.languages.duplicates import duplicates
from agentforge.languages.imports import ImportGraph, loads_with, outside_imports
from agentforge.languages.joined import joined_language
from agentforge.languages.measures import complexity
from agentforge.languages.reach import Reach, change_facts, imported_by, render
from agentforge.languages.repository import find_projects
from agentforge.languages.table import NAMES, is_code
from agentforge.languages.tests import looks_like_test
from agentforge.languages.values import Manifest
from agentforge.system.files import relative_to, resolve_inside
from agentforge.tools.base import RESULT_CHARS, Tool, ToolResult, ToolSpec, Workbench, object_schema, text_of
from agentforge.tools.look import diagram
from agentforge.tools.look.source import code_texts, present, read_source, walk

MAX_FUNCTIONS = 30
MAX_DUPLICATES = 10
MAX_DECLARED = 40
COMPLEX = 10
"""Branches beyond which a function is named as complex."""

_PATH: dict[str, Json] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 1000,
    "description": "a file or directory",
}


def analyze_dependencies(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Of the project: what it declares and uses. Of a path: what it imports, who imports it, which tests
    reach it.
    """
    manifest = manifest_of(bench.root)
    texts = code_texts(bench.root)
    if place := text_of(args, "path"):
        chosen = _below(place, bench)
        graph = ImportGraph.build(texts, manifest.import_roots)
        reach = change_facts(graph, texts, chosen, [path for path in texts if looks_like_test(path)])
        text = render(reach, RESULT_CHARS - 400)
        return ToolResult(ok=True, text=f"{text}\n{_sum(reach)}" if len(chosen) > 1 else text)
    rows = ["Declared:", *(f"  {where}: {_listed(names)}" for where, names in manifest.requirements if names)]
    if len(rows) == 1:
        rows.append("  nothing")
    return ToolResult(ok=True, text="\n".join([*rows, *_used(manifest, texts)]))


def view_architecture_diagram(_args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Packages in layers by what they import; tests are left out, since they import everything."""
    manifest = manifest_of(bench.root)
    texts = {path: text for path, text in code_texts(bench.root).items() if not looks_like_test(path)}
    if not texts:
        return ToolResult(ok=True, text=f"There is no {NAMES} package here.")
    roots = manifest.import_roots
    forward = imported_by(ImportGraph.build(texts, roots))
    # The file of a package is loaded with every module in it; that is no choice of the module's author.
    imports = {path: [each for each in forward.get(path, ()) if not loads_with(each, path)] for path in texts}
    return ToolResult(ok=True, text=diagram.render(diagram.diagram(imports, texts, roots)))


def analyze_complexity(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Functions with the most branches first, and blocks that stand twice; of a path, else of the change,
    else of all but tests.
    """
    place = text_of(args, "path")
    chosen = [path for path in (_below(place, bench) if place else present(bench)) if is_code(path)]
    if place and not chosen:
        return ToolResult(ok=True, text=f"`{place}` holds no {NAMES}.")
    everything = {} if chosen else code_texts(bench.root)
    texts = {path: read_source(bench.root, path).text for path in chosen}
    texts |= {path: text for path, text in everything.items() if not looks_like_test(path)}
    found = [
        (count, f"{path}::{name}")
        for path, text in texts.items()
        for name, count in complexity(text, path).items()
    ]
    found.sort(key=lambda each: (-each[0], each[1]))
    head = (
        f"{len(found)} functions in {len(texts)} files, {sum(count > COMPLEX for count, _ in found)} "
        f"of them above {COMPLEX}."
    )
    rows = [f"{count} {name}" for count, name in found[:MAX_FUNCTIONS]]
    twice = [
        f"{each.lines} lines twice: {each.path}:{each.start} and {each.other_path}:{each.other_start}"
        for each in sorted(duplicates(texts), key=lambda each: (-each.lines, each.path, each.start))[
            :MAX_DUPLICATES
        ]
    ]
    return ToolResult(ok=True, text="\n".join([head, *rows, *twice]))


def manifest_of(root: Path) -> Manifest:
    """The project's own description. One that cannot be parsed is told to the role, which may have written
    it.
    """

    def read(path: str) -> bytes | None:
        place = root / path
        return place.read_bytes() if place.is_file() and not place.is_symlink() else None

    paths = tuple(walk(root, root))
    try:
        return joined_language(find_projects(read, paths)).projects.describe(read, paths)
    except UsageError as error:
        raise ModelMistake("not_readable", str(error)) from None


def _used(manifest: Manifest, texts: Mapping[str, str]) -> Iterator[str]:
    """Names imported from elsewhere with how many files do, apart for those whose name no requirement has."""
    files: dict[str, list[str]] = {}
    own = tuple(texts)
    for path, text in texts.items():
        for name in outside_imports(text, path, own):
            files.setdefault(name, []).append(path)
    yield "Imported from elsewhere:" if files else "Nothing is imported from elsewhere."
    for name, paths in sorted(files.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        unknown = (
            ""
            if name.lower() in manifest.names
            else "; no declared requirement has this name (it may have another)"
        )
        only_tests = ", tests only" if all(map(looks_like_test, paths)) else ""
        yield f"  {name}: {len(paths)} files{only_tests}, first {paths[0]}{unknown}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_DECLARED} more" if len(names) > MAX_DECLARED else ""
    return ", ".join(names[:MAX_DECLARED]) + more


def _sum(reach: Reach) -> str:
    return (
        f"In all: imported by {len(reach.importers)} other files, reached by {len(reach.tests)} test files."
    )


def _below(place: str, bench: Workbench) -> list[str]:
    start = resolve_inside(bench.root, place)
    if start.is_file():
        return [relative_to(bench.root, start)]
    if not start.is_dir():
        raise ModelMistake("no_such_file", f"there is no file or directory `{place}`")
    return [path for path in walk(bench.root, start) if is_code(path)]


ANALYSING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "analyze_dependencies",
            "Declared requirements and what is imported; with `path` its imports, its importers and the "
            "tests that reach it.",
            object_schema({}, {"path": _PATH}),
            "read",
        ),
        analyze_dependencies,
    ),
    Tool(
        ToolSpec(
            "view_architecture_diagram",
            "Packages in layers, who imports whom, and cycles.",
            object_schema({}),
            "read",
        ),
        view_architecture_diagram,
    ),
    Tool(
        ToolSpec(
            "analyze_complexity",
            "Functions by number of branches and blocks written twice; without `path`, of what this "
            "change touches.",
            object_schema({}, {"path": _PATH}),
            "read",
        ),
        analyze_complexity,
    ),
)
