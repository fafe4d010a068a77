"""What a step is shown before it asks: the map, the first places, the owner's conventions and what history
says, all of the base commit, so that the same step is shown the same again.
"""

import os
import re
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from agentforge.activities.world import World
from agentforge.catalog.project_checks import CHECKS_FOLDER, read_project_checks
from agentforge.context.assemble import OwnersWord
from agentforge.context.code_index import is_test
from agentforge.context.conventions import convention_files, reduced
from agentforge.context.named import tree_facts
from agentforge.context.past import LOOKED_AT, told_by_history
from agentforge.context.ranking import Focus
from agentforge.context.repository_map import repo_map
from agentforge.context.seeds import Seeds, focus_of, seeds
from agentforge.core.pipeline import Part
from agentforge.core.reply import Json
from agentforge.core.state import RunView
from agentforge.gates.change.documents import objects
from agentforge.gates.conformance.contents import rules_in
from agentforge.languages.symbols import find_symbol
from agentforge.system.git.history import recent_commits
from agentforge.system.secrets import known as known_secrets
from agentforge.system.secrets.redact import redact
from agentforge.tools.base import OpenedRange
from agentforge.tools.look.source import MAX_BYTES

MAP_TOKENS, NAMED_MAP_TOKENS = 1_000, 500
"""The size of the map; a smaller one where the request names its places, which are open then."""
NEW_LINES = 120
"""Lines of a file that the task itself made: it is what the next step works on."""
MOST_FAILING = 3
FAILING_LINES = 60
MOST_ABOUT = 3
_TEST_ID = re.compile(r"([^\s:`]+)::(\w+(?:::\w+)*)")
USUAL_BYTES = 200_000
"""Larger files are read and cleaned again each time, so that what is remembered stays small."""
MOST_READ = 64
_SETTLED_NS = 2_000_000_000
"""A file that was changed later than this before it was read could change again without looking different:
clocks of file systems are coarse.
"""
_read: dict[str, tuple[tuple[object, ...], str]] = {}
"""What was read of a file that has looked the same since."""


def read_tree_file(world: World, path: str) -> str | None:
    """A file of the worktree as a model may see it: text, redacted."""
    return shown_text(world.workspace.worktree, path)


def shown_text(top: Path, path: str) -> str | None:
    """A file below a directory as a model may see it; None where there is none that a tool would show
    either: it is no file, too large, gone, or around in links.
    """
    place = os.path.join(top, path)  # noqa: PTH118 - each step asks for each open file; a `Path` takes as long as the read
    try:
        about = os.lstat(place)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_BYTES:
            return None
        looks = (
            known_secrets.spellings(),
            about.st_ino,
            about.st_dev,
            about.st_size,
            about.st_mtime_ns,
            about.st_ctime_ns,
        )
        known = _read.get(place)
        if known is not None and known[0] == looks:
            return known[1]
        started = time.time_ns()
        with open(place, "rb", buffering=0) as file:  # noqa: PTH123 - as above
            data = file.read(about.st_size + 1)  # whatever is written to it meanwhile
    except OSError:
        return None
    keys = known_secrets.spellings()
    if len(data) > USUAL_BYTES:
        return _clean.__wrapped__(data, keys)
    text = _clean(data, keys)
    if max(about.st_mtime_ns, about.st_ctime_ns) + _SETTLED_NS < started:
        if len(_read) >= MOST_READ:
            _read.clear()
        _read[place] = (looks, text)
    return text


@lru_cache(
    maxsize=64
)  # what is open changes little from step to step, and each of its files would be searched for secrets again
def _clean(data: bytes, _: tuple[str, ...]) -> str:
    return redact(data.decode("utf-8", "replace"))[0]


def draw_map(world: World, state: RunView, *, named: bool = False) -> str:
    """The map of the base for this request, made once for each size: it stays the same while a stage lasts,
    so that prompt caches hit. `named`: an earlier stage has said which files it is about.
    """
    focus = focus_on(world, state)
    size = NAMED_MAP_TOKENS if named or focus.symbols or focus.paths else MAP_TOKENS

    def make() -> str:
        pointed = first_places(world, state).pointed
        return redact(repo_map(world.code_index(state), focus, size, pointed))[0]

    return world.once("map", state.base_tree, str(size), make=make)


def focus_on(world: World, state: RunView) -> Focus:
    """What the request is about: its words, and the places that it names."""
    index = world.code_index(state)
    return world.once(
        "focus", state.base_tree, make=lambda: focus_of(state.request, tree_facts(state.request, index))
    )


def first_places(world: World, state: RunView) -> Seeds:
    """What is shown before anybody asks for it: places of the base, and who uses them."""
    index = world.code_index(state)
    return world.once(
        "seeds",
        state.base_tree,
        state.told_now,
        make=lambda: seeds(
            index,
            focus_on(world, state),
            partial(_base_text, world, state),
            world.told(state.told_now),
        ),
    )


def _base_text(world: World, state: RunView, path: str) -> str:
    """From the worktree where it still is the same; asking git for every file would cost a process each."""
    found = read_tree_file(world, path) if state.tree == state.base_tree else None
    if found is not None:
        return found
    git = world.workspace.git
    sizes = world.once("sizes", state.base_tree, make=lambda: git.sizes(state.base_tree))
    if sizes.get(path, 0) > MAX_BYTES:
        return ""
    return (git.read_blob(state.base_tree, path) or b"").decode("utf-8", "replace")


def seeded(world: World, state: RunView, named: tuple[str, ...], said: str = "") -> list[OpenedRange]:
    """What the request points at; and of the files that earlier stages named, the parts that matter, those
    first of which they said the name. Once some are named, what else the words of the request seemed to mean
    is left out.
    """
    own = list(first_places(world, state).places)
    if not named:
        return own
    index = world.code_index(state)
    there = tuple(path for path in named if (world.workspace.worktree / path).is_file())
    known = tuple(path for path in there if path in index.files)
    found = places_named(world, state, known, said).places
    new = [OpenedRange(path, 1, NEW_LINES) for path in there if path not in index.files]
    mine = [place for place in found if not known or place.path in known or is_test(place.path)]
    return [*mine, *new, *still_meant(own, known, focus_on(world, state), mine)]


def places_named(world: World, state: RunView, named: tuple[str, ...], said: str = "") -> Seeds:
    """The first places where earlier stages have named files of the base, and `said` names of theirs."""
    if not named:
        return first_places(world, state)
    index, focus, told = world.code_index(state), focus_on(world, state), state.told_now

    def make() -> Seeds:
        own = [
            each
            for each in tree_facts(said, index).named_symbols
            if each.partition("::")[0] in named and each not in focus.symbols
        ]
        about = replace(
            focus,
            paths=tuple(dict.fromkeys((*named, *focus.paths))),
            symbols=(*focus.symbols, *own[:MOST_ABOUT]),
        )
        return seeds(index, about, partial(_base_text, world, state), world.told(told))

    return world.once("seeds", state.base_tree, told, said, *named, make=make)


def still_meant(
    places: Sequence[OpenedRange],
    named: Sequence[str],
    focus: Focus,
    found: Sequence[OpenedRange] = (),
) -> list[OpenedRange]:
    """What the request seemed to mean, once files of code are named: of these, and of what it says itself;
    its tests only where the named files have `found` none.
    """
    if all(is_test(path) for path in named):
        return [*places]
    meant = {*named, *focus.paths, *(each.partition("::")[0] for each in focus.symbols)}
    tests = not any(is_test(place.path) for place in found)
    return [place for place in places if place.path in meant or (tests and is_test(place.path))]


def promised_tests(world: World, suite: Mapping[str, Json]) -> list[OpenedRange]:
    """The tests that a suite names: what the change is to meet, as the tree has it now."""
    found: dict[OpenedRange, None] = {}
    for file in objects(suite, "test_files"):
        path = str(file.get("path", ""))
        text = read_tree_file(world, path)
        for test in objects(file, "tests") if text else ():
            name = str(test.get("name", "")).partition("[")[0].replace("::", ".")
            symbol = find_symbol(text or "", name, path)
            if symbol is not None:
                end = min(symbol.end, symbol.start + FAILING_LINES - 1)
                found[OpenedRange(path, symbol.start, end, symbol.name)] = None
    return list(found)


def failing_places(world: World, state: RunView) -> list[OpenedRange]:
    """The tests that failed in the last check: what they expect decides the next edit."""
    found: dict[OpenedRange, None] = {}
    for line in state.run.check.failures if state.run.check else ():
        for path, name in _TEST_ID.findall(line)[:1]:
            text = read_tree_file(world, path)
            symbol = find_symbol(text, name.replace("::", "."), path) if text else None
            if symbol is not None:
                end = min(symbol.end, symbol.start + FAILING_LINES - 1)
                found[OpenedRange(path, symbol.start, end, symbol.name)] = None
    return list(found)[:MOST_FAILING]


def history(world: World, state: RunView) -> str:
    """What the commits before the base say about the places that the request is about."""

    def read() -> str:
        places = first_places(world, state).places
        paths = list(dict.fromkeys(place.path for place in places if not is_test(place.path)))[:MOST_ABOUT]
        commits = recent_commits(world.workspace.git, state.base_commit, LOOKED_AT) if paths else []
        return redact(told_by_history(commits, paths, world.code_index(state).files))[0]

    return world.once("history", state.base_commit, make=read)


def _rules_in_words(world: World, state: RunView, parts: Sequence[Part]) -> list[OwnersWord]:
    """The project's checks that no program can make: told to whoever makes a change, and to whoever judges
    it. They are advice.
    """
    if not {"change", "tests", "review", "security"} & {*parts}:
        return []
    rules = read_project_checks(rules_in(world.workspace.git, state.base_tree)).values()
    return [
        OwnersWord(f"{CHECKS_FOLDER}{rule.check.name}.yaml", told, told)
        for rule in rules
        if rule.kind == "model" and (told := redact(f"- {rule.data['rule']} {rule.check.fix_hint}")[0])
    ]


def owners_words(world: World, state: RunView) -> tuple[OwnersWord, ...]:
    """What the owner's conventions, as the base commit has them, say about the work of this stage."""
    parts = tuple(part for product in state.stage.products if (part := product.part) is not None)

    def read() -> tuple[OwnersWord, ...]:
        focus = focus_on(world, state)
        about = (*focus.paths, *(each.partition("::")[0] for each in focus.symbols))
        texts = {
            path: redact(_base_text(world, state, path))[0]
            for path in convention_files(world.code_index(state).files, about)
        }
        told = reduced(texts, parts)
        words = [OwnersWord(path, told.get(path, ""), text) for path, text in texts.items()]
        return (*words, *_rules_in_words(world, state, parts))

    return world.once("owner", state.base_tree, *parts, make=read)
