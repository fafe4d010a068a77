"""Every check that comes with AgentForge: its document is valid, its failing example fails, its passing one
passes; and what is not configured, not available or not readable never counts as passed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentforge.catalog.checks import CONTRACTS, check_document, own_checks
from agentforge.catalog.contracts import problems
from agentforge.catalog.load import Catalog
from agentforge.gates.conformance.declared import declared
from agentforge.gates.conformance.engine import CheckReport, CheckScope, examine
from agentforge.gates.conformance.findings import CodeFinding, fresh, named
from agentforge.gates.conformance.weighing import weighed
from agentforge.languages.conformance import read_file
from agentforge.languages.duplicates import duplicates
from agentforge.languages.measures import complexity
from agentforge.languages.readings import FileReading
from agentforge.languages.tests import looks_like_test
from tests.rows import every

NORTH = {
    "style_contracts": {
        *("naming-conventions", "documentation-required", "import-order", "line-length"),
        "no-print-statements",
    },
    "architecture_contracts": {
        *("layer-dependencies", "no-circular-imports", "interface-segregation", "bounded-contexts"),
        "imports-resolve",
    },
    "pattern_contracts": {
        *("repository-pattern", "dependency-injection", "error-handling", "command-query-separation")
    },
    "security_contracts": {"no-secrets-in-code", "input-validation", "sql-injection", "auth-required"},
    "quality_contracts": {
        *("max-complexity", "max-file-length", "max-function-length", "no-duplicate-code"),
    },
}
SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def text_of(value: Any) -> str:  # noqa: ANN401 - a document is any YAML
    """A file of an example: as it is, or a line many times. A key that nobody has is put in here."""
    if isinstance(value, str):
        return value.replace("ghp_{SECRET}", SECRET)
    before = f"{value['before']}\n" if "before" in value else ""
    return before + f"{value['line']}\n" * int(value["repeat"])


def run(files: Mapping[str, str], settings: Mapping[str, Any] | None = None, **more: Any) -> CheckReport:  # noqa: ANN401 - fields of a scope
    rules = declared({"conformance": settings or {}, "strict": more.pop("strict", False)})
    scope = CheckScope(
        frozenset(more.pop("paths", files)),
        is_test=looks_like_test,
        copies=lambda: duplicates({path: text for path, text in files.items() if not looks_like_test(path)}),
        **more,
    )
    return examine({path: read_file(text, path) for path, text in files.items()}, rules, scope)


def status(report: CheckReport, check: str) -> str:
    return next(each.status for each in report.results if each.check.name == check)


def test_the_five_categories_have_their_checks() -> None:
    found = {
        contract: {each.name for each in own_checks().values() if each.contract == contract}
        for contract in CONTRACTS
    }
    assert found == NORTH


@every("name", sorted(own_checks()))
def test_a_check_is_valid_and_told_apart_by_its_examples(name: str) -> None:
    document = check_document(name)
    assert problems(Catalog.packaged().contract("check_definition"), document, final=True) == []
    assert document["check"] == name
    ends = {}
    for kind in ("failing", "passing"):
        files = {path: text_of(text) for path, text in document["examples"][kind]["files"].items()}
        report = run(files, document.get("settings"))
        ends[kind] = status(report, name)
        mine = [each for each in report.findings if each.check == name]
        assert bool(mine) == (kind == "failing")
        assert all(each.fix_hint and each.line > 0 and each.path in files for each in mine)
    assert ends == {"failing": "failed", "passing": "passed"}


@every("name", sorted(name for name, check in own_checks().items() if check.needs))
def test_what_a_project_did_not_declare_is_not_configured_and_never_passed(name: str) -> None:
    files = {"shop/orders.py": "import sqlite3\n", "shop/web.py": "from shop.orders import sqlite3\n"}
    assert status(run(files), name) == "not_configured"


def test_what_nobody_reads_in_a_language_is_not_available_and_never_passed() -> None:
    report = run({"src/main.go": "package main\n"})
    assert status(report, "max-complexity") == "not_available"
    assert status(report, "no-secrets-in-code") == "passed"


def test_a_check_that_looked_at_no_file_has_not_passed() -> None:
    assert {each.status for each in run({}).results} <= {"not_run", "not_configured"}
    only_tests = run({"tests/test_a.py": "print(1)\n"})
    assert status(only_tests, "no-print-statements") == "not_run"


def test_a_file_that_does_not_parse_has_not_passed() -> None:
    report = run({"broken.py": "def f(:\n"})
    assert status(report, "error-handling") == "not_run"
    assert not any(each.status == "passed" for each in report.results if "any" not in each.check.checked_by)


def test_a_violation_keeps_its_name_when_lines_move_and_another_of_its_kind_gets_its_own() -> None:
    body = "def load(path):\n    '''It.'''\n    try:\n        return path.read()\n    except:\n        return None\n"
    (before,) = [each for each in run({"a.py": body}).findings if each.check == "error-handling"]
    moved = run({"a.py": f"import os\n\nHOME = os.sep\n\n\n{body}"})
    (after,) = [each for each in moved.findings if each.check == "error-handling"]
    assert (after.identity, after.line) == (before.identity, before.line + 5)
    assert before.identity.startswith("V-")
    assert len(before.identity) == 14
    twice = run(
        {
            "a.py": body.replace(
                "        return None\n",
                "        return None\n    try:\n        return 1\n    except:\n        return 2\n",
            )
        }
    )
    names = [each.identity for each in twice.findings if each.check == "error-handling"]
    assert names[0] == before.identity
    assert len({*names}) == 2
    elsewhere = run({"b.py": body})
    assert before.identity not in {each.identity for each in elsewhere.findings}


def test_a_secret_is_never_in_what_is_kept_of_a_file() -> None:
    reading = read_file(f'TOKEN = "{SECRET}"\n', "config.py")
    assert [place.check for place in reading.places] == ["no-secrets-in-code"]
    assert SECRET not in reading.to_json()
    assert FileReading.from_json(reading.to_json()) == reading
    assert FileReading.from_json(reading.to_json()[:-3]) is None


def test_ways_through_a_function_are_counted_as_elsewhere() -> None:
    text = (
        "def outer(x):\n    if x:\n        for y in x:\n            while y:\n                y = 0\n"
        "    def inner(z):\n        try:\n            return z\n        except ValueError:\n            return 0\n"
        "        else:\n            return 1\n    match x:\n        case 1:\n            return 2\n        case _:\n"
        "            return inner(x)\n\n\nclass A:\n    async def go(self):\n        return [i for i in self if i]\n"
    )
    ours = {each.name: each.ways for each in read_file(text, "a.py").functions}
    assert ours == complexity(text, "a.py")


NESTED = """
if TYPE_CHECKING:
    import typed
    def early(): eval(x)
else:
    import loaded
import after
class A:
    def go(self):
        if self.x:
            import inner
            if t.TYPE_CHECKING:
                import deep
            print(1)
        def below(): import os; print(2)
        return lambda: eval(self.y)
    print(3)
if __name__ == "__main__":
    print(4)
else:
    print(5)
if sys.version_info > (3,):
    import maybe
print(6); try_(__import__("pickle").loads(x))
"""


def test_what_a_file_says_is_known_by_what_it_stands_in() -> None:
    reading = read_file(NESTED, "a.py")
    assert {(each.module, each.when) for each in reading.imports} == {
        *(("typed", "types"), ("loaded", "load"), ("after", "load"), ("maybe", "maybe")),
        *(("inner", "later"), ("deep", "later"), ("os", "later")),
    }
    places = {
        (each.check, each.line): each.symbol
        for each in reading.places
        if each.check in ("no-print-statements", "input-validation")
    }
    assert places == {
        ("input-validation", 4): "early",
        ("no-print-statements", 14): "A.go",
        ("no-print-statements", 15): "A.go.below",
        ("input-validation", 16): "A.go.below",
        ("no-print-statements", 17): "A",
        ("no-print-statements", 21): "",
        ("no-print-statements", 24): "",
    }


def _found(check: str, path: str, mark: str, measure: int = 0) -> CodeFinding:
    contract = own_checks()[check].contract
    return CodeFinding(check, contract, "major", path, 1, "f", "m", "h", mark, "when_new", measure)


@every(
    ("before", "after", "new"),
    [
        ([], [("error-handling", "a.py", "x", 0)], 1),
        ([("error-handling", "a.py", "x", 0)], [("error-handling", "a.py", "x", 0)], 0),
        # The line was written anew, and there are no more of them.
        ([("error-handling", "a.py", "x", 0)], [("error-handling", "a.py", "y", 0)], 0),
        # It moved to another file.
        ([("error-handling", "a.py", "x", 0)], [("error-handling", "b.py", "x", 0)], 0),
        ([("error-handling", "a.py", "x", 0)], [("error-handling", "b.py", "y", 0)], 1),
        # What is about security is not excused by another one that went.
        ([("sql-injection", "a.py", "x", 0)], [("sql-injection", "a.py", "y", 0)], 1),
        # Numbers: the same or less is no worse, more is.
        ([("max-complexity", "a.py", "", 14)], [("max-complexity", "a.py", "", 14)], 0),
        ([("max-complexity", "a.py", "", 14)], [("max-complexity", "a.py", "", 15)], 1),
        ([("max-complexity", "a.py", "", 14)], [("max-complexity", "b.py", "", 13)], 0),
        ([("max-complexity", "a.py", "", 14)], [("max-complexity", "b.py", "q", 15)], 1),
    ],
)
def test_a_ratchet_lets_nothing_new_and_nothing_worse_through(
    before: list[tuple[str, str, str, int]], after: list[tuple[str, str, str, int]], new: int
) -> None:
    found = fresh(named(_found(*row) for row in before), named(_found(*row) for row in after))
    assert len(found) == new


def test_what_blocks_depends_on_what_is_declared_compared_and_exempt() -> None:
    files = {"a.py": "def f(x):\n    try:\n        return x\n    except:\n        return 0\n"}
    report = run(files)
    assert weighed(report).blocking == ()  # old code, undeclared
    assert {each.check for each in weighed(report).advice} == {"documentation-required", "error-handling"}
    compared = weighed(report, before=())
    assert [each.check for each in compared.blocking] == ["error-handling"]
    assert weighed(report, before=report.findings).blocking == ()
    assert weighed(report, before=report.findings).advice == ()
    name = compared.blocking[0].identity
    assert weighed(report, before=(), exempted=[name]).exempt[0].identity == name
    assert weighed(report, baseline=[name]).known[0].identity == name
    declared_too = run(files, {"checks": {"documentation-required": {}}})
    assert [each.check for each in weighed(declared_too).blocking] == ["documentation-required"]
    strict = run(files, strict=True)
    assert {each.check for each in weighed(strict, before=strict.findings, strict=True).blocking} == {
        "documentation-required",
        "error-handling",
    }


def test_only_the_wanted_files_are_judged_and_only_the_checks_of_the_moment() -> None:
    files = {"a.py": "def f():\n    print(1)\n", "b.py": "def g():\n    print(1)\n"}
    report = run(files, paths=["a.py"], enforcement="every_edit")
    assert {each.path for each in report.findings} == {"a.py"}
    assert {each.check.enforcement for each in report.results} == {"every_edit"}


def test_scripts_of_other_languages_have_layers_and_circles_too() -> None:
    files = {
        "src/domain/order.ts": "import { rows } from '../db/rows.js';\nimport type { X } from './late';\nexport const o = rows;\n",
        "src/domain/late.ts": "import { o } from './order';\n// import { no } from '../db/rows';\nexport type X = 1;\nconsole.log(o);\n",
        "src/db/rows.ts": "export { late } from '../domain/late';\nexport const rows = 1;\n",
    }
    layers = {"layers": [{"name": "db", "in": ["src/db"]}, {"name": "domain", "in": ["src/domain"]}]}
    report = run(files, layers)
    found = {(each.check, each.path, each.line) for each in report.findings}
    assert ("layer-dependencies", "src/domain/order.ts", 1) in found
    assert ("no-print-statements", "src/domain/late.ts", 4) in found
    (circle,) = [each for each in report.findings if each.check == "no-circular-imports"]
    assert circle.measure == 3


def test_layers_and_limits_come_from_the_projects_own_tools_where_settings_are_silent() -> None:
    own = {
        ".importlinter": (
            "[importlinter]\nroot_package = shop\n\n[importlinter:contract:a]\nname = a\ntype = layers\n"
            "containers = shop\nlayers =\n    web | jobs\n    (domain)\n"
        ),
        "pyproject.toml": "[tool.ruff]\nline-length = 79\n",
    }
    rules = declared({}, lambda name: own.get(name, "").encode() or None)
    assert rules.checks["line-length"].limit == 79
    files = {
        "src/shop/__init__.py": "",
        "src/shop/web/__init__.py": "from shop.jobs import nightly\n",
        "src/shop/jobs/__init__.py": "",
        "src/shop/jobs/nightly.py": "from shop import domain\n",
        "src/shop/domain.py": "from shop import web\n",
    }
    readings = {path: read_file(text, path) for path, text in files.items()}
    report = examine(readings, rules, CheckScope(frozenset(files)))
    found = {(each.path, each.message) for each in report.findings if each.check == "layer-dependencies"}
    assert found == {
        ("src/shop/web/__init__.py", "`src/shop/jobs/nightly.py` is in jobs, which keeps apart from web"),
        ("src/shop/domain.py", "`src/shop/web/__init__.py` is in the layer web, above domain"),
    }


def test_a_key_in_a_test_is_advice_until_it_is_new() -> None:
    report = run({"tests/test_a.py": f'TOKEN = "{SECRET}"\n'})
    assert weighed(report).blocking == ()
    assert [each.check for each in weighed(report, before=()).blocking] == ["no-secrets-in-code"]
    elsewhere = run({"app.py": f'TOKEN = "{SECRET}"\n'})
    assert [each.check for each in weighed(elsewhere).blocking] == ["no-secrets-in-code"]
    assert SECRET not in str(elsewhere.findings[0].to_json())


def test_a_project_can_turn_a_check_off_and_set_its_limit() -> None:
    files = {"a.py": "def f(x):\n    '''It.'''\n    return 1 if x else 2\n" + "ONE = 1\n" * 30}
    report = run(files, {"checks": {"max-file-length": {"limit": 20}, "no-print-statements": {"off": True}}})
    assert status(report, "max-file-length") == "failed"
    assert all(each.check.name != "no-print-statements" for each in report.results)
    rules = declared({"conformance": {"checks": {"max-file-length": {"severity": "critical"}}}})
    assert replace(rules.checks["max-file-length"]).severity == "critical"


def test_a_file_that_cannot_be_parsed_is_named_and_silences_no_check_for_the_others() -> None:
    files = {"good.py": '"""Words."""\n', "broken.py": "def (\n", "other.py": "def ((\n"}
    report = run(files)
    assert report.unread == ("broken.py", "other.py")
    ends = {each.check.name: each for each in report.results}
    passed = ends["max-complexity"]
    assert (passed.status, passed.files) == ("passed", 1)
    assert passed.reason == "not of broken.py and 1 more, which cannot be read"
    assert [
        each.status for each in run({"broken.py": "def (\n"}).results if each.check.name == "max-complexity"
    ] == ["not_run"]
