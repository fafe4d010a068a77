"""Rules in words that a check can hold are recognised by fixed forms, and nothing else is."""

import pytest

from agentforge.catalog.project_checks import read_project_checks
from agentforge.gates.conformance.declared import declared
from agentforge.gates.conformance.project_rules import check_examples
from agentforge.languages.stated_rules import stated_rules
from tests.rows import every


def names(line: str) -> list[str]:
    return [rule.name for rule in stated_rules({"AGENTS.md": f"# Rules\n\n- {line}\n"})]


@pytest.mark.slow
@every(
    ("line", "name"),
    [
        ("No print statements.", "stated-no-print"),
        ("Don't use `print()` outside of scripts", "stated-no-print"),
        ("Never use print; log instead", "stated-no-print"),
        ("Avoid console.log in the client", "stated-no-console-log"),
        ("Max line length 100", "stated-line-length"),
        ("Maximum line length: 88", "stated-line-length"),
        ("Lines are at most 110 characters", "stated-line-length"),
        ("Functions must be no longer than 40 lines", "stated-function-length"),
        ("Files have at most 300 lines", "stated-file-length"),
        ("Cyclomatic complexity at most 10", "stated-complexity"),
        ("No wildcard imports", "stated-no-star-imports"),
        ("Never use bare except", "stated-no-bare-except"),
        ("`core` must not import `web`", "stated-core-not-web"),
        ("shop.domain may not import from shop.web", "stated-shop-domain-not-shop-web"),
        ("Never import `requests` in `shop/domain`", "stated-shop-domain-not-requests"),
    ],
)
def test_a_rule_that_a_check_can_hold_becomes_one_that_loads(line: str, name: str) -> None:
    assert names(line) == [name], line
    (rule,) = stated_rules({"AGENTS.md": f"# Rules\n\n- {line}\n"})
    assert rule.place == "AGENTS.md:3"
    checks = read_project_checks({rule.path: rule.text})
    check_examples(declared({}, own=checks))
    assert [*checks] == [name]


@every(
    "line",
    [
        "Functions about 40 lines",
        "Prefer lines of at most 80 characters",
        "Print the report at the end",
        "No fine print in the footer",
        "You must not import it by hand",
        "The fingerprint is stored",
        "Tests should not import fixtures of others where possible",
        "Version 100 has no line length",
        "Write plain English",
    ],
)
def test_what_is_only_meant_stays_a_convention(line: str) -> None:
    assert names(line) == [], line


def test_code_states_nothing_and_what_is_said_twice_counts_once() -> None:
    text = "```\nno print\n```\n\nNo print.\n\nNever use print.\n"
    (rule,) = stated_rules({"AGENTS.md": text, "CLAUDE.md": "No print.\n"})
    assert rule.place == "AGENTS.md:5"
