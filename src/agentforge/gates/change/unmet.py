"""What a request asks for by name or number, and a change has nothing of: half of a request is easily taken
for all of it, by whoever writes the specification.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from agentforge.gates.flags import Flag
from agentforge.languages.interface import public_names
from agentforge.languages.measures import changed_code
from agentforge.languages.symbols import outline

_DEMANDED = re.compile(
    r"(?<![\w./-])`?([A-Za-z_]\w*)(?:\(\))?`?,?\s+(?:also |now |then )?"
    r"(?:must|should|shall|ought to|has to|have to|needs to)\b"
    r"(?! (?:not|never|stay|remain|keep|still|be left)\b)"
)
"""What must do something; what must stay as it is needs no change."""
_LIMITED = re.compile(
    r"\b((?:more|less|fewer|greater|larger|smaller|longer|shorter|older|higher|lower) than|"
    r"at most|at least|up to|above|below|over|under|exceed(?:s|ing)?|"
    r"(?:maximum|minimum|limit)(?: of| to| is)?|limited to)\s+"
    r"(\d[\d_,]*)(?![\w.:/-]*\d)\s*(\w*)",
    re.IGNORECASE,
)
"""A limit, and the word after it."""
_SCALED = re.compile(
    r"(?:[kmgt]i?b|bytes?|minutes?|min|hours?|h|days?|weeks?|months?|years?|lines?|files?)$", re.IGNORECASE
)
"""Units that code counts in others."""
_SMALL = 2
_WORD = re.compile(r"[^\W\d]\w*")


def unmet(
    request: str,
    sides: Mapping[str, tuple[str, str]],
    base: Mapping[str, str],
    *,
    code: Collection[str] = (),
) -> Iterator[Flag]:
    """Flags for names and limits of a request; `sides` are the changed files of code and tests as they were
    and as they are, `base` all code as it was, tests aside. `code` are those that
    are no tests, where nothing else changed.
    """
    brought = "\n".join(
        line for was, now in sides.values() for line in now.splitlines() if line not in set(was.splitlines())
    )
    for name, (path, dotted) in _names_demanded(request, base).items():
        was, now = sides.get(path, ("", ""))
        if _is_changed(was, now, path, dotted):
            continue
        if not _has_word(brought, name):
            told = f"the request says what `{name}` must do, and the change neither touches nor tests it"
            yield Flag(f"{path}::{name}", told, ruling=True)
        elif code and not _reaches(name, {each: sides[each] for each in code}, base):
            told = f"the request says what `{name}` must do, and it uses nothing that the change touches"
            yield Flag(f"{path}::{name}", told)
    for match in _LIMITED.finditer(request):
        number = int(re.sub(r"[_,]", "", match[2]) or 0)
        near = (number, number + 1, number - 1, number / 100, 1 - number / 100)
        if number <= _SMALL or _SCALED.match(match[3]) or any(_has_number(brought, each) for each in near):
            continue
        path = min(sides, default="")
        yield Flag(
            path,
            f"the request says '{match[1]} {match[2]}', and neither the change nor its tests have {number}",
        )


def _names_demanded(request: str, base: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The functions and classes of the base that must do something, each with the one file that has it and
    its dotted name there.
    """
    wanted = {match[1] for match in _DEMANDED.finditer(request)}
    found: dict[str, dict[str, str]] = {}
    for path, text in base.items():
        if any(word in text for word in wanted):
            for dotted in public_names(text, path):
                if (name := dotted.rpartition(".")[2]) in wanted:
                    found.setdefault(name, {}).setdefault(path, dotted)
    return {name: next(iter(places.items())) for name, places in found.items() if len(places) == 1}


def _is_changed(was: str, now: str, path: str, dotted: str) -> bool:
    if was == now:
        return False
    found = changed_code(was, now, path)
    return found is None or any(f"{each.rstrip('#')}.".startswith(f"{dotted}.") for each in found.functions)


def _reaches(name: str, sides: Mapping[str, tuple[str, str]], base: Mapping[str, str]) -> bool:
    """Whether a function, or what it uses by its words, and so on, is of the change."""
    now = {path: sides[path][1] if path in sides else text for path, text in base.items()}
    now |= {path: after for path, (before, after) in sides.items() if not before}
    defined: dict[str, str] = {}
    for path, text in now.items():
        rows = text.split("\n")
        for symbol in outline(text, path):
            last = symbol.name.rpartition(".")[2]
            defined[last] = defined.get(last, "") + "\n".join(rows[symbol.start - 1 : symbol.end]) + "\n"
    touched = {
        each.rstrip("#").rpartition(".")[2]
        for path, (was, after) in sides.items()
        if was != after and (found := changed_code(was, after, path)) is not None
        for each in (*found.functions, *(one for value in found.values for one in value.names))
    }
    seen, todo = {name}, [name]
    while todo:
        used = set(_WORD.findall(defined.get(todo.pop(), "")))
        if used & (touched - {name}):
            return True
        todo += used & defined.keys() - seen
        seen |= used
    return False


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _has_number(text: str, number: float) -> bool:
    plain = text.replace("_", "")
    spelled = {f"{number:g}", str(number), f"{number:.2f}"}
    return any(re.search(rf"(?<![\w.]){re.escape(each)}(?![\w.]*\d)", plain) for each in spelled)
