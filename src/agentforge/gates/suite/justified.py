"""Old tests that a task gives up, and whether the words of the request justify it. What they do not is a
question to a person, by id, with the reason and the change of each.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import cache

from agentforge.catalog.kinds import names_in, plain_verbs
from agentforge.catalog.policies import read_policy
from agentforge.core.people import KEEP
from agentforge.core.reply import Json
from agentforge.core.values import Escalation, Question, is_yes
from agentforge.gates.change.documents import objects
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.gates.suite.superseded import superseded_ids
from agentforge.languages.tests import source_of_test

MAX_LINES = 30
"""How much of the change of one test is shown."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_VALUE = re.compile(r"[^\W\d_]\w{2,}")
"""A value that nobody writes by chance."""
_QUOTE = re.compile(
    r"[\"'`\u201c\u2018\u00ab]\s*([^\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb\n]+?)\s*[\"'`\u201d\u2019\u00bb]"
)
_OPERATORS = frozenset({"not", "or", "and", "in", "is", "if", "else"})
_USED = re.compile(r"(?:\.\s*|\b)([A-Za-z_]\w*)\s*\(|\.\s*([A-Za-z_]\w*)")


@cache
def changing_words() -> re.Pattern[str]:
    """What in a request says that something will be different."""
    phrases = (re.escape(phrase).replace(r"\ ", r"\s+") for phrase in read_policy("superseding")["changes"])
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


def justifies(
    words: str, identity: str, source: str | None, rewritten: tuple[str, str] | None = None
) -> bool:
    """Whether the words of people name this test, or say that something changes and name what it calls, or
    what it expects now, or quote what it has; `rewritten` is what it was and what was made of it.
    """
    path, _, inside = identity.partition("::")
    function = inside.rpartition("::")[2].partition("[")[0]
    file = path.rpartition("/")[2]
    if any(_names(words, name) for name in (path, file, file.rpartition(".")[0], function)):
        return True
    if not changing_words().search(words):
        return False
    if _names_case(words, inside) or any(told in (source or "") for told in _quoted(words)):
        return True
    if rewritten is not None and all(rewritten) and _says_what_was_asked(words, *rewritten):
        return True
    used = {first or second for first, second in _USED.findall(source or "")} - {function}
    # "Add a discount" is no word about `cart.add`, unless it is written as one.
    written = {part for name in names_in(words) for part in name.split(".")}
    used -= plain_verbs() - written
    # `repr(it)` is how `__repr__` is called.
    return any(_names(words, name) or _names(words, f"__{name}__") for name in used)


def _quoted(words: str) -> list[str]:
    """What the words quote that is long enough to be nobody else's."""
    return [told for told in _QUOTE.findall(words) if len(told.split()) > 3]


def _names_case(words: str, inside: str) -> bool:
    """Whether the words have every value of one case of a test: `test_plural[octopus-octopi]`."""
    values = [value for value in re.split(r"[\s,;-]+", inside.partition("[")[2].rstrip("]")) if value]
    told = [value for value in values if _VALUE.fullmatch(value)]
    return bool(told) and told == values and all(_names(words, value) for value in told)


def _says_what_was_asked(words: str, before: str, after: str) -> bool:
    """Whether a test is as it was but for values, and each new one is a word of the request."""
    asked = set(map(str.lower, re.findall(r"\w+", words))) - _OPERATORS
    then, now = _TOKEN.findall(before), _TOKEN.findall(after)
    found = difflib.SequenceMatcher(None, then, now, autojunk=False).get_opcodes()
    differing = [row for row in found if row[0] != "equal"]
    came = {token.lower() for _, _, _, start, end in differing for token in now[start:end]}
    return bool(came) and came <= asked and all(row[0] == "replace" for row in differing)


def asked_about(escalations: Iterable[Escalation]) -> tuple[frozenset[str], frozenset[str]]:
    """The old tests that people allowed to give up, and those that they want kept."""
    allowed: set[str] = set()
    kept: set[str] = set()
    for item in escalations:
        if item.answer is not None:
            (allowed if is_yes(item.answer) else kept).update(item.question.about)
    return frozenset(allowed), frozenset(kept - allowed)


def unjustified(runner: PristineRunner, suite: Mapping[str, Json], words: str, tree: str = "") -> list[str]:
    """The ids that a suite gives up and that the words of people do not justify; `tree` has what was made of
    them.
    """
    base = runner.workspace.git.tree_of(runner.base_commit)
    return [
        identity
        for identity in sorted(superseded_ids(suite))
        if not justifies(
            words,
            identity,
            _source(runner, base, identity),
            _rewritten(runner, (base, tree), identity) if tree else None,
        )
    ]


def question_about(runner: PristineRunner, tree: str, suite: Mapping[str, Json], ids: list[str]) -> Question:
    """May they be given up? Each with its reason and what would become of it."""
    base = runner.workspace.git.tree_of(runner.base_commit)
    reasons = {str(item.get("id")): str(item.get("reason")) for item in objects(suite, "supersedes")}
    lines = ["These old tests would be dropped, and the request does not say so. May they be?"]
    for identity in ids:
        old, new = _rewritten(runner, (base, tree), identity)
        lines += ["", f"{identity}: {reasons.get(identity, '')}"]
        changes = difflib.unified_diff(
            old.splitlines(), new.splitlines(), "before", "after", lineterm="", n=2
        )
        shown = list(changes)[2:]
        lines += [f"    {line}" for line in shown[:MAX_LINES]]
        if not new:
            lines.append("    (removed)")
    return Question("\n".join(lines), ("allow", KEEP, "abort"), KEEP, about=tuple(ids))


def _names(words: str, name: str) -> bool:
    return bool(name) and re.search(rf"(?<![\w/]){re.escape(name)}(?!\w)", words, re.IGNORECASE) is not None


def _rewritten(runner: PristineRunner, trees: tuple[str, str], identity: str) -> tuple[str, str]:
    """A test as it was and as it is; its file, where only what it reads there is another, as a table is."""
    old, new = (_source(runner, tree, identity) or "" for tree in trees)
    if old != new:
        return old, new
    before, after = (_file(runner, tree, identity) for tree in trees)
    return before, after


def _source(runner: PristineRunner, tree: str, identity: str) -> str | None:
    return source_of_test(_file(runner, tree, identity), identity)


def _file(runner: PristineRunner, tree: str, identity: str) -> str:
    data = runner.workspace.git.read_blob(tree, identity.partition("::")[0])
    return (data or b"").decode("utf-8", "replace")
