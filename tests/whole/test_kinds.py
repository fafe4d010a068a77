"""Every kind of honest change, through the installed command: proved as what it is, with as few calls as it
takes; and what shows less than the request asks for is not delivered.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.depth import SOAK, shown_by, telling
from tests.whole.checkouts import PINNED, Done, Person, make_repository
from tests.whole.full_plays import READER, SECURITY, approves
from tests.whole.plays import BUILT, SHOP, SOURCE, Entry, create, edit, review, say

pytestmark = pytest.mark.slow

NET = "return price\n"
FILES = {
    **SHOP,
    SOURCE: SHOP[SOURCE].replace(NET, "return price - price * percent // 100\n"),
    "tests/test_net.py": "from shop.price import net\n\n\ndef test_net() -> None:\n    assert net(100, 10) == 90\n",
    "README.md": "# Shop\n\nA smal shop.\n",
}
TYPO = edit("README.md", "smal shop", "small shop")


def framed(title: str, *files: str) -> dict[str, Any]:
    return {
        "intake_record": {"extracted_intent": {"action": "modify", "target": title, "scope": "file"}},
        "clarification": {"questions": []},
        "analysis": {"impacted_files": [{"path": path, "reason": "it is there"} for path in files]},
        "specification": {
            "title": title,
            "description": title,
            "requirements": [{"id": "REQ-001", "description": title, "acceptance_criteria": [title]}],
            "files_to_modify": [*files],
        },
    }


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(make_repository(tmp_path / "checkout", FILES), tmp_path / "script.yaml")


def start(person: Person, request: str, *entries: dict[str, Any], words: tuple[str, ...] = ()) -> Done:
    person.scripted(*entries)
    return person.run("start", request, "--model", f"scripted:{person.script}", "--json", *words)


def delivered(done: Done, kind: str, calls: int) -> dict[str, Any]:
    assert done.code == 0, done.said
    assert (done.data["status"], done.data["proved_as"]["kind"]) == ("completed", kind)
    assert done.data["cost"]["calls"] == calls
    return done.data


def patched(
    *actions: dict[str, Any], title: str = "a small shop", expects: tuple[str, ...] = (), **more: object
) -> Entry:
    papers = {**framed(title, "README.md"), **BUILT, **more}
    return say("patch", *actions, artifacts=papers, signal="success", expects=expects)


def test_a_typo_in_a_document_takes_one_patch_and_one_review_and_verifies_again(person: Person) -> None:
    owed = r"asks for no code \(“typo”\); so owed is the change of documents"
    person.scripted(patched(TYPO, expects=(owed,)), review(expects=("Proved as: no code, by the",)))
    done = person.run("start", "Fix the typo in README.md", "--model", f"scripted:{person.script}")
    assert done.code == 0, done.said
    assert "proved as no code, by the whole suite, which says what it said before" in done.out
    assert "(the request: “typo”)" in done.out
    assert "lane hotfix" in done.out
    assert "2 calls" in done.out
    assert "runs: change 1x" in done.out
    assert "not run: base's own tests on the change (no file that tests load differs)" in " ".join(
        done.out.split()
    )
    assert person.run("verify", person.only_task(), "--rerun").code == 0


@shown_by("tests/gates/test_gates_honest.py::test_an_honest_change_is_proved_as_what_it_is")
def test_a_rename_is_proved_by_the_tests_of_the_base_with_the_same_rename(person: Person) -> None:
    test = "tests/test_net.py"
    done = start(
        person,
        "Rename net to net_price",
        say("frame", artifacts=framed("net is net_price", SOURCE, test), signal="success"),
        say(
            "green",
            edit(SOURCE, "def net(", "def net_price("),
            edit(test, "import net\n", "import net_price\n"),
            edit(test, "assert net(", "assert net_price("),
            artifacts=BUILT,
            signal="success",
        ),
        review(),
        words=("--lane", "small"),
    )
    task = delivered(done, "same_behaviour", 3)
    assert task["proved_as"]["renames"] == {"net": "net_price"}
    assert "with the same rename (net → net_price)" in task["proved_as"]["proved_as"]
    if SOAK:  # the typo's is checked again always
        assert person.run("verify", task["task_id"], "--rerun").code == 0


@shown_by("tests/gates/test_gates_honest.py::test_an_honest_change_is_proved_as_what_it_is")
def test_tests_of_old_code_need_nobody_who_implements(person: Person) -> None:
    path = "tests/test_more.py"
    text = "from shop.price import label\n\n\ndef test_more() -> None:\n    assert label(12) == '12 EUR'\n"
    named = {"test_files": [{"path": path, "tests": [{"name": "test_more", "requirement_ref": "REQ-001"}]}]}
    done = start(
        person,
        "Add a test for label in shop/price.py",
        say("frame", artifacts=framed("label is tested", SOURCE), signal="success"),
        say("red", create(path, text), artifacts={"test_suite": named}, signal="success"),
        review(),
        words=("--lane", "small"),
    )
    delivered(done, "tests_only", 3)


MORE = "tests/test_more.py"
MORE_TEST = "from shop.price import label\n\n\ndef test_more() -> None:\n    assert label(12) == '12 EUR'\n"
NAMED = {"test_files": [{"path": MORE, "tests": [{"name": "test_more", "requirement_ref": "REQ-001"}]}]}
OFF = "return price - price * percent // 100"
OTHER_WAY = edit(SOURCE, OFF, "return price - (price * percent) // 100 + 0")
BY_INSPECTION = {"verification_method": "inspection"}


def written(stage: str, *actions: dict[str, Any], **papers: Any) -> Entry:  # noqa: ANN401  # documents
    return say(stage, *actions, artifacts=papers, signal="success")


def designed(title: str, *files: str, **requirement: str) -> list[Entry]:
    """What the full line says before any test is written."""
    papers = framed(title, *files)
    first = papers["specification"]["requirements"][0]
    papers["specification"]["requirements"] = [{**first, **requirement}]
    return [
        written("intake", intake_record={**papers["intake_record"], "initial_complexity": "simple"}),
        written("analyze", analysis=papers["analysis"]),
        written("spec", specification=papers["specification"]),
        approves("spec", SECURITY),
    ]


READ = [approves("refactor", SECURITY), approves("refactor", READER)]
FULL: dict[str, tuple[str, list[Entry], str]] = {
    "same_behaviour": (
        "Refactor net in shop/price.py",
        [*designed("net is simpler", SOURCE), written("green", OTHER_WAY, **BUILT), *READ],
        "base's own tests",
    ),
    "no_code": (
        "Fix the typo in README.md",
        [*designed("a small shop", "README.md"), written("green", TYPO, **BUILT), *READ],
        "by the whole suite",
    ),
    "tests_only": (
        "Add a test for label in shop/price.py",
        [
            *designed("label is tested", SOURCE),
            written("red", create(MORE, MORE_TEST), test_suite=NAMED),
            *READ,
        ],
        "tests only",
    ),
}


@pytest.mark.parametrize("kind", telling([*FULL], 1))
def test_each_weaker_kind_goes_the_full_line_where_the_request_asks_for_it(person: Person, kind: str) -> None:
    request, entries, proved = FULL[kind]
    task = delivered(start(person, request, *entries, words=("--lane", "full")), kind, len(entries))
    assert proved in task["proved_as"]["proved_as"]


def test_a_weaker_kind_in_the_full_line_is_a_question_where_the_request_wants_behaviour(
    person: Person,
) -> None:
    nothing: dict[str, Any] = {"test_files": []}
    done = start(
        person,
        "The shop must be small",
        *designed("a small shop", "README.md", **BY_INSPECTION),
        written("red", test_suite=nothing),
        say("red", signal="success", expects=("at least one must be there, and fail now",)),
        written("green", TYPO, **BUILT),
        *READ,
        words=("--lane", "full"),
    )
    assert done.code == 3, done.said
    asked = done.data["escalation"]
    assert "is that what you want?" in asked["question"]["text"]
    words = ("resolve", asked["id"], "--task", done.data["task_id"], "--answer", "yes", "--json")
    task = delivered(person.run(*words), "no_code", 9)
    assert task["proved_as"]["asked"]["allowed"] == "same_behaviour", "one answer is enough"


def test_what_changes_no_behaviour_is_asked_about_and_the_answer_is_on_record(person: Person) -> None:
    papers = framed("smaller", "README.md")
    again = say("patch", signal="success", expects=("at least one must be there, and fail now",))
    done = start(
        person,
        "The shop must be small",
        patched(TYPO, **papers, test_suite={"test_files": []}),
        again,
        review(),
        words=("--lane", "hotfix"),
    )
    assert done.code == 3, done.said
    question = done.data["escalation"]["question"]
    assert question["text"].startswith("This changes no code, and no behaviour; is that what you want?")
    done = person.run(
        "resolve", done.data["escalation"]["id"], "--task", done.data["task_id"], "--answer", "yes", "--json"
    )
    task = delivered(done, "no_code", 3)
    assert task["proved_as"]["asked"]["kind"] == "new_behaviour"
    assert task["proved_as"]["asked"]["why"].endswith("answered ESC-001: yes")


def test_a_new_dependency_is_there_for_the_change_that_uses_it(tmp_path: Path) -> None:
    wheel, test = "vendor/twice-1.0-py3-none-any.whl", "tests/test_twice.py"
    files: dict[str, str | bytes] = {
        "requirements.txt": "\n".join(json.loads(f"[{PINNED}]")) + "\n",
        "calc.py": "def double(number):\n    return number\n",
        "tests/test_calc.py": "from calc import double\n\n\ndef test_zero():\n    assert double(0) == 0\n",
        wheel: made_wheel(tmp_path / "twice.whl"),
    }
    person = Person(make_repository(tmp_path / "checkout", files), tmp_path / "script.yaml")
    suite = {"test_files": [{"path": test, "tests": [{"name": "test_two", "requirement_ref": "REQ-001"}]}]}
    done = start(
        person,
        "double must double, with the package twice",
        say(
            "patch",
            create(test, "from calc import double\n\n\ndef test_two():\n    assert double(2) == 4\n"),
            edit("calc.py", "    return number\n", "    import twice\n\n    return twice.twice(number)\n"),
            edit("requirements.txt", "pytest==", f"./{wheel}\npytest=="),
            artifacts={**framed("double doubles", "calc.py"), **BUILT, "test_suite": suite},
            signal="success",
        ),
        review(),
        words=("--lane", "hotfix"),
    )
    task = delivered(done, "new_behaviour", 2)
    if SOAK:
        assert person.run("verify", task["task_id"], "--rerun").code == 0


def made_wheel(place: Path) -> bytes:
    """A package of one function."""
    about = "twice-1.0.dist-info"
    parts = {
        "twice.py": "def twice(number):\n    return 2 * number\n",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: twice\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(place, "w") as wheel:
        for name, text in {**parts, f"{about}/RECORD": "".join(f"{name},,\n" for name in parts)}.items():
            wheel.writestr(name, text)
    return place.read_bytes()
