"""What shows that a change behaves as before: the public names are there, and the base's own tests say the
same of the new code; after a rename, the base's tests with that very rename applied by us.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agentforge.core.values import Question
from agentforge.gates.change.kinds import ChangedFile
from agentforge.gates.change.tests_only import reached_lines, watched_suite
from agentforge.gates.flags import Flag
from agentforge.gates.new_tests.about import change_between
from agentforge.gates.new_tests.elsewhere import gives_something_else
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.measures import same_code
from agentforge.languages.names import IMPORTED, is_package, module_of, public_names, renamed
from agentforge.languages.symbols import decode
from agentforge.languages.table import is_source

ABOUT = "gone: "
"""How the question whether public names may go is marked."""
MAX_NAMED = 5
UNPROVED = "not proved by a test: no test of the base runs a line that changed"
UNSEEN = "not measured: whether a test of the base runs the changed lines could not be seen"

_ASKED_RENAME = re.compile(
    r"`?(?P<old>[A-Za-z_][\w./-]*)`?(?:\(\))?(?:\s+(?:of|in)\s+`?[\w./-]+`?)?\s+(?:to|into|as|->|→|by|with)\s+(?:the\s+)?`?(?P<new>[A-Za-z_][\w./-]*)`?"
)


@dataclass(frozen=True, slots=True)
class LostName:
    """A public name that is gone, or is called in another way now."""

    path: str
    name: str
    now: str | None
    """How it is called now; None if it is gone."""

    @property
    def label(self) -> str:
        """How it is named to people."""
        return f"{self.path}::{self.name}"


@dataclass(frozen=True)
class NameChanges:
    """What a change does to names: those that are lost, and those that the request renames."""

    runner: PristineRunner
    base: str
    tree: str
    files: Sequence[ChangedFile]
    request: str
    dead_code: bool = False
    """The request is about code that nothing uses."""
    _texts: dict[tuple[str, str], str] = field(default_factory=dict)

    @cached_property
    def lost(self) -> list[LostName]:
        """Public names of the changed source that are gone or called differently, unless the request names
        them, or wants what nothing uses to go.
        """
        return [item for item in self._all_lost() if not self._is_named(item)]

    @cached_property
    def renames(self) -> tuple[dict[str, str], dict[str, str]]:
        """Identifiers, and parts of module paths, that the request renames and the change did rename."""
        names: dict[str, str] = {}
        modules: dict[str, str] = {}
        for match in _ASKED_RENAME.finditer(self.request):
            old, new = match["old"].rstrip("."), match["new"].rstrip(".")
            if is_source(old) and is_source(new):
                if self._moved(old, new):
                    modules |= _differing(module_of(old), module_of(new))
                continue
            if self._new_places(old, new):
                parts = _differing(*(".".join(_parts(each)) for each in (old, new)))
                modules |= parts
                names |= {each: parts[each] for each in parts if self._is_top(each)}
                continue
            old, new = old.rpartition(".")[2], new.rpartition(".")[2]
            if old.isidentifier() and new.isidentifier() and self._took_over(old, new):
                names[old] = new
        return names, modules

    @cached_property
    def is_all(self) -> bool:
        """Whether the source is the base's with other names and nothing else, whoever asked for that."""
        sources = [file.path for file in self.files if file.kind == "source"]
        pairs: dict[str, str] = {}
        for path in sources:
            then, now = (public_names(self._text(tree, path), path) for tree in (self.base, self.tree))
            went, came = (
                [name for name in then if name not in now],
                [name for name in now if name not in then],
            )
            if len(went) != len(came):
                return False
            pairs |= {
                old.rpartition(".")[2]: new.rpartition(".")[2] for old, new in zip(went, came, strict=True)
            }
        return bool(pairs) and all(
            same_code(
                renamed(self._text(self.base, path), path, pairs, {}), self._text(self.tree, path), path
            )
            for path in sources
        )

    def base_with_renames(self, *, moved: bool = False) -> str:
        """The base with the renames in its tests; the base itself where nothing is renamed. `moved`: also
        with modules that moved and can still be imported from where they were.
        """
        names, modules = self.renames
        if moved:
            modules = {**modules, **self._left_behind()}
        if not names and not modules:
            return self.base
        git = self.runner.workspace.git
        changed: dict[str, tuple[str, str] | None] = {}
        for entry in git.ls_tree(self.base):
            if self.runner.is_test(entry.path) and is_source(entry.path):
                before = self._text(self.base, entry.path)
                if before == self._text(self.tree, entry.path):
                    continue  # what nobody touched is judged as it stands: its names may be others' names
                after = renamed(before, entry.path, names, modules)
                if after != before:
                    changed[entry.path] = (entry.mode, git.hash_blob(after.encode()))
        return git.overlay_tree(self.base, changed) if changed else self.base

    def flags(self) -> list[Flag]:
        """Names that the request lets go, for a reader to see."""
        lost = [item for item in self._all_lost() if self._is_named(item)]
        return [Flag(item.label, f"{_what_became(item)}, as the request asks") for item in lost]

    def _all_lost(self) -> Iterator[LostName]:
        for file in self.files:
            if file.kind != "source" or not is_source(file.path):
                continue
            then = public_names(self._text(self.base, file.path), file.path)
            now = public_names(self._text(self.tree, file.path), file.path)
            for name, how in then.items():
                if how == IMPORTED and not is_package(file.path):
                    continue  # what a file imports for itself is nobody else's
                if name not in now:
                    yield LostName(file.path, name, None)
                elif how != now[name] and IMPORTED not in (how, now[name]):
                    yield LostName(file.path, name, now[name])

    def _is_named(self, item: LostName) -> bool:
        parts = {*item.name.split("."), item.path}
        if any(_mentions(self.request, part) for part in parts if not part.startswith("__")):
            return True
        if item.name in public_names(self._text(self.tree, self._new_place(item.path)), item.path):
            return True
        return self.dead_code and item.now is None and not self._is_used(item.name.rpartition(".")[2])

    def _is_used(self, name: str) -> bool:
        """Whether any code of the new tree still speaks of a name."""
        entries = self.runner.workspace.git.ls_tree(self.tree)
        return any(
            _mentions(self._text(self.tree, entry.path), name) for entry in entries if is_source(entry.path)
        )

    def _moved(self, old: str, new: str) -> bool:
        """Whether a file went and another came; one that gave only a part of itself away is still there."""
        changed = {file.path for file in self.files}
        there = {entry.path for entry in self.runner.workspace.git.ls_tree(self.tree)}
        return any(path.endswith(old) for path in changed - there) and any(
            path.endswith(new) for path in changed & there
        )

    def _new_places(self, old: str, new: str) -> dict[str, str]:
        """Files that went, each with the one that came in its place, where a module or package got another
        name.
        """
        then, now = _parts(old), _parts(new)
        there = {entry.path for entry in self.runner.workspace.git.ls_tree(self.tree)}
        found = {}
        for path in (file.path for file in self.files if file.path not in there and is_source(file.path)):
            stem, dot, suffix = path.rpartition(".")
            inside = _exchanged(stem.split("/"), then, now)
            if inside and (place := "/".join(inside) + dot + suffix) in there:
                found[path] = place
        return found

    def _new_place(self, path: str) -> str:
        """Where a file is that the request gave another name; empty if it did not."""
        for match in _ASKED_RENAME.finditer(self.request):
            places = self._new_places(match["old"].rstrip("."), match["new"].rstrip("."))
            if path in places:
                return places[path]
        return ""

    def _is_top(self, name: str) -> bool:
        """Whether a package or module of this name can be imported by it alone."""
        return any(module_of(file.path).partition(".")[0] == name for file in self.files)

    def _left_behind(self) -> dict[str, str]:
        """Parts of module paths that the request moves, where the old file only imports what it had."""
        found: dict[str, str] = {}
        for match in _ASKED_RENAME.finditer(self.request):
            old, new = match["old"].rstrip("."), match["new"].rstrip(".")
            if not (is_source(old) and is_source(new)):
                continue
            for path in (file.path for file in self.files if file.path.endswith(old)):
                then, now = (public_names(self._text(tree, path), path) for tree in (self.base, self.tree))
                if then and now and all(how == IMPORTED for how in now.values()):
                    found |= _differing(module_of(old), module_of(new))
        return found

    def _took_over(self, old: str, new: str) -> bool:
        """Whether a name went from the changed source, and another came."""
        went = self._count(old, self.base) - self._count(old, self.tree)
        came = self._count(new, self.tree) - self._count(new, self.base)
        return went > 0 and came > 0

    def _count(self, name: str, tree: str) -> int:
        sources = [file.path for file in self.files if file.kind == "source"]
        return sum(len(re.findall(rf"\b{name}\b", self._text(tree, path))) for path in sources)

    def _text(self, tree: str, path: str) -> str:
        key = (tree, path)
        if key not in self._texts:
            self._texts[key] = decode(self.runner.workspace.git.read_blob(tree, path) or b"", path)
        return self._texts[key]


def lost_reasons(lost: Iterable[LostName]) -> list[str]:
    """Why public names that nobody asked about may not go."""
    return [
        f"`{item.label}` {_what_became(item)}, others may use it, and the request does not name it; put it "
        "back"
        for item in lost
    ]


def lost_question(lost: Sequence[LostName]) -> Question:
    """What a person is asked before public names go."""
    named = "; ".join(f"{item.label} {_what_became(item)}" for item in lost[:MAX_NAMED])
    more = f" and {len(lost) - MAX_NAMED} more" if len(lost) > MAX_NAMED else ""
    text = f"Public names that the request does not name would change: {named}{more}. Is that what you want?"
    told = f"A person wants these names kept as they are: {', '.join(item.label for item in lost)}."
    return Question(text, ("yes", "no", "abort"), "", about=lost_about(lost), if_no=told)


def lost_about(lost: Sequence[LostName]) -> tuple[str, ...]:
    """What that question is about, so that its answer is found again."""
    return tuple(f"{ABOUT}{item.label} {item.now}" for item in lost)


def not_tested(runner: PristineRunner, base: str, tree: str, old_tests: str) -> list[Flag]:
    """Changed source that no test of the base runs: equal outcomes say nothing of it."""
    change = change_between(runner, base, tree)
    # What a file does while it is loaded, every test that loads it has run.
    lines = {path: code.lines for path, code in change.code.items() if code.lines and code.functions}
    if not lines:
        return [Flag(path, f"`{path}`: {UNPROVED}", ruling=True) for path in change.unread]
    run = watched_suite(runner, old_tests, lines)
    reached = reached_lines(run, lines)
    if reached is None:
        return [Flag(path, f"`{path}`: {UNSEEN}", ruling=True) for path in lines]
    found = [path for path in lines if not reached.get(path)]
    found += [
        f"{path}::{name.rstrip('#')}"
        for path in lines
        if reached.get(path)
        for name, altered in change.code[path].bodies.items()
        if altered and altered.isdisjoint(reached[path])
    ]
    told = UNSEEN if run.reached is not None and run.reached.lost else UNPROVED
    flags = [Flag(path, f"`{path}`: {told}", ruling=True) for path in found]
    flags += [Flag(path, f"`{path}`: {UNPROVED}", ruling=True) for path in change.unread]
    return [*flags, *gives_something_else(runner, change.names, (base, tree), run)]


def _what_became(item: LostName) -> str:
    return "is gone" if item.now is None else f"is called with ({item.now}) now"


def _mentions(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text) is not None


def _parts(name: str) -> list[str]:
    """The parts of a module path, written with dots or slashes."""
    return [part for part in re.split(r"[./]", name) if part]


def _exchanged(parts: list[str], then: list[str], now: list[str]) -> list[str]:
    """A path with some of its parts exchanged for as many others; empty where they are not in it."""
    size = len(then)
    if not then or len(now) != size or then == now:
        return []
    at = next((place for place in range(len(parts)) if parts[place : place + size] == then), None)
    return [] if at is None else [*parts[:at], *now, *parts[at + size :]]


def _differing(old: str, new: str) -> dict[str, str]:
    """The parts in which two module paths differ, if they are as long."""
    before, after = old.split("."), new.split(".")
    if len(before) != len(after):
        return {}
    return {one: other for one, other in zip(before, after, strict=True) if one != other}
