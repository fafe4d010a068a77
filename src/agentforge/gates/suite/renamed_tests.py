"""Old tests that stand in their file under another name, or in a file of another name, and say the very same:
with what they test, tests are renamed. They are not lost, and nobody has to give them up.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from agentforge.core.reply import Json
from agentforge.gates.runs.pristine import PristineRunner, result_of
from agentforge.languages.measures import same_code
from agentforge.languages.outcomes import TestRun
from agentforge.languages.symbols import decode
from agentforge.languages.tests import source_of_test

SAME = "the same test under another name"
_CLASS = re.compile(r"(?m)^class (\w+)\b.*(?:\n(?:[ \t].*)?)*")
_HEAD = re.compile(r"(?m)^(\s*(?:async )?def )\w+")


def renamed_tests(runner: PristineRunner, base: str, tree: str, known: Iterable[str]) -> dict[str, str]:
    """The ids of the base that have another name in a tree, each with that name. `base` has the renames that
    the request asks for already, so that texts can be compared.
    """
    functions = _renamed_functions(runner, base, tree)
    found = {}
    for identity in known:
        function, bracket, case = identity.partition("[")
        if function in functions:
            found[identity] = functions[function] + bracket + case
    return found


def renamed_rows(run: TestRun, baseline: TestRun, renamed: Mapping[str, str]) -> list[Json]:
    """What became of each, for the evidence."""
    return [
        {
            "id": old,
            "requirement": SAME,
            "reason": f"it is {new} now, word for word",
            "before": result_of(baseline, old).outcome,
            "after": f"renamed, {result_of(run, new).outcome}",
            "renamed_to": new,
        }
        for old, new in sorted(renamed.items())
    ]


def lost_on_the_way(run: TestRun, baseline: TestRun, renamed: Mapping[str, str]) -> list[str]:
    """Tests that passed under their old names and do not under the new ones."""
    return [
        f"{old} passed before and is {result_of(run, new).outcome} now, as {new}"
        for old, new in sorted(renamed.items())
        if result_of(baseline, old).outcome == "passed" and result_of(run, new).outcome != "passed"
    ]


def _renamed_functions(runner: PristineRunner, base: str, tree: str) -> dict[str, str]:
    git = runner.workspace.git
    changes = [change for change in git.diff_names(base, tree) if runner.is_test(change.path)]
    texts = {
        change.path: tuple(_text(runner, each, change.path) for each in (base, tree)) for change in changes
    }
    came = [change.path for change in changes if change.status == "A"]
    found: dict[str, str] = {}
    ids = runner.language.tests.test_ids_in_source
    for change in changes:
        path = change.path
        before, after = texts[path]
        if change.status == "D":
            moved = [new for new in came if same_code(before, texts[new][1], new)]
            if len(moved) == 1:
                found |= {old: moved[0] + old[len(path) :] for old in ids(before, path)}
        elif change.status != "A":
            found |= _within((before, ids(before, path)), (after, ids(after, path)))
    return found


def _within(was: tuple[str, list[str]], has: tuple[str, list[str]]) -> dict[str, str]:
    """The tests of one file, given as text and ids, that have another name and the same text, in the same
    class or in one that only has another name.
    """
    (before, then), (after, now) = was, has
    classes = _renamed_classes(before, after)
    by_class = {
        old: there
        for old in then
        if (there := "::".join(classes.get(part, part) for part in old.split("::"))) != old and there in now
    }
    then = [old for old in then if old not in by_class]
    now = [there for there in now if there not in by_class.values()]
    new = {_nameless(after, identity): identity for identity in now if identity not in then}
    pairs = {old: new.get(_nameless(before, old), "") for old in then if old not in now}
    taken = Counter(pairs.values())
    return by_class | {old: other for old, other in pairs.items() if other and taken[other] == 1}


def _renamed_classes(before: str, after: str) -> dict[str, str]:
    """Classes that stand there under another name and are the same, line for line, but for that name."""
    then, now = (
        {found[1]: found[0].removeprefix(f"class {found[1]}").rstrip() for found in _CLASS.finditer(text)}
        for text in (before, after)
    )
    came = {body: name for name, body in now.items() if name not in then}
    pairs = {name: came.get(body, "") for name, body in then.items() if name not in now}
    taken = Counter(pairs.values())
    return {old: new for old, new in pairs.items() if new and taken[new] == 1}


def _nameless(text: str, identity: str) -> tuple[str, str]:
    """The class of a test, and its text without its name."""
    return identity.rpartition("::")[0], _HEAD.sub(
        r"\1_", source_of_test(text, identity) or identity, count=1
    )


def _text(runner: PristineRunner, tree: str, path: str) -> str:
    return decode(runner.workspace.git.read_blob(tree, path) or b"", path)
