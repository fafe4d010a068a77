"""What a request names of the tree: files by their path or module, definitions by their name. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agentforge.context.code_index import CodeIndex, is_aside, is_test, last_part, module_name
from agentforge.context.request_words import WORD
from agentforge.languages.lexed import stems
from agentforge.languages.names import BUILTINS
from agentforge.languages.table import is_declaration
from agentforge.languages.values import Symbol

_FEW = 3
"""A name that more files than this define names none of them."""
_DOTTED = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_TICKED = re.compile(rf"`{{1,2}}(?:[\w:]+:)?`?~?(?P<name>{_DOTTED})(?:\([^`\n]*\))?`{{1,2}}")
_MARKED = re.compile(
    r"\b(?P<called>[A-Za-z_]\w*(?:\.\w+)*)\("
    r"|\b(?P<dotted>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)\b"
    r"|\b(?P<shaped>_*[a-z0-9]+_\w+|[a-z][a-z0-9]*[A-Z]\w*|[A-Z]+_\w+|[A-Z]\w*[a-z0-9]\w*[A-Z]\w*|[A-Z]{2,}\w*[a-z]\w*|[A-Z]{3,})\b"
)
_MODULE = re.compile(
    rf"\b(?:module|package)s? `*(?P<after>{_DOTTED})|\b(?P<before>{_DOTTED})`* (?:module|package)\b"
)
_SUBJECT = re.compile(
    r"(?P<names>[a-z_]\w+(?:, [a-z_]\w+)*(?:,? (?:and|or) [a-z_]\w+)?) "
    r"(?:should|must|shall|can|cannot|could|does|doesn't|do|don't|is|isn't|are|aren't|returns?|raises?|"
    r"accepts?|supports?|ignores?|fails?|crash(?:es)?|breaks?|hangs?|loses?|drops?|gives?|takes?|treats?|handles?|"
    r"counts?|reads?|writes?|prints?|parses|needs?|has|have|will|would|ought|never|always|silently|wrongly|misses|"
    r"skips?|truncates?|rounds?|matches|strips?|swallows?|leaks?|mutates?|converts?|produces?|reports?|allows?|"
    r"rejects?|wants?|leaves?|keeps?|removes?|adds?|uses?|only|still|no longer)\b"
)
"""A request that begins with one name or several: a sentence of words would begin with a capital letter."""
_OBJECT = re.compile(
    r"(?i:please )?(?:"
    r"(?i:make|let|have|teach) (?P<made>[a-z_]\w{2,}) "
    r"(?:accept|return|raise|take|support|handle|work|ignore|use|keep|"
    r"give|yield|read|write|emit|treat|respect|preserve|skip|reject|allow|check|validate|close|stop|fail|faster|"
    r"quicker|lazy|safe|thread-safe|robust|consistent|deterministic|stable|optional|not|an?|about|no)\b"
    r"|(?i:allow) (?P<allowed>[a-z_]\w{2,}) to\b"
    r"|(?i:in|inside|within) (?P<inside>[a-z_]\w{2,}),"
    r"|(?i:fix|correct|repair|extend|change|improve|optimi[sz]e|speed up|deprecate) (?P<changed>[a-z_]\w{2,})"
    r"(?=[,:.]|$| (?:for|when|with|on|to|in|if|so|not|and|under|by)\b))"
)
"""What is to be changed, right behind the verb: an ordinary word would have an article or a noun there."""
_PARAMETER_OF = re.compile(
    r"\b(?:parameter|argument|option|flag|keyword|kwarg)s?(?: `{0,2}\w+`{0,2})? (?:to|of|for|in) "
    r"(?P<name>[a-z_]\w{2,})(?=[,:;.]|$| (?:so|that|which|when|if|and|for|with|to)\b)"
)
"""`a parameter strict of NAME`."""
_COMMAND = re.compile(r"`{1,2}(?P<program>[A-Za-z][\w.-]*) (?P<command>[a-z][\w-]*)(?: [^`\n]*)?`{1,2}")
"""`program command …`, as it is typed."""
_OF_COMMANDS = frozenset({"cli", "command", "commands", "cmd", "console", "main", "__main__"})
"""Parts of the paths of modules that have commands."""
_BETWEEN = re.compile(r",? (?:and|or) |, ")
_KIND = re.compile(
    r"\b(?:[Tt]he|[Aa]|[Aa]n) `{0,2}(?P<name>[a-z_]\w+)`{0,2} (?:filter|function|method|decorator|validator|"
    r"command|helper|operator|fixture|converter|hook|recipe|lexer|parser|formatter|generator)\b"
)
"""`the NAME filter`."""
_CAPITAL = re.compile(r"(?<=[a-z,] )(?P<name>[A-Z][a-z]{2,})\b")
"""A word with a capital letter inside of a sentence."""
_ACRONYM = re.compile(r"[A-Z]{3,}")
"""A word of people as often as a name of code: URL, JSON."""
_BASES = re.compile(r"[A-Za-z_]\w*")
_KEYWORD = re.compile(r"\b(?P<name>[a-z_]\w{2,})=(?!=)")
"""`show=True`: a parameter."""


_OUTCOMES = ("Error", "Exception", "Warning")
_INSIDE = 8
"""So many files of a directory that is named."""


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """What the tree says about the words of a request."""

    named_paths: tuple[str, ...] = ()
    """Files of the tree that the request names."""
    named_symbols: tuple[str, ...] = ()
    """`path::name` of definitions that the request names."""
    aside: frozenset[str] = frozenset()
    """Files of definitions that are named only to say what for: `…, so that resolve() finds them`."""


def tree_facts(request: str, index: CodeIndex) -> TreeFacts:
    """Look the request's words up in the tree: paths by their end, names by what they define."""
    paths = set(_named_paths(request, list(index.files)))
    symbols: dict[str, None] = {}
    for name, plainly in _names(request):
        found = _resolved(name, index, plainly=plainly)
        symbols |= dict.fromkeys(f"{path}::{symbol.name}" for path, symbol in found)
        if not found:
            module = _module(name, index) if plainly else []
            paths |= set(module or _module_of_new(name, index) or _part_of_path(name, request, index))
    for match in _COMMAND.finditer(request):
        found = _of_command(match["program"], match["command"], index)
        symbols |= dict.fromkeys(f"{path}::{symbol.name}" for path, symbol in found)
    for match in _MODULE.finditer(request):
        paths |= set(_module(match["after"] or match["before"], index))
    if not paths and all(is_outcome(each.partition("::")[2]) for each in symbols):
        symbols |= dict.fromkeys(f"{path}::{symbol.name}" for path, symbol in _said_plainly(request, index))
    return TreeFacts(tuple(sorted(paths)), tuple(symbols), _aside(request, index, symbols))


def is_outcome(name: str) -> bool:
    """Whether a name is what happens rather than where: an error or a warning."""
    return name.endswith(_OUTCOMES)


def _aside(request: str, index: CodeIndex, symbols: Iterable[str]) -> frozenset[str]:
    main, so_that, _ = request.partition(" so that ")
    if not so_that:
        return frozenset()
    asked = tree_facts(main, index)
    wanted = {*asked.named_paths, *(each.partition("::")[0] for each in asked.named_symbols)}
    return (
        frozenset(path for each in symbols if (path := each.partition("::")[0]) not in wanted)
        if wanted
        else frozenset()
    )


def _named_paths(request: str, paths: list[str]) -> Iterator[str]:
    """A word with a dot or slash names the file whose path ends with it, if only one does; one that ends with
    a slash names the first files of that directory.
    """
    words = [word for word in re.findall(r"[\w.][\w./-]*[\w/]", request) if "." in word or "/" in word]
    if not words:
        return
    known = set(paths)
    ending: dict[str, list[str]] = {}
    for path in paths:
        parts = path.split("/")
        for count in range(len(parts)):
            ending.setdefault("/".join(parts[count:]), []).append(path)
    for word in words:
        if word.endswith("/"):
            inside = [path for path in paths if path.startswith(word.removeprefix("./"))]
            yield from sorted(inside, key=is_test)[:_INSIDE]
            continue
        found = [word] if word in known else ending.get(word.removeprefix("./"), [])
        if len(found) == 1:
            yield found[0]


def _names(request: str) -> Iterator[tuple[str, bool]]:
    """Words that look like code, in order, each with whether the request sets it apart as a name.

    A call inside an expression is an example: what it calls counts unless every file has it anyway.
    """
    seen: set[str] = set()
    ticked = [(match["name"], True, match.start()) for match in _TICKED.finditer(request)]
    marked = [
        (match[match.lastgroup or ""], match.lastgroup == "dotted", match.start())
        for match in _MARKED.finditer(request)
    ]
    for name, plainly, _ in sorted([*ticked, *marked], key=lambda each: each[2]):
        if name not in seen and not _is_builtin(name, plainly=plainly):
            seen.add(name)
            yield name, plainly


def _is_builtin(name: str, *, plainly: bool) -> bool:
    """`len(x)`, `dict.get`, `isinstance`: nothing of the project's."""
    first = name.partition(".")[0]
    return first in BUILTINS and not (plainly and first == name and name not in {"True", "False", "None"})


def _resolved(name: str, index: CodeIndex, *, plainly: bool) -> list[tuple[str, Symbol]]:
    """The definitions of a name: `Class.method` that method only, else the class; `module.name` that of this
    module.
    """
    if name in BUILTINS:
        return (
            [each for each in _of_code(index.symbols_named(name)) if each[1].name == name] if plainly else []
        )
    if found := _defined(name, index, plainly=plainly):
        top = [each for each in found if each[1].name == name]
        return _few(top) if top else _few(found, 1 if name.islower() and "_" not in name else _FEW)
    owner, _, last = name.rpartition(".")
    if not owner:
        return []
    for count in range(1, owner.count(".") + 2):
        parts = name.split(".")
        inside = set(_module(".".join(parts[:-count]), index))
        own = ".".join(parts[-count:])
        if here := [each for each in index.symbols_named(own) if each[0] in inside]:
            return [each for each in here if each[1].name == own] or here
    for path in _module(owner, index):
        if last in index.files[path].names:  # it passes on what another file defines
            return _few([each for each in _of_code(index.symbols_named(last)) if each[1].name == last])
    klass = [each for each in _of_code(index.symbols_named(owner)) if each[1].kind == "class"]
    if klass:
        return _few(_inherited(klass, last, index) or klass)
    if owner.rpartition(".")[2][:1].islower() and not _module(owner, index):
        # `cache.getsizeof`: a variable of an example and an attribute of something unknown.
        return _few([each for each in _of_code(index.symbols_named(last)) if last not in BUILTINS])
    return []


def _defined(name: str, index: CodeIndex, *, plainly: bool) -> list[tuple[str, Symbol]]:
    found = _of_code(index.symbols_named(name))
    if plainly or not _ACRONYM.fullmatch(name):
        return found
    return [each for each in found if not is_aside(each[0])]


def _inherited(
    klass: Iterable[tuple[str, Symbol]], method: str, index: CodeIndex
) -> list[tuple[str, Symbol]]:
    """The method of a class that the classes before it define."""
    seen: set[str] = set()
    waiting = [symbol for _, symbol in klass]
    while waiting:
        bases = [
            name for name in _BASES.findall(waiting.pop(0).signature.partition("(")[2]) if name not in seen
        ]
        seen |= {*bases}
        for base in bases:
            if found := _of_code(index.symbols_named(f"{base}.{method}")):
                return found
            waiting += [each for _, each in index.symbols_named(base) if each.kind == "class"]
    return []


def _said_plainly(request: str, index: CodeIndex) -> list[tuple[str, Symbol]]:
    """What a request without any marked name is about: the function that it begins with, `the trim filter`, a
    class called by its name, what has the parameters it sets. Where several files have them, nobody knows.
    """
    found: dict[tuple[str, Symbol], None] = {}
    if subject := _SUBJECT.match(request.strip()):
        found |= dict.fromkeys(_all_defined(_BETWEEN.split(subject["names"]), index))
    if (match := _OBJECT.match(request.strip())) and (name := match[match.lastgroup or 0]) not in BUILTINS:
        found |= dict.fromkeys(_all_defined([name], index))
    for match in _PARAMETER_OF.finditer(request):
        found |= dict.fromkeys(_all_defined([match["name"]], index))
    for match in _KIND.finditer(request):
        found |= dict.fromkeys(_called(match["name"], index))
    for match in _CAPITAL.finditer(request):
        name = match["name"]
        top = [each for each in _of_code(index.symbols_named(name)) if each[1].name == name]
        found |= dict.fromkeys(each for each in top if each[1].kind == "class")
    for match in _KEYWORD.finditer(request):
        found |= dict.fromkeys(_with_parameter(match["name"], index))
    code = {path for path, _ in found}
    return list(found) if len(code) == 1 else []


def _all_defined(names: Sequence[str], index: CodeIndex) -> list[tuple[str, Symbol]]:
    """The functions and classes of these names, if each is one: a word among them that is none makes all of
    them words.
    """
    every = [[each for each in _of_code(index.symbols_named(name)) if each[1].name == name] for name in names]
    return [each for found in every for each in found] if all(every) else []


def _called(name: str, index: CodeIndex) -> list[tuple[str, Symbol]]:
    """Functions and classes of this name, or of a name that ends with it: `do_trim`, the filter `trim`."""
    return [
        (path, symbol)
        for path, facts in index.files.items()
        if not is_test(path)
        for symbol in facts.symbols
        if symbol.kind != "variable" and (symbol.name == name or symbol.name.endswith(f"_{name}"))
    ]


def _with_parameter(name: str, index: CodeIndex) -> list[tuple[str, Symbol]]:
    """The functions of the code, tests aside, that take a parameter of this name."""
    parameter = re.compile(rf"\(.*\b{name}\b")
    return [
        (path, symbol)
        for path, facts in index.files.items()
        if name in facts.names and not is_test(path)
        for symbol in facts.symbols
        if symbol.kind in ("function", "method") and parameter.search(symbol.signature)
    ]


def _of_code(found: Iterable[tuple[str, Symbol]]) -> list[tuple[str, Symbol]]:
    """Without what only tests and examples define, or stubs declare, unless nothing else does."""
    every = list(found)
    every = [each for each in every if not is_declaration(each[0])] or every
    code = [each for each in every if not is_test(each[0])]
    return [each for each in code if not is_aside(each[0])] or code or every


def _of_command(program: str, command: str, index: CodeIndex) -> list[tuple[str, Symbol]]:
    """The function of a command of the project's own program; none where it is not clear which."""
    name, package = command.replace("-", "_"), program.replace("-", "_")
    parts = {path: frozenset(re.split(r"[/.]", path)) for path, _ in index.symbols_named(name)}
    found = [
        (path, symbol)
        for path, symbol in _of_code(index.symbols_named(name))
        if symbol.name == name and symbol.kind == "function" and package in parts[path]
    ]
    return _few(found, 1) or _few([each for each in found if parts[each[0]] & _OF_COMMANDS], 1)


def _few(found: list[tuple[str, Symbol]], most: int = _FEW) -> list[tuple[str, Symbol]]:
    """Methods called by a plain word, `copy`, name one only where one file has them."""
    return found if len({path for path, _ in found}) <= most else []


def _module(dotted: str, index: CodeIndex) -> list[str]:
    """The one file that a dotted name imports; none where it is not clear which."""
    found = index.modules(dotted)
    exact = [
        path
        for path in found
        if last_part(dotted) != "" and path.count("/") == min(p.count("/") for p in found)
    ]
    return exact if len(exact) == 1 else []


def _part_of_path(name: str, request: str, index: CodeIndex) -> list[str]:
    """The one file on whose path a word that looks like code is a folder: `hu_HU` of `address/hu_HU/…`. Where
    many have such a folder, that of which the request says most other parts.
    """
    said = frozenset(stem for word in WORD.findall(request) if word != name for stem in stems(word))
    shared = {
        path: sum(not said.isdisjoint(stems(part)) for part in path.split("/")[:-1] if part != name)
        for path in index.files
        if name in path.split("/")[:-1] and module_name(path)
    }
    best = [path for path in shared if shared[path] == max(shared.values())]
    return best if len(best) == 1 else []


def _module_of_new(name: str, index: CodeIndex) -> list[str]:
    """The module that something new is asked for in: `package.module.new_name`. Where that module only passes
    on what another one of its name defines, the other one.
    """
    owner = name.rpartition(".")[0]
    found = _module(owner, index) if owner else []
    return [behind for path in found for behind in (_behind(path, index) or [path])]


def _behind(path: str, index: CodeIndex) -> list[str]:
    facts = index.files[path]
    if any(symbol.kind != "variable" for symbol in facts.symbols):
        return []
    last = last_part(module_name(path))
    return [
        other
        for other in index.modules(last)
        if other != path
        and index.files[other].symbols
        and facts.names.issuperset(module_name(other).split(".")[-2:])
    ]
