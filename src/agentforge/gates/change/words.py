"""What is nothing but words: all that may change after the last review."""

import re
from collections.abc import Collection

from agentforge.languages.documents.outline import FOLDERS, is_document
from agentforge.languages.table import LANGUAGES, is_source
from agentforge.system.git.repository import Git
from agentforge.tools.change.releasing import CHANGELOG_NAME, NOTES_NAME

PLAIN = "100644"
_PATH_IN_QUOTES = re.compile(rb"""["'`](?:[^"'`\n]*/)?([^"'`/\n]+)["'`]""")


def not_words(git: Git, before: str, after: str) -> list[str]:
    """The paths that differ and are no plain text for people to read, new or still there; what code reads by
    its name is data.
    """
    modes = {entry.path: entry.mode for entry in git.ls_tree(after)}
    paths = [change.path for change in git.diff_names(before, after)]
    others = [path for path in paths if modes.get(path) != PLAIN or not is_words(path)]
    words = [path for path in paths if path not in others]
    read = _named_by_code(git, after, modes) if words else frozenset()
    return [path for path in paths if path in others or path.rpartition("/")[2].encode() in read]


def _named_by_code(git: Git, tree: str, paths: Collection[str]) -> frozenset[bytes]:
    """The last parts of all paths that code has in quotes; what builds a project, or its documentation, takes
    words as words.
    """
    build = FOLDERS.union(*(language.projects.BUILD_FILES for language in LANGUAGES))
    code = [path for path in paths if is_source(path) and build.isdisjoint(path.split("/"))]
    return frozenset(
        name for path in code for name in _PATH_IN_QUOTES.findall(git.read_blob(tree, path) or b"")
    )


def is_words(path: str) -> bool:
    """Whether a file is there to be read by people and by nothing else."""
    name = path.rpartition("/")[2]
    if is_source(path):
        return False
    return is_document(path) or bool(CHANGELOG_NAME.fullmatch(name) or NOTES_NAME.fullmatch(name))
