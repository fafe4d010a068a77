"""Tools that look at the task's repository: what has changed, how, since when, on which branch. They only
read.

Git is called with a list of words by the engine. A path stands after `--`, real and literal; a name that git
could take for an option is refused all the same, because not every program behind git reads `--`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.system.files import relative_to, resolve_inside
from agentforge.tools.base import (
    GitPort,
    Tool,
    ToolResult,
    ToolSpec,
    Workbench,
    number_of,
    object_schema,
    text_of,
)
from agentforge.tools.paths import closed_to_all

DEFAULT_COMMITS = 10
MAX_COMMITS = 100
MAX_BRANCHES = 50
MAX_PATHS = 500
_LITERAL = "--literal-pathspecs"
_DIFF = (_LITERAL, "diff", "--no-color", "--no-ext-diff", "--no-textconv")
_KINDS = {"A": "added", "D": "deleted", "M": "changed", "T": "changed in kind"}

_PATH: dict[str, Json] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 1000,
    "description": "a file or directory",
}


class _Failed(Exception):
    """A git command failed; `result` holds its message."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.text)
        self.result = result


def git_status(_args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """The files that differ from the base of the task, each with how."""
    git = _port(bench)
    if isinstance(git, ToolResult):
        return git
    try:
        fields = _output(
            git, [*_DIFF, "--no-renames", "--name-status", "-z", git.base, git.now(), "--"]
        ).split("\0")
    except _Failed as failed:
        return failed.result
    rows = [
        f"{_KINDS.get(kind, kind)} {_spelled(path)}"
        for kind, path in zip(fields[::2], fields[1::2], strict=False)
    ]
    head = (
        f"On {git.branch}, against {git.base[:12]}: {len(rows)} "
        f"{'file' if len(rows) == 1 else 'files'} changed."
    )
    return ToolResult(ok=True, text="\n".join([head, *rows]))


def git_diff(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """The diff against the base of the task, of everything or of one path. Files closed to every role are
    named and not shown.
    """
    git = _port(bench)
    if isinstance(git, ToolResult):
        return git
    try:
        now, path = git.now(), _pathspec(args, bench)
        names = [
            name
            for name in _output(
                git, [*_DIFF, "--no-renames", "--name-only", "-z", git.base, now, "--", *path]
            ).split("\0")
            if name
        ]
        closed = [name for name in names if closed_to_all(name)]
        wanted = [name for name in names if name not in closed][:MAX_PATHS] if closed else path
        text = _output(git, [*_DIFF, git.base, now, "--", *wanted]) if wanted or not closed else ""
    except _Failed as failed:
        return failed.result
    notes = [f"[only the first {MAX_PATHS} files are shown; give `path`]"] if len(wanted) == MAX_PATHS else []
    notes += [f"[`{_spelled(name)}` has changed and is not shown]" for name in closed]
    return ToolResult(
        ok=True,
        text="\n".join([text.rstrip("\n"), *notes]).strip("\n")
        or "Nothing differs from the base of the task.",
    )


def git_log(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """The commits that led to the base of the task, newest first."""
    git = _port(bench)
    if isinstance(git, ToolResult):
        return git
    limit = max(1, min(number_of(args, "limit", DEFAULT_COMMITS), MAX_COMMITS))
    words = [
        _LITERAL,
        "log",
        "--no-color",
        "--no-show-signature",
        "--date=short",
        "--format=%h %ad %an: %s",
        f"--max-count={limit}",
    ]
    try:
        text = _output(git, [*words, git.base, "--", *_pathspec(args, bench)])
    except _Failed as failed:
        return failed.result
    return ToolResult(ok=True, text=text.rstrip("\n") or "No commit touches this path.")


def git_branch(_args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """The branch of the task, what it starts from, and the other branches there are."""
    git = _port(bench)
    if isinstance(git, ToolResult):
        return git
    words = [
        "for-each-ref",
        f"--count={MAX_BRANCHES}",
        "--sort=-committerdate",
        "--format=%(refname:short) %(objectname:short)",
        "refs/heads",
    ]
    try:
        text = _output(git, words)
    except _Failed as failed:
        return failed.result
    head = f"The work will be on {git.branch}, from {git.base[:12]}.\nBranches, latest first:"
    return ToolResult(ok=True, text=f"{head}\n{text}".rstrip("\n"))


def _port(bench: Workbench) -> GitPort | ToolResult:
    if bench.git is not None:
        return bench.git
    return ToolResult(
        ok=False, text="git is not configured here; nothing was looked at", mistake="not_configured"
    )


def _output(git: GitPort, words: Sequence[str]) -> str:
    result = git.run(words)
    if not result.ok:
        raise _Failed(replace(result, mistake=result.mistake or "git_failed"))
    return result.text


def _pathspec(args: Mapping[str, Json], bench: Workbench) -> list[str]:
    """The path as git gets it; a file that is gone can be asked about too."""
    given = text_of(args, "path")
    if not given:
        return []
    path = relative_to(bench.root, resolve_inside(bench.root, given))
    if given.startswith("-") or path.startswith("-"):
        raise ModelMistake(
            "path", f"the path {given[:200]!r} begins with `-`, which a program could take for an option"
        )
    if closed := closed_to_all(path):
        raise ModelMistake("path", closed)
    return [] if path == "." else [path]


def _spelled(path: str) -> str:
    return path if path.isprintable() else repr(path)


GIT_READING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "git_status",
            "The files this task has added, changed or deleted so far.",
            object_schema({}),
            "read",
        ),
        git_status,
    ),
    Tool(
        ToolSpec(
            "git_diff",
            "The diff of this task so far, of one `path` or of all.",
            object_schema({}, {"path": _PATH}),
            "read",
        ),
        git_diff,
    ),
    Tool(
        ToolSpec(
            "git_log",
            "Commits before this task, newest first; with `path`, those that touch it.",
            object_schema(
                {}, {"path": _PATH, "limit": {"type": "integer", "minimum": 1, "maximum": MAX_COMMITS}}
            ),
            "read",
        ),
        git_log,
    ),
    Tool(
        ToolSpec(
            "git_branch",
            "The branch of this task, its base, and the other branches.",
            object_schema({}),
            "read",
        ),
        git_branch,
    ),
)
