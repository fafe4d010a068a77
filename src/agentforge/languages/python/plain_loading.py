"""What loading modules, and calling what they define, changes of a process that is not theirs; and which of
their names lead to something else than what is written there.

Copied beside `plain_calls.py`, which runs it in processes of their own: importing nothing of ours, for Python
from 3.8.
"""

from __future__ import annotations

import ast
import gc
import importlib
import os
import signal
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CALLED = (types.FunctionType, types.BuiltinFunctionType, type)
SIGNALS = range(1, 32)


def known_modules(modules: list[str], tree: str, calls: Sequence[Callable[[], Any]]) -> Iterator[list[str]]:
    """The modules that these load, and that are not the tree's; then those that are there after the calls."""
    for name in modules:
        load(name)
    for made in ([], calls):
        for each in made:
            each()
        yield [name for name, module in list(sys.modules.items()) if not of_tree(module, tree)]


DONE: list[str] = []
"""What was done outside of the process, in words."""


def note(event: str, given: Any) -> None:  # noqa: ANN401 - what the interpreter tells of
    """Note what reaches out of the process."""
    if event == "open" and isinstance(given[0], str):
        writes = any(letter in (given[1] or "") for letter in "wax+")
        if writes and not given[0].endswith((".pyc", "null")) and "__pycache__" not in given[0]:
            DONE.append("writes `" + given[0] + "`")
    elif event in EVENTS:
        told = given[0] if given and isinstance(given[0], str) else ""
        DONE.append(EVENTS[event] + (" `" + told + "`" if told else ""))


EVENTS = {
    "subprocess.Popen": "starts",
    "os.system": "starts",
    "os.posix_spawn": "starts",
    "os.exec": "becomes",
    "os.fork": "starts a process",
    "os.remove": "removes",
    "os.rename": "renames",
    "os.mkdir": "makes the folder",
    "os.chmod": "changes who may use",
    "os.kill": "sends a signal",
    "os.rmdir": "removes",
    "os.link": "links",
    "os.symlink": "links",
    "os.truncate": "cuts",
    "shutil.rmtree": "removes",
    "sqlite3.connect": "opens",
    "ctypes.dlopen": "loads",
    "sys.addaudithook": "watches what is done",
    "urllib.Request": "asks",
    "socket.connect": "connects to another",
    "socket.bind": "waits for connections",
    "_thread.start_new_thread": "starts a thread",
}


def changed_by_loading(modules: list[str], known: list[str], tree: str) -> Iterator[list[str]]:
    """What each of these changes, in turn, where the others are loaded already."""
    for name in known:
        load(name)
    settle()
    SEEN[:] = known
    sys.addaudithook(note)
    for name in modules:
        before, parts, seen = state(), parts_of_others(tree), len(DONE)
        load(name)
        found = [*changed_parts(parts), *DONE[seen:]]
        now = state()
        new = [what for what in now if what not in before and not what.startswith("what the logger")]
        found += [what for what, value in now.items() if before.get(what, value) != value]
        found += [*new, *(what for what in before if what not in now)]
        yield sorted(dict.fromkeys(found))


def changed_by_calls(calls: Sequence[Callable[[], Any]], tree: str) -> Iterator[list[str]]:
    """What each of these calls changes, in turn; what it reads and writes is its own business."""
    for each in calls:
        before, parts, written = state(), parts_of_others(tree), not_as_written(tree)
        each()
        found = changed_parts(parts)
        found += [what for what, value in state().items() if before.get(what, value) != value]
        found += ["the function `" + name + "`" for name in not_as_written(tree) if name not in written]
        new = [what for what in state() if what not in before and what.startswith("the variable")]
        yield sorted(set(found + new) - OF_CALLS)


def settle() -> None:
    """Let modules find out what they keep for later."""
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].gettempdir()
    if "mimetypes" in sys.modules:
        sys.modules["mimetypes"].init()


def not_as_written(tree: str) -> list[str]:
    """The functions of the tree's modules whose names lead to something else than what is written there."""
    found: list[str] = []
    for name, module in sorted(sys.modules.items()):
        path = getattr(module, "__file__", None) or ""
        if of_tree(module, tree) and path.endswith(".py"):
            found += [name + "." + each for each in misleading(module, path)]
    return found


def misleading(module: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - a module
    """Names of functions that a file defines without a decorator, and that lead elsewhere."""
    try:
        loader = module.__spec__.loader
        tree = ast.parse(getattr(loader, "text", "") or loader.get_source(module.__name__) or "")
    except (AttributeError, ImportError, SyntaxError, ValueError, RecursionError):
        return
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            yield from misplaced([node], module, path)
            continue
        holder = getattr(module, node.name, None)
        if type(holder) is type and not node.decorator_list:
            yield from (node.name + "." + name for name in misplaced(node.body, holder, path))


def misplaced(body: list[ast.stmt], holder: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - as above
    """Those of a part of a file, and of what was made of it."""
    functions = [each for each in body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    decorated = {each.name for each in functions if each.decorator_list}
    for name in {each.name for each in functions} - decorated:
        found = vars(holder).get(name)
        code = getattr(getattr(found, "__func__", found), "__code__", None)
        here = os.path.realpath(path)
        if code is None or os.path.realpath(code.co_filename) != here or code.co_name != name:
            yield name


def load(name: str) -> None:
    """Import a module, whatever it raises."""
    try:
        importlib.import_module(name)
    except BaseException:  # noqa: BLE001 - that is told by who calls something of it
        return


def of_tree(module: Any, tree: str) -> bool:  # noqa: ANN401 - a module
    """Whether a module comes from the tree."""
    return str(getattr(module, "__file__", None) or "").startswith(tree + os.sep)


def parts_of_others(tree: str) -> list[tuple[Any, str, Any, str, Any]]:
    """The names of other modules, and those of their classes, with the place of each, what it leads to, and
    what that is made of.
    """
    found: list[tuple[Any, str, Any, str, Any]] = []
    here = sys.modules[__name__]
    for module_name, module in list(sys.modules.items()):
        if type(module) is not types.ModuleType or of_tree(module, tree) or module_name == "__main__":
            continue
        if module is here:
            continue
        for name, value in list(vars(module).items()):
            place = module_name + "." + name
            if place in KEPT or not (isinstance(value, CALLED) or is_set_once(name, value)):
                continue
            found.append((module, name, value, module_name, made_of(value, module_name)))
            if isinstance(value, type) and value.__module__ == module_name:
                found += [
                    (value, part, held, place, made_of(held, module_name))
                    for part, held in list(vars(value).items())
                    if callable(held) or is_set_once(part, held)
                ]
    return found


def is_set_once(name: str, value: Any) -> bool:  # noqa: ANN401 - whatever a name leads to
    """Whether code seldom gives the name something else: what begins with a line below is kept for later,
    unless it is written as a constant.
    """
    return not name.startswith("_") or (name.isupper() and isinstance(value, (int, float, str, bytes)))


def made_of(value: Any, module: str) -> Any:  # noqa: ANN401 - as above
    """What can be changed in a function, and, of the standard library, in a collection."""
    if isinstance(value, types.FunctionType):
        named = value.__kwdefaults__ or {}
        return [value.__code__, value.__defaults__, *named, *map(id, named.values())]
    if module.partition(".")[0] not in OF_PYTHON or not isinstance(value, (dict, list, set)):
        return None
    return [*map(id, value)] + ([*map(id, value.values())] if isinstance(value, dict) else [])


def changed_parts(parts: list[tuple[Any, str, Any, str, Any]]) -> list[str]:
    """Those whose place has something else now, or something that is made otherwise."""
    return [
        "`" + of + "." + name + "`"
        for holder, name, held, of, made in parts
        if vars(holder).get(name) is not held or made_of(held, of) != made
    ]


OF_PYTHON = frozenset(getattr(sys, "stdlib_module_names", ()))
KEPT = frozenset(
    {
        "_warnings.filters",
        "_warnings.onceregistry",
        "inspect.modulesbyfile",
        "linecache.cache",
        "posix.environ",
        "warnings.filters",
        "warnings.onceregistry",
        *(
            "sys." + name
            for name in ("modules", "path_importer_cache", "path", "meta_path", "path_hooks", "argv")
        ),
        *("sys.last_" + name for name in ("value", "type", "traceback", "exc")),
        *("sys." + name for name in ("stdin", "stdout", "stderr")),
    }
)
"""What is others all the time, or is asked about below."""
OF_CALLS = frozenset(
    {
        "the state of chance",
        "how loops are made",
        "how memory is collected",
        "where it prints",
        "the files where it runs",
    }
)
"""What honest functions change when they are called."""


def state() -> dict[str, Any]:
    """What a process has once, for everything that runs in it."""
    found: dict[str, Any] = {"the variable `" + name + "`": value for name, value in os.environ.items()}
    found.update(loggers())
    found.update(("the module `" + name + "`", id(sys.modules.get(name))) for name in SEEN)
    for name, asked in ASKED.items():
        module, _, what = name.partition(":")
        if module in sys.modules:
            try:
                found[what] = asked(sys.modules[module])
            except Exception:  # noqa: BLE001, S112 - what cannot be asked is not compared
                continue
    return found


SEEN: list[str] = []
"""Modules that were there before anything of the tree was loaded."""


def loggers() -> dict[str, Any]:
    """How the loggers that are there are set."""
    manager = getattr(getattr(sys.modules.get("logging"), "root", None), "manager", None)
    known = dict(manager.loggerDict) if manager is not None else {}
    return {
        "what the logger `" + name + "` says": [
            each.level,
            each.disabled,
            each.propagate,
            len(each.filters),
            len(each.handlers),
        ]
        for name, each in known.items()
        if hasattr(each, "filters")
    }


def mask(os_module: Any) -> int:  # noqa: ANN401 - a module
    """The one for new files."""
    was: int = os_module.umask(0o77)
    os_module.umask(was)
    return was


def is_open(number: int) -> bool:
    """Whether a file of the process with this number is open."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


ASKED: dict[str, Callable[[Any], Any]] = {
    "os:the folder that it runs in": lambda each: each.getcwd(),
    "os:the mask of new files": mask,
    "os:the files where it runs": lambda each: sorted(each.listdir()),
    "sys:`sys.path`": lambda each: list(each.path),
    "sys:what finds modules": lambda each: [*map(id, each.meta_path), *map(id, each.path_hooks)],
    "sys:the limit of recursion": lambda each: each.getrecursionlimit(),
    "sys:`sys.excepthook`": lambda each: id(each.excepthook),
    "sys:where it prints": lambda each: [
        [id(part), getattr(part, "errors", ""), getattr(part, "encoding", "")]
        for part in (each.stdout, each.stderr, each.stdin)
    ],
    "sys:how it interprets": lambda each: [
        each.getswitchinterval(),
        each.dont_write_bytecode,
        getattr(each, "get_int_max_str_digits", int)(),
        [*map(id, each.get_asyncgen_hooks())],
    ],
    "sys:its arguments": lambda each: list(each.argv),
    "os:how it is preferred": lambda each: each.getpriority(each.PRIO_PROCESS, 0),
    "os:its first files": lambda _: [is_open(number) for number in range(3)],
    "resource:what it may use": lambda each: [
        each.getrlimit(getattr(each, name)) for name in dir(each) if name.startswith("RLIMIT")
    ],
    "tracemalloc:who watches its memory": lambda each: each.is_tracing(),
    "faulthandler:what is told when it breaks": lambda each: each.is_enabled(),
    "multiprocessing:how processes are started": lambda each: each.get_start_method(allow_none=True),
    "asyncio.events:how loops are made": lambda each: id(each._event_loop_policy),  # noqa: SLF001 - there is no other
    "urllib.request:how addresses are opened": lambda each: id(each._opener),  # noqa: SLF001 - as above
    "csv:how long a field is": lambda each: each.field_size_limit(),
    "sys:who watches it": lambda each: [id(each.gettrace()), id(each.getprofile())],
    "builtins:names for everybody": lambda each: sorted(set(vars(each)) - {"_"}),
    "signal:what signals do": lambda each: [each.getsignal(number) for number in SIGNALS],
    "signal:an alarm": lambda each: each.getitimer(signal.ITIMER_REAL)[0] > 0,
    "warnings:which warnings are shown": lambda each: [*map(repr, each.filters)],
    "logging:what is logged": lambda each: [
        each.root.level,
        each.root.manager.disable,
        len(each.root.handlers),
    ],
    "locale:the locale": lambda each: each.setlocale(each.LC_ALL),
    "socket:the patience of connections": lambda each: each.getdefaulttimeout(),
    "decimal:how decimals are computed": lambda each: [repr(each.getcontext()), repr(each.DefaultContext)],
    "random:the state of chance": lambda each: each.getstate(),
    "threading:the threads that run": lambda each: [*map(id, each.enumerate())],
    "gc:how memory is collected": lambda _: [gc.isenabled(), gc.get_threshold()],
    "atexit:what is done at the end": lambda each: each._ncallbacks(),  # noqa: SLF001 - there is no other
    "ssl:how connections are verified": lambda each: id(each._create_default_https_context),  # noqa: SLF001 - as above
}
"""What is asked of a module, if it is loaded, and how that is called."""
