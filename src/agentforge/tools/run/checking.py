"""Tools that run the project's checks. The engine runs them, on a pristine checkout in the sandbox; here
their arguments are made sound.
"""

from collections.abc import Mapping

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.system.files import relative_to, resolve_inside
from agentforge.tools.base import Call, Tool, ToolResult, ToolSpec, Workbench, object_schema, texts_of

MAX_PATHS = 200
PATHS: dict[str, Json] = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 1000},
    "maxItems": MAX_PATHS,
}


def real_paths(args: Mapping[str, Json], bench: Workbench) -> tuple[str, ...]:
    """`paths` as real, repository-relative ones; each must be there."""
    found = []
    for given in texts_of(args, "paths"):
        path = resolve_inside(bench.root, given)
        if not path.exists():
            raise ModelMistake("no_such_file", f"there is no file or directory `{given}`")
        found.append(relative_to(bench.root, path))
    return tuple(dict.fromkeys(found))


def _by_engine(name: str, what: str) -> Call:
    """A tool that hands its call to the engine's check of the same name."""

    def call(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
        paths = real_paths(args, bench)
        run = bench.runs.get(name)
        if run is None:
            return ToolResult(
                ok=False,
                text=f"{name}: {what} is not configured here; nothing was checked",
                mistake="not_configured",
            )
        return run({**args, "paths": list(paths)} if paths else args)

    return call


CHECKING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "run_type_check",
            "Run the project's type checker; without `paths`, on what this change touches. Shows what is "
            "new against the base.",
            object_schema({}, {"paths": PATHS}),
            "execute",
        ),
        _by_engine("run_type_check", "a type checker"),
    ),
    Tool(
        ToolSpec(
            "run_conformance_check",
            "Check the project's rules (linter, contracts); without `paths`, on what this change "
            "touches. Shows what is new.",
            object_schema({}, {"paths": PATHS}),
            "execute",
        ),
        _by_engine("run_conformance_check", "a linter or another check"),
    ),
    Tool(
        ToolSpec(
            "analyze_coverage",
            "Run the suite of this task and list the changed lines that no test runs.",
            object_schema({}),
            "execute",
        ),
        _by_engine("analyze_coverage", "coverage"),
    ),
)
