"""New files that would be loaded in the place of something else, the judge's own parts among it; and files
that are not what they look like.
"""

import re
from collections.abc import Iterable

from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.symbols import reads_otherwise


def shadowing(runner: PristineRunner, before: str, after: str, request: str) -> list[str]:
    """What a change adds or rewrites that would be loaded instead of something else, unless the request names
    the file.
    """
    git = runner.workspace.git
    written = sorted(change.path for change in git.diff_names(before, after) if change.status != "D")
    if not written:
        return []
    disguised = [
        f"`{path}` declares the encoding `{encoding}`, in which it says something else than people read; "
        "write it in UTF-8"
        for path in written
        if (encoding := reads_otherwise(git.read_blob(after, path) or b"", path))
        and encoding != reads_otherwise(git.read_blob(before, path) or b"", path)
    ]
    old, new = (frozenset(entry.path for entry in git.ls_tree(tree)) for tree in (before, after))
    return disguised + [
        f"`{found.path}` would be imported in the place of {found.instead_of}; remove it, or give it another "
        "name (such a file is taken only if the request names it)"
        for found in runner.language.tests.shadows(written, old, new, runner.env)
        if not is_named(found.names, request)
    ]


def is_named(names: Iterable[str], request: str) -> bool:
    """Whether the words of a request name one of these files or settings."""
    return any(re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w-])", request) for name in names)
