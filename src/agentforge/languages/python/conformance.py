"""What a Python file says that rules are about: one parse, one walk."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agentforge.languages.python.complexity import BRANCHING, branches
from agentforge.languages.python.nodes import inner_nodes, statements
from agentforge.languages.python.security import call_risks, dotted_name, imported_as
from agentforge.languages.python.symbols import Function as FunctionNode
from agentforge.languages.python.symbols import parse
from agentforge.languages.readings import (
    CheckedPlace,
    DecoratedRoute,
    FileReading,
    ImportedName,
    MadeObject,
    MeasuredFunction,
    When,
    long_lines,
    mark_of,
)
from agentforge.languages.values import Risk

_CLASS = re.compile(r"_*[A-Z][A-Za-z0-9]*_*")
_FUNCTION = re.compile(r"_*[a-z0-9]*(?:_[a-z0-9]+)*_*|_+")
_QUESTION = re.compile(r"(?:is|has|can|should|get|find|count|list)_[a-z]\w*")
_NOQA = re.compile(r"\s*#\s*noqa\b.*", re.IGNORECASE)
_BLANKET = frozenset({"Exception", "BaseException"})
_HIDDEN = frozenset({"overload", "override", "setter", "deleter", "getter"})
_INPUTS = frozenset({"dynamic-code", "unsafe-load", "shell-line"})
_SAID: Mapping[str, str] = {
    "dynamic-code": "text is run as code",
    "unsafe-load": "loading this data can run code",
    "shell-line": "a command that is put together goes through the shell",
}
_CHANGERS = frozenset({"append", "add", "insert", "remove", "pop", "clear", "update", "extend", "discard"})


def read_python(text: str) -> FileReading:
    """All that is known of one content; of text that does not parse, its lines."""
    lines = text.splitlines()
    tree = parse(text)
    if tree is None:
        return FileReading(len(lines), long_lines=long_lines(lines), parsed=not text.strip())
    walk = _SourceWalk(lines, imported_as(tree), "TYPE_CHECKING" in text)
    walk.go(tree)
    return FileReading(
        len(lines),
        tuple(sorted(walk.places, key=lambda place: place.line)),
        long_lines(lines),
        tuple(walk.imports),
        tuple(walk.functions()),
        tuple(walk.made),
        tuple(walk.routes),
    )


@dataclass(frozen=True, slots=True)
class _Around:
    """The class and function around a node."""

    symbol: str = ""
    functions: tuple[int, ...] = ()
    """The functions around it, by their number."""
    owner: ast.ClassDef | None = None
    """The class whose body it stands in directly."""
    public: bool = True
    when: When = "load"
    script: bool = False
    """Whether it only runs when the file is the program."""


@dataclass(slots=True)
class _SourceWalk:
    """One walk over a tree, with a stack of its own: source may be nested deeper than Python may call."""

    lines: Sequence[str]
    known: Mapping[str, str]
    """Local name to the dotted name that it was imported as."""
    typed: bool
    """Whether anything may be there for type checkers only."""
    places: list[CheckedPlace] = field(default_factory=list)
    imports: list[ImportedName] = field(default_factory=list)
    made: list[MadeObject] = field(default_factory=list)
    routes: list[DecoratedRoute] = field(default_factory=list)
    _blocks: dict[int, int] = field(default_factory=dict)
    _ways: list[int] = field(default_factory=list)
    _heads: list[tuple[str, int, int]] = field(default_factory=list)
    _risks: list[Risk] = field(default_factory=list)

    def go(self, tree: ast.Module) -> None:
        self._blocks.update(_blocks(tree))
        around = _Around()
        waiting: list[ast.AST | _Around] = [tree]  # surroundings hold for what is below
        while waiting:
            node = waiting.pop()
            if isinstance(node, _Around):
                around = node
                continue
            kind = node.__class__
            if kind in BRANCHING and around.functions and (count := branches(node)):
                for number in around.functions:
                    self._ways[number] += count
            if kind is ast.If:
                waiting += self._if(node, around)  # type: ignore[arg-type]  # as its kind says
                continue
            visit = _VISITS.get(kind)
            if visit is not None and (inner := visit(self, node, around)) is not around:
                waiting.append(around)
                around = inner
            waiting += inner_nodes(node)
        self._add_risks()

    def functions(self) -> Iterator[MeasuredFunction]:
        for (name, line, lines), ways in zip(self._heads, self._ways, strict=True):
            yield MeasuredFunction(name, line, lines, ways)

    def _add_risks(self) -> None:
        """What is dangerous with any input, and queries that are put together where they are asked."""
        for risk in self._risks:
            if risk.rule in _INPUTS and risk.severity == "high":
                self._add("input-validation", risk.line, self._symbol_at(risk.line), _SAID[risk.rule])
            elif risk.rule == "sql-format" and risk.severity == "high":
                message = "a query is put together by formatting"
                self._add("sql-injection", risk.line, self._symbol_at(risk.line), message)

    # ---------------------------------------------------------------- nodes

    def _function(self, node: FunctionNode, around: _Around) -> _Around:
        symbol = f"{around.symbol}.{node.name}" if around.symbol else node.name
        self._heads.append((symbol, node.lineno, _length(node)))
        self._ways.append(1)
        public = around.public and not node.name.startswith("_")
        names = [_last(dotted_name(_called(each), self.known)) for each in node.decorator_list]
        if public and not around.functions and not _HIDDEN & {*names} and not _is_documented(node):
            what = "Method" if around.owner else "Function"
            if not _is_stub(node):
                self._add(
                    "documentation-required", node.lineno, symbol, f"{what} '{symbol}' missing docstring"
                )
        if not _FUNCTION.fullmatch(node.name) and not _inherits(around.owner) and not names:
            self._add(
                "naming-conventions", node.lineno, symbol, f"function `{node.name}` is not in lower_case"
            )
        if not _inherits(around.owner):
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                if not _FUNCTION.fullmatch(argument.arg):
                    said = f"argument `{argument.arg}` is not in lower_case"
                    self._add("naming-conventions", argument.lineno, symbol, said)
        if around.owner is not None and _QUESTION.fullmatch(node.name) and not {*names} & {"setter"}:
            self._question(node, symbol)
        if node.decorator_list:
            self._route(node)
        number = len(self._ways) - 1
        return _Around(symbol, (*around.functions, number), None, public, "later", around.script)

    def _class(self, node: ast.ClassDef, around: _Around) -> _Around:
        symbol = f"{around.symbol}.{node.name}" if around.symbol else node.name
        public = around.public and not node.name.startswith("_") and not around.functions
        if public and not _is_documented(node) and not _is_stub(node):
            self._add("documentation-required", node.lineno, symbol, f"Class '{symbol}' missing docstring")
        if not _CLASS.fullmatch(node.name):
            self._add("naming-conventions", node.lineno, symbol, f"class `{node.name}` is not in CapWords")
        return _Around(symbol, around.functions, node, public, around.when, around.script)

    def _import(self, node: ast.Import | ast.ImportFrom, around: _Around) -> _Around:
        block, mark = self._blocks.get(id(node), 0), _mark(self._text(node.lineno))
        for alias in node.names:
            if isinstance(node, ast.Import):
                row = ImportedName(node.lineno, 0, alias.name, "", around.when, block, mark)
            else:
                name = "" if alias.name == "*" else alias.name
                row = ImportedName(node.lineno, node.level, node.module or "", name, around.when, block, mark)
            self.imports.append(row)
        return around

    def _call(self, node: ast.Call, around: _Around) -> _Around:
        called = dotted_name(node.func, self.known)
        self._risks += call_risks(node, called)
        if called == "print" and not around.script and not any(each.arg == "file" for each in node.keywords):
            self._add("no-print-statements", node.lineno, around.symbol, "`print` in a library")
        elif _last(called)[:1].isupper():
            self.made.append(MadeObject(node.lineno, around.symbol, called, _mark(self._text(node.lineno))))
        return around

    def _handler(self, node: ast.ExceptHandler, around: _Around) -> _Around:
        if node.type is None:
            message = "every error is caught, also the one that ends the program"
        elif isinstance(node.type, ast.Name) and node.type.id in _BLANKET and _does_nothing(node.body):
            message = f"`except {node.type.id}` lets any error vanish"
        else:
            return around
        if not any(isinstance(each, ast.Raise) for each in statements(node)):
            self._add("error-handling", node.lineno, around.symbol, message)
        return around

    def _try(self, node: ast.Try, around: _Around) -> _Around:
        expected = around.when == "load" and _expects_absence(node)
        return _with(around, when="maybe") if expected else around

    def _raise(self, node: ast.Raise, around: _Around) -> _Around:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if isinstance(raised, ast.Name) and raised.id in _BLANKET and isinstance(node.exc, ast.Call):
            self._add(
                "error-handling", node.lineno, around.symbol, f"`raise {raised.id}` has no kind of its own"
            )
        return around

    def _if(self, node: ast.If, around: _Around) -> list[ast.AST | _Around]:
        """What is below it, the last first; between the parts, what they stand in."""
        if around.when != "load" and around.symbol and not self.typed:
            return inner_nodes(node)  # type: ignore[return-value]  # nodes alone are fine
        names = {each.id for each in ast.walk(node.test) if isinstance(each, ast.Name)}
        names |= {each.attr for each in ast.walk(node.test) if isinstance(each, ast.Attribute)}
        inner = before = around
        if "TYPE_CHECKING" in names:
            inner = _with(around, when="types")
        elif "__name__" in names and not around.symbol:
            inner = _with(around, script=True)
        elif around.when == "load" and names & {"version_info", "platform", "PY3", "PY2", "name"}:
            inner = around = _with(around, when="maybe")
        return [before, node.test, around, *node.body, inner, *node.orelse, around]

    def _question(self, node: FunctionNode, symbol: str) -> None:
        below = list(statements(node))
        if not any(isinstance(each, ast.Return) and each.value is not None for each in below):
            return
        if not any(_changed_field(each) for each in below):
            return
        for each in ast.walk(node):
            if (name := _changed_field(each)) is not None and not name.startswith("_"):
                message = f"`{node.name}` answers a question and changes `self.{name}`"
                self._add("command-query-separation", each.lineno, symbol, message)  # type: ignore[attr-defined]  # a statement has one
                return

    def _route(self, node: FunctionNode) -> None:
        decorators = tuple(dotted_name(_called(each), self.known) for each in node.decorator_list)
        parts = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        parts += [each.annotation for each in (*node.args.args, *node.args.kwonlyargs) if each.annotation]
        used = dict.fromkeys(
            each.id if isinstance(each, ast.Name) else each.attr
            for part in parts
            for each in ast.walk(part)
            if isinstance(each, ast.Name | ast.Attribute)
        )
        mark = _mark(self._text(node.lineno))
        self.routes.append(DecoratedRoute(node.lineno, node.name, decorators, tuple(used), mark))

    # ---------------------------------------------------------------- rows

    def _add(self, check: str, line: int, symbol: str, message: str) -> None:
        text = self._text(line)
        self.places.append(
            CheckedPlace(
                check, line, symbol, message, _mark(text), "noqa" in text and bool(_NOQA.search(text))
            )
        )

    def _text(self, line: int) -> str:
        return self.lines[line - 1] if 0 < line <= len(self.lines) else ""

    def _symbol_at(self, line: int) -> str:
        around = [head for head in self._heads if head[1] <= line]
        return max(around, key=lambda head: head[1])[0] if around else ""


_VISITS: Mapping[type[ast.AST], Callable[..., _Around]] = {
    ast.FunctionDef: _SourceWalk._function,  # noqa: SLF001 - a table of its own methods
    ast.AsyncFunctionDef: _SourceWalk._function,  # noqa: SLF001 - as above
    ast.ClassDef: _SourceWalk._class,  # noqa: SLF001 - as above
    ast.Import: _SourceWalk._import,  # noqa: SLF001 - as above
    ast.ImportFrom: _SourceWalk._import,  # noqa: SLF001 - as above
    ast.Call: _SourceWalk._call,  # noqa: SLF001 - as above
    ast.ExceptHandler: _SourceWalk._handler,  # noqa: SLF001 - as above
    ast.Raise: _SourceWalk._raise,  # noqa: SLF001 - as above
    ast.Try: _SourceWalk._try,  # noqa: SLF001 - as above
}
"""What is done at a node, by its kind; each says what the nodes below it stand in."""


def _with(around: _Around, *, when: When | None = None, script: bool | None = None) -> _Around:
    return _Around(
        around.symbol,
        around.functions,
        around.owner,
        around.public,
        around.when if when is None or around.when == "later" else when,
        around.script if script is None else script,
    )


def _blocks(tree: ast.Module) -> dict[int, int]:
    """The imports at the top of a file, by the number of the run that they stand in."""
    found: dict[int, int] = {}
    block = 1
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found[id(node)] = block
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            block += 1
    return found


def _length(node: FunctionNode) -> int:
    """Lines from `def` to the end, the docstring left out."""
    whole = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        whole -= (first.end_lineno or first.lineno) - first.lineno + 1
    return whole


def _is_documented(node: FunctionNode | ast.ClassDef) -> bool:
    return ast.get_docstring(node, clean=False) is not None


def _is_stub(node: FunctionNode | ast.ClassDef) -> bool:
    """Whether its body is `...`, as in a protocol."""
    return all(
        isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and each.value.value is ...
        for each in node.body
    )


def _inherits(owner: ast.ClassDef | None) -> bool:
    """Whether names in a class may be somebody else's choice."""
    return owner is not None and bool(owner.bases)


def _expects_absence(node: ast.Try) -> bool:
    wanted = {"ImportError", "ModuleNotFoundError", "Exception"}
    return any(
        handler.type is None
        or any(isinstance(each, ast.Name) and each.id in wanted for each in ast.walk(handler.type))
        for handler in node.handlers
    )


def _does_nothing(body: Sequence[ast.stmt]) -> bool:
    return all(
        isinstance(each, ast.Pass | ast.Continue)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in body
    )


def _changed_field(node: ast.AST) -> str | None:
    """The field of `self` that a statement changes."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    elif isinstance(node, ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        if isinstance(function, ast.Attribute) and function.attr in _CHANGERS:
            targets = [function.value]
    for target in targets:
        inner = target
        while isinstance(inner, ast.Subscript):
            inner = inner.value
        if (
            isinstance(inner, ast.Attribute)
            and isinstance(inner.value, ast.Name)
            and inner.value.id == "self"
        ):
            return inner.attr
    return None


def _mark(text: str) -> str:
    """What stands for a line, whatever a comment on it asks tools to overlook."""
    return mark_of(_NOQA.sub("", text) if "noqa" in text.lower() else text)


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _last(name: str) -> str:
    return name.rpartition(".")[2]
