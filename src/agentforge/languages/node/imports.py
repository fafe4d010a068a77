"""How files of JavaScript import one another: by relative paths, and by the names of packages."""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence

from agentforge.languages.plain.reading import PlainImports

_LOADS = re.compile(
    r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\s*\(\s*|\bmock\s*\(\s*)['"]([^'"\n]{1,200})['"]"""
)
_ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs", ".cts", ".cjs")
_AS_WRITTEN = {".js": (".ts", ".tsx", ".jsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}


class NodeImports(PlainImports):
    """By the texts of `import`, `export from` and `require`."""

    def importers(self, files: Mapping[str, str], roots: Sequence[str], /) -> Mapping[str, frozenset[str]]:
        """File to the files that import it directly."""
        del roots
        found: dict[str, set[str]] = {}
        for path, text in files.items():
            for name in _LOADS.findall(text):
                target = resolved(path, name, files.__contains__) if name.startswith(".") else None
                if target is not None:
                    found.setdefault(target, set()).add(path)
        return {path: frozenset(importers) for path, importers in found.items()}

    def outside_imports(self, text: str, own: Sequence[str], /) -> tuple[str, ...]:
        """Packages, by name."""
        del own
        return tuple(sorted(name for name in self.imported_names(text) if not name.startswith("node:")))

    def imported_names(self, text: str, /) -> frozenset[str]:
        """Packages that a file imports; of a scope, with it."""
        names = (name for name in _LOADS.findall(text) if not name.startswith((".", "/")))
        return frozenset("/".join(name.split("/")[: 2 if name.startswith("@") else 1]) for name in names)


def resolved(path: str, name: str, is_there: Callable[[str], bool]) -> str | None:
    """The file that a relative import of a file means."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    stem, ending = posixpath.splitext(target)
    written = (stem + other for other in _AS_WRITTEN.get(ending, ()))
    added = (target + other for other in _ENDINGS)
    inside = (f"{target}/index{other}" for other in _ENDINGS)
    return next((each for each in (target, *written, *added, *inside) if is_there(each)), None)
