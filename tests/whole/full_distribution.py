"""A third project that nobody here wrote: no `pyproject.toml`, its tests in one file at the top. A role for each of the
stages that have work here.
"""

from typing import Any

from tests.whole.distributions import Distribution
from tests.whole.plays import Entry, create, edit, say

_SOURCE, _TEST = "inflection/__init__.py", "test_max_length.py"
_QUESTION = "What if not even the first word fits?"
_SUITE = """\
import inflection


def test_cut_at_a_whole_word() -> None:
    cut = inflection.parameterize("Donald E. Knuth", max_length=9)
    assert cut == "donald-e"


def test_a_word_that_is_too_long_is_cut() -> None:
    cut = inflection.parameterize("Donald E. Knuth", max_length=3)
    assert cut == "don"


def test_no_separator_to_cut_at() -> None:
    name = "Donald E. Knuth"
    cut = inflection.parameterize(name, separator="", max_length=8)
    assert cut == "donaldek"


def test_what_fits_stays() -> None:
    whole = inflection.parameterize("Donald E. Knuth", max_length=14)
    assert whole == "donald-e-knuth"
"""
_OLD_END = """\
        string = re.sub(r"(?i)^{sep}|{sep}$".format(sep=re_sep), '', string)

    return string.lower()
"""
_FIRST_END = """\
        string = re.sub(r"(?i)^{sep}|{sep}$".format(sep=re_sep), '', string)

    if max_length:
        while separator and len(string) > max_length and separator in string:
            string = string.rpartition(separator)[0]
        string = string[:max_length]
    return string.lower()
"""


def _requirement(number: int, text: str, criterion: str) -> dict[str, Any]:
    return {
        "id": f"REQ-00{number}",
        "description": text,
        "priority": "must",
        "acceptance_criteria": [criterion],
        "verification_method": "test",
    }


def _specification(*constraints: str) -> dict[str, Any]:
    return {
        "title": "parameterize takes a maximal length",
        "description": "max_length leaves out words from the end; 0, the default, means no limit.",
        "requirements": [
            _requirement(1, "Words that do not fit are left out", "`Donald E. Knuth` in 9 is `donald-e`"),
            _requirement(2, "A first word that does not fit is cut", "`Donald E. Knuth` in 3 is `don`"),
            _requirement(3, "Without a separator the text is cut", "`Donald E. Knuth` in 8 is `donaldek`"),
        ],
        "constraints": [
            {"id": f"CON-00{number}", "description": text} for number, text in enumerate(constraints, 1)
        ],
        "files_to_modify": [_SOURCE],
        "trace_to_request": "The first requirement is the request; the others are its edges.",
    }


def _seat(role: str, entry: Entry) -> Entry:
    return {**entry, "role": role}


def _approve(contract: str, summary: str) -> dict[str, Any]:
    return {contract: {"verdict": "approve", "summary": summary}}


INFLECTION = Distribution(
    name="inflection",
    version="0.5.1",
    sha256="1a29730d366e996aaacffb2f1f1cb9593dc38e2ddd30c91250c6dde09ea9b417",
    lane="full",
    request="Let parameterize take max_length and leave out the words that do not fit",
    replies=(
        say(
            "intake",
            artifacts={
                "intake_record": {
                    "extracted_intent": {
                        "action": "modify",
                        "target": "inflection.parameterize",
                        "scope": "file",
                    },
                    "initial_complexity": "simple",
                    "identified_ambiguities": [
                        {"area": "limits", "question": _QUESTION, "impact": "significant"}
                    ],
                    "out_of_scope": ["Other functions"],
                }
            },
            signal="success",
            expects=("leave out the words",),
        ),
        say(
            "clarify",
            artifacts={
                "clarification": {
                    "questions": [
                        {
                            "area": "limits",
                            "question": _QUESTION,
                            "source": "agent_inference",
                            "answer": "It is cut: the result is part of an address and must not be empty.",
                            "confidence": 90,
                            "evidence": [{"file": _SOURCE, "snippet": "so that it may be used as part of a"}],
                        }
                    ]
                }
            },
            signal="success",
            expects=("not even the first word",),
        ),
        say(
            "analyze",
            artifacts={
                "analysis": {
                    "impacted_files": [{"path": _SOURCE, "reason": "parameterize is there"}],
                    "constraints": ["Without max_length nothing changes."],
                    "risks": ["The separator may be empty."],
                }
            },
            signal="success",
            expects=("tests that reach it", r"test_inflection\.py"),
        ),
        say("spec", artifacts={"specification": _specification()}, signal="success", expects=("It is cut",)),
        _seat(
            "security_architect",
            say(
                "spec",
                artifacts={
                    "security_review": {
                        "verdict": "block",
                        "blocking_issues": [
                            {
                                "id": "SEC-001",
                                "severity": "low",
                                "category": "input",
                                "description": "What a limit of nothing means is not bound.",
                                "remediation": "Make it a constraint.",
                            }
                        ],
                        "summary": "One open end.",
                    }
                },
                signal="success",
                expects=("REQ-003",),
            ),
        ),
        say(
            "spec",
            artifacts={"specification": _specification("0 means no limit.")},
            signal="success",
            expects=("SEC-001",),
        ),
        _seat(
            "security_architect",
            say(
                "spec",
                artifacts=_approve("security_review", "Closed."),
                signal="success",
                expects=("CON-001",),
            ),
        ),
        say(
            "red",
            create(_TEST, _SUITE),
            artifacts={
                "test_suite": {
                    "test_files": [
                        {
                            "path": _TEST,
                            "tests": [
                                {"name": "test_cut_at_a_whole_word", "requirement_ref": "REQ-001"},
                                {"name": "test_a_word_that_is_too_long_is_cut", "requirement_ref": "REQ-002"},
                                {"name": "test_no_separator_to_cut_at", "requirement_ref": "REQ-003"},
                                {"name": "test_what_fits_stays", "requirement_ref": "REQ-001"},
                            ],
                        }
                    ]
                }
            },
            signal="success",
            expects=("CON-001", r"(\d+) of \1 tests pass on the base"),
        ),
        say(
            "green",
            edit(
                _SOURCE,
                "def parameterize(string: str, separator: str = '-') -> str:\n",
                "def parameterize(\n    string: str, separator: str = '-', max_length: int = 0\n) -> str:\n",
            ),
            edit(_SOURCE, _OLD_END, _FIRST_END),
            artifacts={
                "implementation": {
                    "summary": "Words are taken off the end while they do not fit; then the text is cut."
                }
            },
            signal="success",
            expects=("test_max_length",),
        ),
        _seat(
            "security_architect",
            say(
                "refactor",
                artifacts=_approve("security_review", "Plain text."),
                signal="success",
                expects=("The whole change",),
            ),
        ),
        _seat(
            "reviewer",
            say(
                "refactor",
                artifacts=_approve("review", "As specified."),
                signal="success",
                expects=(r"\+    if max_length", "no regression"),
            ),
        ),
    ),
    test=f"{_TEST}::test_cut_at_a_whole_word",
    needs=("pytest",),
    fails_on_base=0,
    tree="a5c1f8bd319f55ffd6403bf44ffda6abce998b50",
)
