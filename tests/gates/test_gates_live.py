"""The red gate refuses a new test that fails now and could never fail for a wrong result."""

from pathlib import Path

import pytest

from agentforge.core.reply import Json
from agentforge.gates.flags import flags_of
from agentforge.gates.red import RedCase, prove_red
from agentforge.gates.verdict import Verdict
from tests.gates.bench_of_judges import make_site

pytestmark = pytest.mark.slow


def test_a_test_without_a_live_assertion_is_refused_and_its_honest_neighbour_is_red(tmp_path: Path) -> None:
    site = make_site(tmp_path, {"shop.py": ""})
    file = "tests/test_shop.py"

    def verdict(body: str) -> Verdict:
        tree = site.tree(
            {file: f"import shop\n\ndef check(value):\n    assert value\n\ndef test_it():\n    {body}\n"}
        )
        suite: dict[str, Json] = {
            "test_files": [{"path": file, "tests": [{"name": "test_it", "requirement_ref": "REQ-001"}]}]
        }
        return prove_red(site.runner, RedCase(site.base, tree, suite, {}, same_author=False))

    lie = verdict("shop.add(1, 2)")
    assert lie.status == "failed"
    assert lie.reasons[0] == (
        f"{file}::test_it cannot fail for a wrong result: it asserts nothing; let it assert what the change "
        "must do"
    )
    honest = verdict("check(shop.add(1, 2) == 3)")
    assert (honest.status, honest.record["flags"]) == ("passed", [])


def test_what_an_old_test_of_the_file_does_is_not_said_of_a_new_one(tmp_path: Path) -> None:
    file = "tests/test_shop.py"
    meddling = "    shop.LIMIT = 3\n    assert shop.LIMIT == 3\n"
    old = f"import shop\n\n\ndef test_old():\n{meddling}"
    site = make_site(tmp_path, {"shop.py": "LIMIT = 1\n", file: old})

    def told(body: str) -> list[str]:
        tree = site.tree({file: f"{old}\n\ndef test_it():\n{body}    assert shop.add(1, 2) == 3\n"})
        suite: dict[str, Json] = {
            "test_files": [{"path": file, "tests": [{"name": "test_it", "requirement_ref": "REQ-001"}]}]
        }
        known = frozenset({f"{file}::test_old"})
        verdict = prove_red(site.runner, RedCase(site.base, tree, suite, {}, same_author=False, old=known))
        assert verdict.status == "passed", verdict.reasons
        return [flag.text for flag in flags_of([verdict.record])]

    assert told("") == []
    assert told("    shop.LIMIT = 3\n") == ["puts something of its own in the place of `shop.LIMIT`"]
