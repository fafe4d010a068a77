"""What the history of a repository says about some of its files: what changes with them, and why they
changed last. Pure.
"""

from collections import Counter
from collections.abc import Collection, Sequence

from agentforge.languages.generated import is_in_made_folder
from agentforge.system.git.history import PastCommit

LOOKED_AT = 200
"""Commits that are read."""
MOST_FILES = 30
"""A commit of more files is a sweep and says nothing about which belong together."""
_TOGETHER = 2
_SHOWN = 6
_CHANGES = 2
_SUBJECT = 100


def told_by_history(commits: Sequence[PastCommit], paths: Sequence[str], there: Collection[str]) -> str:
    """A few lines about these files; none where history says nothing. `there` are the files of the tree."""
    own = set(paths)
    # The first commit of all put everything there: it says nothing of any file.
    later = commits[:-1] if len(commits) < LOOKED_AT else commits
    about = [each for each in later if own & set(each.paths)]
    counts: Counter[str] = Counter()
    for each in about:
        if len(each.paths) <= MOST_FILES:
            counts.update(
                path for path in {*each.paths} - own if path in there and not is_in_made_folder(path)
            )
    often = sorted(
        (path for path, count in counts.items() if count >= _TOGETHER), key=lambda path: (-counts[path], path)
    )
    lines = []
    if often:
        said = ", ".join(f"{path} ({counts[path]} times)" for path in often[:_SHOWN])
        lines.append(f"Changed together with it, in the last {len(commits)} commits: {said}.")
    lines += [
        f"{each.day} {each.commit}: {' '.join(each.subject.split())[:_SUBJECT]}" for each in about[:_CHANGES]
    ]
    return "\n".join(lines)
