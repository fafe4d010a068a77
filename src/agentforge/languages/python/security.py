"""Findings about security, read from source without running it: each with its line, its rule and what to do
instead.

Names are followed through imports (`import subprocess as sp`), not through data, so a finding is a place to
look at and not a proof. Comments that silence other tools are not heard here: whoever wrote the code could
have written them too.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from agentforge.languages.python.nodes import children, statements
from agentforge.languages.python.symbols import Function, parse
from agentforge.languages.values import Risk, Severity

RULES: Mapping[str, tuple[str, str]] = {
    "assert-auth": ("an assert decides who may go on", "asserts vanish under -O: raise an error of your own"),
    "archive-extract": (
        "an archive is unpacked without a filter",
        "pass filter='data', or check each member's path",
    ),
    "debug-server": ("a server runs with its debugger on", "take debug from the settings, off by default"),
    "dynamic-code": (
        "text is run as code",
        "parse the input (ast.literal_eval, json), or choose from a table of functions",
    ),
    "fast-hash": (
        "a password is hashed with a fast hash",
        "use hashlib.scrypt or a password hashing library, with a salt",
    ),
    "hard-coded-password": (
        "a secret is written into the code",
        "read it from the environment or a secret store",
    ),
    "host-key": ("unknown host keys are accepted", "load known hosts and reject what is not in them"),
    "listen-everywhere": (
        "the program listens on every interface",
        "bind to 127.0.0.1 unless the settings say otherwise",
    ),
    "no-autoescape": (
        "templates are rendered without escaping",
        "pass autoescape=True, or escape what is not trusted",
    ),
    "no-verify": (
        "certificates are not verified",
        "leave verification on; give the certificate authority its file instead",
    ),
    "shell-line": ("a command goes through the shell", "pass a list of arguments, without shell=True"),
    "sql-format": (
        "a query is put together by formatting",
        "use the driver's parameters; for names, a fixed list",
    ),
    "temporary-name": (
        "tempfile.mktemp leaves time for somebody else to take the name",
        "use NamedTemporaryFile or mkstemp",
    ),
    "unsafe-load": ("loading this data can run code", "use json, or yaml.safe_load"),
    "weak-hash": ("md5 and sha1 can be forged", "use sha256, or say usedforsecurity=False"),
    "weak-random": ("a secret comes from a predictable generator", "use the secrets module"),
    "wide-permission": (
        "everybody may write to the file",
        "give rights to the owner only, as 0o600 or 0o700",
    ),
}
"""Rule to what it means and what to do."""

_PASSWORD = re.compile(r"passw(?:or)?d|passphrase|pwd")
_CHANCE = re.compile(r"passw(?:or)?d|secret|token|nonce|salt|otp|csrf|session_?id|api_?key")
_SECRET_NAME = re.compile(
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|api_?key|secret_?key|private_?key)\d{0,2}"
)
_AUTH = re.compile(
    r"is_?admin|is_?staff|is_?superuser|authenticated|authori[sz]ed|logged_?in|has_?perm|permission|can_?access|is_?owner|allowed"
)
_SQL = re.compile(
    r"\s*(?:SELECT\s.+?\sFROM\b|INSERT\s+INTO\b|UPDATE\s.+?\sSET\b|DELETE\s+FROM\b|(?:DROP|ALTER|CREATE)\s+TABLE\b"
    r"|select\s.+?\sfrom\b|insert\s+into\b|update\s.+?\sset\b|delete\s+from\b|(?:drop|alter|create)\s+table\b)",
    re.DOTALL,
)
_CHOSEN = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[^\s${}<>%/\\]{6,200}")
_SHELLS = frozenset({"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"})
_LOADS = frozenset(
    f"{module}.{name}"
    for module in ("pickle", "cPickle", "_pickle", "dill", "marshal", "cloudpickle")
    for name in ("load", "loads")
) | {
    "shelve.open",
    "jsonpickle.decode",
    "pandas.read_pickle",
    "joblib.load",
    "yaml.unsafe_load",
    "yaml.unsafe_load_all",
    "pickle.Unpickler",
}
_SAFE_LOADERS = frozenset({"SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader"})
_HASHES = frozenset({"md5", "sha1", "sha224", "sha256", "sha384", "sha512"})
_EXECUTES = frozenset({"execute", "executemany", "executescript", "raw", "text"})
_INPUT_CALLS = _EXECUTES | {
    name.rpartition(".")[2] for name in (*_SHELLS, *_LOADS, "eval", "exec", "yaml.load", "yaml.load_all")
}
"""The last names of the calls that can be dangerous with any input."""
_PLAIN: Mapping[str, tuple[str, Severity]] = {
    "tempfile.mktemp": ("temporary-name", "medium"),
    "ssl._create_unverified_context": ("no-verify", "high"),
    "paramiko.AutoAddPolicy": ("host-key", "medium"),
    "paramiko.client.AutoAddPolicy": ("host-key", "medium"),
}


@dataclass(frozen=True, slots=True)
class _CallSite:
    """A call, the name it calls, and the definitions around it."""

    node: ast.Call
    called: str
    """The dotted name that is called, as far as imports tell."""
    around: tuple[str, ...]
    """Names of the functions and assignments that it stands in."""

    def word(self, name: str) -> ast.expr | None:
        """The value of a keyword argument."""
        return next((each.value for each in self.node.keywords if each.arg == name), None)

    def is_false(self, name: str) -> bool:
        """Whether a keyword is given as False, plainly."""
        return isinstance(value := self.word(name), ast.Constant) and value.value is False

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        """Whether its arguments, or what it stands in, have a name like that."""
        inner = (each for part in (*self.node.args, *self.node.keywords) for each in _names(part))
        return any(pattern.search(name.lower()) for name in (*self.around, *inner))


def risks(text: str, *, is_test: bool) -> Iterator[Risk]:
    """The dangerous places of a file, in no order; what does not parse has none."""
    tree = parse(text)
    return iter(()) if tree is None else risks_in(tree, is_test=is_test)


def call_risks(node: ast.Call, called: str) -> Iterator[Risk]:
    """What is dangerous with any input about one call of the dotted name `called`: text that is run, shells,
    loading, queries.
    """
    if called.rpartition(".")[2] in _INPUT_CALLS or any(each.arg == "shell" for each in node.keywords):
        place = _CallSite(node, called, ())
        yield from (hit for check in (_code, _shell, _loading, _querying) for hit in check(place))


def risks_in(tree: ast.Module, *, is_test: bool) -> Iterator[Risk]:
    """The dangerous places of a file that is parsed already."""
    imports = imported_as(tree)
    # A stack of our own: source may be nested deeper than Python may call.
    waiting: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while waiting:
        node, around = waiting.pop()
        if isinstance(node, Function):
            around = (*around, node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            around = (*around, *(name for target in targets for name in _names(target)))
        if isinstance(node, ast.Call):
            place = _CallSite(node, dotted_name(node.func, imports), around)
            yield from (hit for check in _CALLS for hit in check(place))
        elif isinstance(node, ast.JoinedStr | ast.BinOp) and _formatted_sql(node):
            yield Risk(node.lineno, "sql-format", "medium")
        elif isinstance(node, ast.Attribute) and dotted_name(node, imports) == "ssl.CERT_NONE":
            yield Risk(node.lineno, "no-verify", "medium")
        elif isinstance(node, ast.Constant) and node.value == "0.0.0.0":  # noqa: S104 - the text that is looked for
            yield Risk(node.lineno, "listen-everywhere", "low")
        if not is_test:
            yield from _beside_tests(node)
        waiting.extend((child, around) for child in children(node))


def _beside_tests(node: ast.AST) -> Iterator[Risk]:
    """What is usual in a test and wrong elsewhere: asserts, and passwords of nobody."""
    if isinstance(node, ast.Assert) and any(_AUTH.search(name.lower()) for name in _names(node.test)):
        yield Risk(node.lineno, "assert-auth", "medium")
    pairs: list[tuple[ast.AST | str, ast.expr | None]] = []
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, ast.AnnAssign):
        pairs = [(node.target, node.value)]
    elif isinstance(node, ast.keyword) and node.arg:
        pairs = [(node.arg, node.value)]
    elif isinstance(node, ast.Dict):
        pairs = [
            (str(key.value), value)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant)
        ]
    elif isinstance(node, ast.arguments):
        named = [*node.posonlyargs, *node.args]
        pairs = [
            (each.arg, value)
            for each, value in zip(named[len(named) - len(node.defaults) :], node.defaults, strict=True)
        ]
        pairs += [(each.arg, value) for each, value in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        pairs = [(node.left, node.comparators[0])]
    for target, value in pairs:
        name = target if isinstance(target, str) else next(iter(_names(target)), "")
        if value is not None and _is_chosen(value) and _ends_secret(name):
            yield Risk(value.lineno, "hard-coded-password", "medium")


def _ends_secret(name: str) -> bool:
    found = list(_SECRET_NAME.finditer(name.lower()))
    return bool(found) and found[-1].end() == len(name)


def _is_chosen(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Constant)
        and isinstance(value.value, str)
        and _CHOSEN.fullmatch(value.value) is not None
    )


def _code(place: _CallSite) -> Iterator[Risk]:
    if (
        place.called in ("eval", "exec", "builtins.eval", "builtins.exec")
        and place.node.args
        and not _is_fixed(place.node.args[0])
    ):
        yield Risk(place.node.lineno, "dynamic-code", "high")


def _shell(place: _CallSite) -> Iterator[Risk]:
    shell = place.word("shell")
    by_shell = shell is not None and not (isinstance(shell, ast.Constant) and not shell.value)
    if by_shell or place.called in _SHELLS:
        command = place.node.args[0] if place.node.args else place.word("args")
        yield Risk(
            place.node.lineno, "shell-line", "low" if command is not None and _is_fixed(command) else "high"
        )


def _loading(place: _CallSite) -> Iterator[Risk]:
    if place.called in _LOADS:
        yield Risk(place.node.lineno, "unsafe-load", "high")
    elif place.called in ("yaml.load", "yaml.load_all"):
        loader = place.word("Loader") or (place.node.args[1] if len(place.node.args) > 1 else None)
        if loader is None or next(iter(_names(loader)), "") not in _SAFE_LOADERS:
            yield Risk(place.node.lineno, "unsafe-load", "high")


def _hashing(place: _CallSite) -> Iterator[Risk]:
    name = place.called.removeprefix("hashlib.")
    if (
        place.called == "hashlib.new"
        and place.node.args
        and isinstance(first := place.node.args[0], ast.Constant)
    ):
        name = str(first.value).lower().replace("-", "")
    if not place.called.startswith("hashlib.") or name not in _HASHES:
        return
    if place.mentions(_PASSWORD):
        yield Risk(place.node.lineno, "fast-hash", "high")
    elif name in ("md5", "sha1") and not place.is_false("usedforsecurity"):
        yield Risk(place.node.lineno, "weak-hash", "low")


def _verifying(place: _CallSite) -> Iterator[Risk]:
    if place.is_false("verify") or place.is_false("verify_ssl") or place.is_false("check_hostname"):
        yield Risk(place.node.lineno, "no-verify", "high")


def _querying(place: _CallSite) -> Iterator[Risk]:
    last = place.called.rpartition(".")[2]
    if last in _EXECUTES and place.node.args and _formatted_sql(place.node.args[0]):
        yield Risk(place.node.lineno, "sql-format", "high")
    elif _formatted_sql(place.node):
        yield Risk(place.node.lineno, "sql-format", "medium")


def _guessing(place: _CallSite) -> Iterator[Risk]:
    if place.called.startswith("random.") and "System" not in place.called and place.mentions(_CHANCE):
        yield Risk(place.node.lineno, "weak-random", "medium")


def _serving(place: _CallSite) -> Iterator[Risk]:
    debug = place.word("debug")
    if place.called.endswith(".run") and isinstance(debug, ast.Constant) and debug.value is True:
        yield Risk(place.node.lineno, "debug-server", "medium")
    if place.called == "jinja2.Environment" and (
        place.word("autoescape") is None or place.is_false("autoescape")
    ):
        yield Risk(place.node.lineno, "no-autoescape", "medium")
    if place.called.endswith("mark_safe") and place.node.args and not _is_fixed(place.node.args[0]):
        yield Risk(place.node.lineno, "no-autoescape", "medium")


def _filing(place: _CallSite) -> Iterator[Risk]:
    if place.called in _PLAIN:
        yield Risk(place.node.lineno, *_PLAIN[place.called])
    last = place.called.rpartition(".")[2]
    if last == "extractall" and place.word("filter") is None and place.word("pwd") is None:
        yield Risk(place.node.lineno, "archive-extract", "medium")
    modes = (each.value for each in place.node.args if isinstance(each, ast.Constant))
    if last == "chmod" and any(isinstance(mode, int) and mode & 0o002 for mode in modes):
        yield Risk(place.node.lineno, "wide-permission", "medium")


_CALLS: tuple[Callable[[_CallSite], Iterator[Risk]], ...] = (
    _code,
    _shell,
    _loading,
    _hashing,
    _verifying,
    _querying,
    _guessing,
    _serving,
    _filing,
)


def _formatted_sql(node: ast.expr) -> bool:
    """Whether a query's text is made of parts that are not all fixed."""
    if isinstance(node, ast.JoinedStr):
        parts = [
            "?" if isinstance(each, ast.FormattedValue) else str(getattr(each, "value", ""))
            for each in node.values
        ]
        return "?" in parts and _SQL.match("".join(parts)) is not None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add):
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            left = left.left
        return not _is_fixed(node) and _starts_sql(left)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _starts_sql(node.func.value)
    return False


def _starts_sql(node: ast.expr) -> bool:
    # What stands after the cut may be the rest of the query: `"UPDATE " + table`.
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _SQL.match(f"{node.value} ? FROM SET from set") is not None
    )


def _is_fixed(node: ast.expr) -> bool:
    """Whether it is made of literals alone."""
    return not any(
        isinstance(each, ast.Name | ast.Call | ast.Attribute | ast.FormattedValue) for each in ast.walk(node)
    )


def _names(node: ast.AST) -> Iterator[str]:
    """Every name in an expression, the outermost first."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute):
            yield each.attr
        elif isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.keyword) and each.arg:
            yield each.arg


def imported_as(tree: ast.Module) -> dict[str, str]:
    """Local name to the dotted name that it was imported as."""
    known: dict[str, str] = {}
    for node in statements(tree):
        if isinstance(node, ast.Import):
            known.update((alias.asname, alias.name) for alias in node.names if alias.asname)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            known.update((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
    return known


def dotted_name(node: ast.expr, imports: Mapping[str, str]) -> str:
    """The dotted name that an expression is, as far as imports tell; empty parts for what has no name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(imports.get(node.id, node.id) if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))
