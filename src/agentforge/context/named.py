"""What a request names of the tree: files by their path, definitions by their name. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from agentforge.languages.table import LANGUAGES, is_code, language_of

TEXT_SCANNED = 2000
"""Files that are searched for named symbols: more cost more than the answer is worth."""


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """What the tree says about the words of a request."""

    named_paths: tuple[str, ...] = ()
    """Files of the tree that the request names."""
    named_symbols: tuple[str, ...] = ()
    """`path::name` of definitions that the request names."""


def tree_facts(request: str, files: Mapping[str, Callable[[], str]]) -> TreeFacts:
    """Look the request's words up in the tree: paths by their end, identifiers by their definition."""
    code = [path for path in sorted(files) if is_code(path)]
    paths = tuple(sorted(set(_named_paths(request, list(files)))))
    return TreeFacts(paths, tuple(_named_symbols(request, files, code)))


def _named_paths(request: str, paths: list[str]) -> Iterator[str]:
    """A word with a dot or slash names the file whose path ends with it, if only one does."""
    ending: dict[str, list[str]] = {}
    for path in paths:
        parts = path.split("/")
        for count in range(len(parts)):
            ending.setdefault("/".join(parts[count:]), []).append(path)
    for word in re.findall(r"[\w][\w./-]*[\w]", request):
        known = [word] if word in paths else ending.get(word.removeprefix("./"), [])
        if len(known) == 1 and ("." in word or "/" in word):
            yield known[0]


def _named_symbols(request: str, files: Mapping[str, Callable[[], str]], code: list[str]) -> Iterator[str]:
    """Words that look like code, where the tree defines them: in backticks, called, snake_case, dotted or
    CamelCase.
    """
    marked = re.findall(
        r"`([\w.]+)(?:\(\))?`|\b([A-Za-z_]\w*(?:\.\w+)*)\(|\b(\w*[a-z0-9]_\w+|[A-Z]+_\w+|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{3,})\b",
        request,
    )
    names = sorted({word.rpartition(".")[2] for group in marked for word in group if word} - {""})
    if not names:
        return
    patterns = {language.name: language.source.definitions(names) for language in LANGUAGES}
    for path in code[:TEXT_SCANNED]:
        language = language_of(path)
        matches = patterns[language.name].finditer(files[path]()) if language else ()
        yield from (f"{path}::{name}" for name in sorted({match[match.lastindex or 0] for match in matches}))
