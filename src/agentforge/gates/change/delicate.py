"""Which changed files are delicate: a mistake there lets somebody in. They are read once more."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from agentforge.catalog.policies import read_policy, section
from agentforge.gates.change.delicate_use import uses_with_change
from agentforge.languages.documents.outline import is_document
from agentforge.languages.imports import imported_names
from agentforge.languages.measures import same_code
from agentforge.system.git.repository import Git

_WORD = re.compile(r"[a-z]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def delicate_paths(git: Git, base_tree: str, tree: str, is_test: Callable[[str], bool]) -> dict[str, str]:
    """The delicate files of a change, each with why it is one."""
    found: dict[str, str] = {}
    for change in git.diff_names(base_tree, tree):
        path = change.path
        if is_test(path) or is_document(path):
            continue
        before, after = (_text(git, side, path) for side in (base_tree, tree))
        if before and after and same_code(before, after, path):
            continue  # words for people
        patch = git.diff_patch(base_tree, tree, [path]).decode("utf-8", "replace")
        why = _by_name(path) or _by_imports(path, (before, after), patch) or _by_calls(patch)
        if why:
            found[path] = why
    return found


def _text(git: Git, tree: str, path: str) -> str:
    return (git.read_blob(tree, path) or b"").decode("utf-8", "replace")


def _by_name(path: str) -> str:
    words = _WORD.findall(_HUMP.sub("_", path).lower())
    found = next((word for word in words if word in _policy().paths), "")
    return f"its path says {found}" if found else ""


def _by_imports(path: str, texts: tuple[str, str], patch: str) -> str:
    """A delicate module counts where what changed has to do with it, on either side of the change."""
    for text in texts:
        for name in sorted(imported_names(text, path) & _policy().imports):
            if uses_with_change(name, path, texts, patch):
                return f"it uses {name}"
    return ""


def _by_calls(patch: str) -> str:
    for line in patch.splitlines():
        differs = line[:1] in ("+", "-") and not line.startswith(("+++", "---"))
        if differs and (found := _policy().calls.search(line[1:])) is not None:
            return f"a changed line has {found[0].strip()}"
    return ""


@dataclass(frozen=True, slots=True)
class _Delicate:
    """`catalog/policies/delicate.yaml`, which says what each is."""

    paths: frozenset[str]
    imports: frozenset[str]
    calls: re.Pattern[str]


@cache
def _policy() -> _Delicate:
    return section(_Delicate, "delicate.yaml", read_policy("delicate"))
