"""A small shop with one defect, and the lines of a model that mends it: every play below changes one line of
them.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tests.whole.checkouts import PINNED, Done, Person

REQUEST = "net must take the discount off the price"
SOURCE, NEW_TEST, OLD_TEST = "shop/price.py", "tests/test_net.py", "tests/test_price.py"
SHOP = {
    "pyproject.toml": f'[project]\nname = "shop"\nversion = "1.0"\n\n[dependency-groups]\ntest = [{PINNED}]\n',
    ".gitignore": "local_*.py\n",
    "shop/__init__.py": "",
    SOURCE: '''\
def net(price: int, percent: int) -> int:
    """The price without the discount."""
    return price


def label(price: int) -> str:
    return f"{price} EUR"
''',
    OLD_TEST: """\
from shop.price import label


def test_label_names_the_currency() -> None:
    assert label(3) == "3 EUR"


def test_label_of_nothing() -> None:
    assert label(0) == "0 EUR"
""",
}
HIDDEN_TEST = "tests/test_catalogue.py"
SHOP[HIDDEN_TEST] = """\
import importlib


def test_prices_of_the_catalogue() -> None:
    price = importlib.import_module("shop" + ".price")  # no import graph sees this
    assert price.label(7) == "7 EUR"
"""
TEST = """\
from shop.price import net


def test_ten_percent_off() -> None:
    assert net(100, 10) == 90
"""
RIGHT = "return price - price * percent // 100"

Entry: TypeAlias = dict[str, Any]
"""One reply of a script."""
Expected: TypeAlias = str | dict[str, str]
"""A pattern, or `{"not": pattern}`."""


def create(path: str, content: str) -> dict[str, Any]:
    return {"name": "create_file", "args": {"path": path, "content": content}}


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    return {"name": "edit_file", "args": {"path": path, "old": old, "new": new}}


def read(path: str) -> dict[str, Any]:
    return {"name": "read_file", "args": {"path": path}}


FIX = edit(SOURCE, "return price\n", f"{RIGHT}\n")
FRAMED: dict[str, Any] = {
    "intake_record": {"extracted_intent": {"action": "fix", "target": "net", "scope": "file"}},
    "clarification": {"questions": []},
    "analysis": {"impacted_files": [{"path": SOURCE, "reason": "net is there"}]},
    "specification": {
        "title": "net takes the discount off",
        "description": "The percentage is taken off the price.",
        "requirements": [
            {
                "id": "REQ-001",
                "description": "the discount is off",
                "acceptance_criteria": ["net(100, 10) is 90"],
            }
        ],
        "files_to_modify": [SOURCE],
    },
}
SUITE: dict[str, Any] = {
    "test_files": [
        {"path": NEW_TEST, "tests": [{"name": "test_ten_percent_off", "requirement_ref": "REQ-001"}]}
    ]
}
BUILT: dict[str, Any] = {"implementation": {"summary": "the discount is taken off"}}
WHOLE = {**FRAMED, "test_suite": SUITE, **BUILT}


def say(
    stage: str,
    *actions: dict[str, Any],
    artifacts: dict[str, Any] | None = None,
    signal: str = "",
    thought: str = "",
    expects: tuple[Expected, ...] = (),
) -> Entry:
    """One entry of a script: what the model says, and what the context must hold when it says it."""
    said = {"thought": thought, "actions": [*actions], "artifacts": artifacts, "signal": signal}
    return {"stage": stage, "reply": {key: part for key, part in said.items() if part}, **_expecting(expects)}


def raw(stage: str, text: str, *, stop: str = "end") -> Entry:
    """An entry that is no object: the model's very characters."""
    return {"stage": stage, "reply": text, "stop": stop}


def frame(*, expects: tuple[Expected, ...] = ()) -> Entry:
    return say("frame", artifacts=FRAMED, signal="success", expects=expects)


def red(test: str = TEST, *, expects: tuple[Expected, ...] = ()) -> Entry:
    return say(
        "red", create(NEW_TEST, test), artifacts={"test_suite": SUITE}, signal="success", expects=expects
    )


def green(*actions: dict[str, Any], expects: tuple[Expected, ...] = ()) -> Entry:
    return say("green", *(actions or (FIX,)), artifacts=BUILT, signal="success", expects=expects)


def patch(*actions: dict[str, Any], expects: tuple[Expected, ...] = ()) -> Entry:
    """The hotfix lane's one reply: test, change and papers."""
    return say(
        "patch",
        *(actions or (create(NEW_TEST, TEST), FIX)),
        artifacts=WHOLE,
        signal="success",
        expects=expects,
    )


def review(*accepted: str, expects: tuple[Expected, ...] = ()) -> Entry:
    """An approval, with a ruling on each of what is accepted by name."""
    rulings = [{"about": name, "verdict": "accept", "reason": "the request says so"} for name in accepted]
    said = {"verdict": "approve", "summary": "as asked", **({"rulings": rulings} if rulings else {})}
    return say(
        "review",
        artifacts={"review": said},
        signal="success",
        expects=expects,
    )


CHECKS = """\
from shop.price import net


def test_a_fifth_off() -> None:
    assert net(50, 20) == 40
"""


def examine(source: str = CHECKS, *, expects: tuple[Expected, ...] = ()) -> Entry:
    """The checks of an examiner, in the mode that has one."""
    about = {"name": "test_a_fifth_off", "requirement_ref": "REQ-001", "example": "20 % off 50 is 40"}
    said = {"source": source, "checks": [about]}
    return say("examine", artifacts={"examination": said}, signal="success", expects=expects)


def ask(stage: str, question: str = "Which of the two?", *, expects: tuple[Expected, ...] = ()) -> Entry:
    """The end of a play that is over when its last expectation is met."""
    return say(stage, {"name": "escalate", "args": {"question": question}}, expects=expects)


def _expecting(expects: tuple[Expected, ...]) -> dict[str, Any]:
    return {"expects": [*expects]} if expects else {}


@dataclass(frozen=True)
class Play:
    """A person in the shop, and what the model will say."""

    person: Person

    @property
    def top(self) -> Path:
        return self.person.checkout

    def start(self, *entries: Entry, lane: str = "small", words: tuple[str, ...] = ()) -> Done:
        self.person.scripted(*entries)
        return self.with_model(f"scripted:{self.person.script}", lane=lane, words=words)

    def with_model(self, model: str, *, lane: str = "small", words: tuple[str, ...] = ()) -> Done:
        return self.person.run("start", REQUEST, "--lane", lane, "--model", model, "--json", *words)

    def answer(self, done: Done, answer: str, *words: str) -> Done:
        """`resolve` for the question that the last command ended with."""
        question = done.data["escalation"]["id"]
        return self.person.run(
            "resolve", question, "--task", done.data["task_id"], "--answer", answer, "--json", *words
        )

    def follow(self, done: Done, command: str, words: str = "") -> Done:
        """Types the line of this command that the last one ended with, as it was printed: what is to be filled
        in, in capitals, with `words`.
        """
        begins = f"{command} " if command in ("cat", "git") else f"agentforge {command} "
        line = next(line for line in done.data["next"] if line.startswith(begins))
        if words:
            line = re.sub(r"'?[A-Z]{3}[A-Z :]*'?$", shlex.quote(words), line)
        return self.person.paste(line if command in ("cat", "git") else f"{line} --json")

    def file(self, path: str) -> str:
        """A file of the one task there is."""
        (task,) = (self.top / ".agentforge/tasks").iterdir()
        return (task / path).read_text(encoding="utf-8")


def asked(done: Done) -> str:
    """The question that a task ended with; the script's `expects` were all met on the way."""
    assert done.code == 3, done.said
    assert done.data["escalation"]["kind"] == "question", done.said
    return str(done.data["escalation"]["question"]["text"])


def finished(done: Done) -> dict[str, Any]:
    assert done.code == 0, done.said
    assert done.data["status"] == "completed", done.said
    return done.data
