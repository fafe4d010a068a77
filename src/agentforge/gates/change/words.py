"""What is nothing but words: all that may change after the last review."""

from agentforge.languages.documents.outline import is_document
from agentforge.languages.table import is_source
from agentforge.system.git.repository import Git
from agentforge.tools.change.releasing import CHANGELOG_NAME, NOTES_NAME

PLAIN = "100644"


def not_words(git: Git, before: str, after: str) -> list[str]:
    """The paths that differ and are no plain text for people to read, new or still there."""
    modes = {entry.path: entry.mode for entry in git.ls_tree(after)}
    changes = git.diff_names(before, after)
    return [change.path for change in changes if modes.get(change.path) != PLAIN or not is_words(change.path)]


def is_words(path: str) -> bool:
    """Whether a file is there to be read by people and by nothing else."""
    name = path.rpartition("/")[2]
    if is_source(path):
        return False
    return is_document(path) or bool(CHANGELOG_NAME.fullmatch(name) or NOTES_NAME.fullmatch(name))
