"""A file as if it had written every name of an imported module in full: after `import time as t`, `t.time` is
`time.time`; `__import__("sys").modules`, `getattr(sys, "modules")` and `vars(sys)["modules"]` are
`sys.modules`. Who looks for names then finds them, however they were written.
"""

import ast

from agentforge.languages.python.assertions import last_name

_IMPORTS = frozenset({"__import__", "import_module"})


def spelled_out(tree: ast.Module) -> ast.Module:
    """The same tree, changed in place; lines stay where they are."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    modules = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    _Speller(known, modules | {name.partition(".")[0] for name in known.values()}).visit(tree)
    return tree


class _Speller(ast.NodeTransformer):
    def __init__(self, known: dict[str, str], modules: set[str]) -> None:
        self._known, self._modules = known, modules

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self._known:
            return _copied(_in_full(self._known[node.id]), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = last_name(node.func)
        first = node.args[0] if node.args else None
        if name in _IMPORTS and (text := _text(first)) and text.replace(".", "").isidentifier():
            self._modules.add(text.partition(".")[0])
            return _copied(_in_full(text), node)
        if name == "getattr" and first is not None and len(node.args) > 1 and (part := _text(node.args[1])):
            return _copied(ast.Attribute(first, part, ast.Load()), node) if part.isidentifier() else node
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        holder = _held_by(node.value)
        part = _text(node.slice)
        if holder is None or not part or not part.isidentifier() or _first(holder) not in self._modules:
            return node
        return _copied(ast.Attribute(holder, part, node.ctx), node)


def put_together(node: ast.AST) -> str:
    """The module of which a part is taken by a name that no text has; empty where there is none."""
    if isinstance(node, ast.Call) and last_name(node.func) == "getattr" and len(node.args) > 1:
        holder, part = node.args[0], node.args[1]
    elif isinstance(node, ast.Subscript) and (held := _held_by(node.value)) is not None:
        holder, part = held, node.slice
    elif isinstance(node, ast.Call) and last_name(node.func) in _IMPORTS and node.args:
        return "" if _text(node.args[0]) else "an import"
    elif isinstance(node, ast.Subscript) and _first(node.value) == "__builtins__":
        holder, part = node.value, node.slice
    else:
        return ""
    return _first(holder) if isinstance(part, ast.BinOp | ast.JoinedStr | ast.Subscript | ast.Call) else ""


def _held_by(node: ast.expr) -> ast.expr | None:
    """What `vars(x)` and `x.__dict__` are the names of."""
    if isinstance(node, ast.Call) and last_name(node.func) == "vars" and node.args:
        return node.args[0]
    return node.value if isinstance(node, ast.Attribute) and node.attr == "__dict__" else None


def _in_full(dotted: str) -> ast.expr:
    first, *rest = dotted.split(".")
    found: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        found = ast.Attribute(found, part, ast.Load())
    return found


def _copied(new: ast.expr, old: ast.expr) -> ast.expr:
    return ast.fix_missing_locations(ast.copy_location(new, old))


def _first(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
