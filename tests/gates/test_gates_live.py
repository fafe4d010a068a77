"""The red gate refuses a new test that fails now and could never fail for a wrong result."""

from pathlib import Path

import pytest

from agentforge.core.reply import Json
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
