"""Which file of a Python project an import means, wherever the project keeps its packages."""

import sys
from collections.abc import Sequence

from agentforge.languages.readings import ImportedName

_PACKAGE = "__init__.py"


class PythonModules:
    """The modules of a project by their dotted names."""

    def __init__(self, paths: Sequence[str], roots: Sequence[str] = ()) -> None:
        paths = [path for path in paths if path.endswith((".py", ".pyi"))]
        self._paths = frozenset(paths)
        self._modules: dict[str, str] = {}
        known = {"", "src", *(root.strip("./") for root in roots), *self._found_roots()}
        for path in paths:
            folders = path.split("/")[:-1]
            for depth in range(len(folders) + 1):
                root = "/".join(folders[:depth])
                if root in known:
                    self._modules.setdefault(_module(path.removeprefix(f"{root}/" if root else "")), path)
        self._own = frozenset(name.partition(".")[0] for name in self._modules)

    def targets(self, path: str, item: ImportedName) -> tuple[str, ...]:
        """The module that is taken: for `from a import b` the module `a.b` if there is one, else `a`."""
        base = self._absolute(path, item)
        tries = (f"{base}.{item.name}" if base else item.name, base) if item.name else (base,)
        found = next((self._modules[name] for name in tries if name in self._modules), None)
        if found is None and not item.level:  # the folder of a script is on the path
            folder = path.rpartition("/")[0]
            found = self._beside(folder, item.module)
        return () if found is None or found == path else (found,)

    def group(self, item: ImportedName) -> int:
        """0 to 4: from the future, the standard library's, of others, the project's, of the same package."""
        top = item.module.partition(".")[0]
        if item.level:
            return 4
        if top == "__future__":
            return 0
        if top in self._own and not (top in sys.stdlib_module_names and f"{top}.py" not in self._paths):
            return 3
        return 1 if top in sys.stdlib_module_names else 2

    def missing(self, path: str, item: ImportedName) -> str:
        """The module of the project's own that nobody has. What only runs if it is there is not missed, and
        what a package that is no file of ours has, nobody can know.
        """
        if item.when in ("maybe", "types") or self.targets(path, item):
            return ""
        base = self._absolute(path, item)
        if not base or base in self._modules or base == _module(path):
            return ""
        if item.level:
            return "." * item.level + item.module if self._has_package(base) else ""
        return item.module if self._has_package(base) else ""

    def _has_package(self, base: str) -> bool:
        """Whether the name is below a package whose files we have, each one of them."""
        above = base.rpartition(".")[0]
        found = self._modules.get(above, "")
        return found.endswith(f"/{_PACKAGE}") or found == _PACKAGE

    def _absolute(self, path: str, item: ImportedName) -> str:
        if not item.level:
            return item.module
        folders = path.split("/")[:-1]
        return ".".join(filter(None, (*folders[: len(folders) - item.level + 1], item.module)))

    def _beside(self, folder: str, module: str) -> str | None:
        stem = "/".join(filter(None, (folder, *module.split("."))))
        return next((each for each in (f"{stem}.py", f"{stem}/{_PACKAGE}") if each in self._paths), None)

    def _found_roots(self) -> set[str]:
        """The folders above the outermost packages."""
        packages = {path.rpartition("/")[0] for path in self._paths if path.endswith(f"/{_PACKAGE}")}
        return {above for package in packages if (above := package.rpartition("/")[0]) not in packages}


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix(".pyi").removesuffix("/__init__").replace("/", ".")
