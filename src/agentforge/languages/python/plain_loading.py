"""What loading modules changes of a process that is not theirs, and which of their names lead to something
else than what is written there.

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
    from collections.abc import Callable, Iterator

CALLED = (types.FunctionType, types.BuiltinFunctionType, type)
SIGNALS = range(1, 32)


def known_modules(modules: list[str], tree: str) -> list[str]:
    """The modules that these load, and that are not the tree's."""
    for name in modules:
        load(name)
    return [name for name, module in list(sys.modules.items()) if not of_tree(module, tree)]


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
    "socket.connect": "connects to another",
    "socket.bind": "waits for connections",
    "_thread.start_new_thread": "starts a thread",
}


def changed_by_loading(modules: list[str], known: list[str], tree: str) -> Iterator[list[str]]:
    """What each of these changes, in turn, where the others are loaded already."""
    for name in known:
        load(name)
    sys.addaudithook(note)
    for name in modules:
        before, parts, seen = state(), parts_of_others(tree), len(DONE)
        load(name)
        found = [*changed_parts(parts), *DONE[seen:]]
        found += [what for what, value in state().items() if before.get(what) != value]
        found += [what for what in before if what not in state()]
        yield sorted(dict.fromkeys(found))


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


def parts_of_others(tree: str) -> list[tuple[Any, str, Any, str]]:
    """The functions and classes of other modules, and those of these classes, with the place of each."""
    found: list[tuple[Any, str, Any, str]] = []
    for module_name, module in list(sys.modules.items()):
        if type(module) is not types.ModuleType or of_tree(module, tree):
            continue
        for name, value in list(vars(module).items()):
            if not isinstance(value, CALLED) or module_name == "__main__":
                continue
            found.append((module, name, value, module_name))
            if isinstance(value, type) and value.__module__ == module_name:
                found += [
                    (value, part, held, module_name + "." + name)
                    for part, held in list(vars(value).items())
                    if callable(held)
                ]
    return found


def changed_parts(parts: list[tuple[Any, str, Any, str]]) -> list[str]:
    """Those whose place has something else now."""
    return [
        "`" + of + "." + name + "`" for holder, name, held, of in parts if vars(holder).get(name) is not held
    ]


def state() -> dict[str, Any]:
    """What a process has once, for everything that runs in it."""
    found: dict[str, Any] = {"the variable `" + name + "`": value for name, value in os.environ.items()}
    for name, asked in ASKED.items():
        module, _, what = name.partition(":")
        if module in sys.modules:
            try:
                found[what] = asked(sys.modules[module])
            except Exception:  # noqa: BLE001, S112 - what cannot be asked is not compared
                continue
    return found


def mask(os_module: Any) -> int:  # noqa: ANN401 - a module
    """The one for new files."""
    was: int = os_module.umask(0o77)
    os_module.umask(was)
    return was


ASKED: dict[str, Callable[[Any], Any]] = {
    "os:the folder that it runs in": lambda each: each.getcwd(),
    "os:the mask of new files": mask,
    "os:the files where it runs": lambda each: sorted(each.listdir()),
    "sys:`sys.path`": lambda each: list(each.path),
    "sys:what finds modules": lambda each: [*map(id, each.meta_path), *map(id, each.path_hooks)],
    "sys:the limit of recursion": lambda each: each.getrecursionlimit(),
    "sys:`sys.excepthook`": lambda each: id(each.excepthook),
    "sys:where it prints": lambda each: [id(each.stdout), id(each.stderr), id(each.stdin)],
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
    "decimal:how decimals are computed": lambda each: repr(each.getcontext()),
    "random:the state of chance": lambda each: each.getstate(),
    "threading:the threads that run": lambda each: [*map(id, each.enumerate())],
    "gc:how memory is collected": lambda _: [gc.isenabled(), gc.get_threshold()],
    "atexit:what is done at the end": lambda each: each._ncallbacks(),  # noqa: SLF001 - there is no other
    "ssl:how connections are verified": lambda each: id(each._create_default_https_context),  # noqa: SLF001 - as above
}
"""What is asked of a module, if it is loaded, and how that is called."""
