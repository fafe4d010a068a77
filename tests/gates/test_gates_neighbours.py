"""Values near those of a test: code that knows its tests is told apart from code that has a case of its own."""

import ast
from collections.abc import Callable

from agentforge.gates.flags import Flag
from agentforge.gates.new_tests.neighbours import differs_from_base, tuned_to_tests
from agentforge.languages.outcomes import CalledElsewhere, NearCall, SeenCall
from agentforge.languages.python.neighbours import neighbours
from tests.rows import every

Function = Callable[..., object]


def called(function: Function, before: Function | None, *given: object) -> CalledElsewhere:
    """A call, and those near it, of a function as it is and as it was."""

    def told(of: Function | None, values: str) -> str:
        if of is None:
            return "is not there"
        by_place, by_name = ast.literal_eval(values)
        try:
            return f"gives {of(*by_place, **by_name)!r} after {values}"
        except Exception as error:  # noqa: BLE001 - that it raises is the outcome
            return f"raises {type(error).__name__}"

    values = repr([list(given), {}])
    now = told(function, values)
    near = tuple(
        NearCall(each, told(function, each.given), told(before, each.given)) for each in neighbours(values)
    )
    call = SeenCall("shop/price.py", "it", values, now)
    return CalledElsewhere(call, (now, now), told(before, values), near)


def flags(function: Function, before: Function | None, *given: object, request: str = "") -> list[Flag]:
    return list(tuned_to_tests([called(function, before, *given)], request))


def unchanged(price: int, _percent: int = 0) -> int:
    return price


@every(
    ("name", "found", "said"),
    [
        ("a range", flags(lambda n: n * 2 if 9 < n < 11 else n, unchanged, 10), "for [10] alone"),
        ("one of two", flags(lambda n, p: n - p if p == 10 else n, unchanged, 100, 10), "[100, 10] alone"),
        ("up to it", flags(lambda n: n * 2 if n < 41 else n, unchanged, 40), "from [41] on"),
        ("from it on", flags(lambda n: n * 2 if n > 39 else n, unchanged, 40), "from [39] on"),
        ("all alike", flags(lambda n: 90 + n * 0, unchanged, 100), "gives 90 for [100] and for each of"),
        ("a new table", flags({17: 5}.get, None, 17), "gives 5 for [17], and gives None for each of"),
        (
            "the same back",
            flags(lambda t: "b" if t == "some text" else t, None, "some text"),
            "and gives back what it is given for each of",
        ),
        ("a text", flags(lambda t: "b" if t == "some text" else t, lambda t: t, "some text"), "alone"),
    ],
)
def test_code_that_knows_the_values_of_its_tests_is_named(name: str, found: list[Flag], said: str) -> None:
    assert len(found) == 1, name
    assert said in found[0].text


@every(
    ("name", "found"),
    [
        ("every value", flags(lambda n, p: n - n * p // 100, unchanged, 100, 10)),
        ("an edge", flags(lambda n: n or 5, lambda n: n, 0)),
        ("a line that moves by one", flags(lambda n: n >= 18, lambda n: n > 18, 18)),
        ("centuries", flags(lambda y: y % 4 == 0 and y % 100 > 0, lambda y: y % 4 == 0, 1900)),
        ("a word that is named", flags({"yes": 9}.get, {}.get, "yes", request="It must know yes")),
        ("a limit that is named", flags(lambda n: min(n, 40) * 2, unchanged, 40, request="up to 40")),
        ("equal values", flags(lambda a, b: "one" if a == b else "two", lambda a, b: "two", 50, 50)),
        ("one of a list", flags(lambda xs: sorted(set(xs)), sorted, [30, 10, 30])),
        ("a new predicate", flags(lambda n: int(n**0.5) ** 2 == n, None, 16)),
        ("a new function that strips", flags(lambda t: t.strip(), None, " some text ")),
        ("a new function that gives it back", flags(lambda t: t, None, "some text")),
        ("new errors", flags(lambda t: int(t.removesuffix("%")), int, "15%")),
    ],
)
def test_honest_code_is_not_named(name: str, found: list[Flag]) -> None:
    assert found == [], name


@every(
    ("now", "before", "said"),
    [
        (
            lambda n: 12 if n > 10 else 5,
            lambda n: 12 if n > 20 else 5,
            ["with [15] it gives 12, and gave 5 before"],
        ),
        (lambda n: 0 // (n - 31), lambda n: 0, ["with [31] it raises ZeroDivisionError, and gave 0 before"]),
        (lambda n: n * 0.1, lambda n: n / 10, []),
        (int, lambda n: +n, []),
        (lambda n: {n, n + 8}, lambda n: {n + 8, n}, []),
        (lambda n: [][n], lambda n: {}[n], []),
        (lambda n: n, None, []),
    ],
)
def test_what_should_behave_as_before_and_does_not_near_an_old_test_is_named(
    now: Function, before: Function | None, said: list[str]
) -> None:
    assert [flag.text for flag in differs_from_base([called(now, before, 30)])] == said


def test_a_number_that_the_request_names_may_have_a_case_of_its_own() -> None:
    def teapot(code: int) -> str:
        return {418: "teapot"}.get(code, "?")

    def unknown(_code: int) -> str:
        return "?"

    assert [flag.ruling for flag in flags(teapot, unknown, 418, request="Know 418")] == [False]
    assert [flag.ruling for flag in flags(teapot, unknown, 418)] == [True]


def test_values_near_are_few_and_differ_in_one_place() -> None:
    found = neighbours("[[100, 'ab'], {'by': 100}]")
    assert 10 < len(found) <= 24
    assert "[[101, 'ab'], {'by': 101}]" in [each.given for each in found], "equal values go together"
    assert {each.kind for each in found} == {"number", "text"}
    assert neighbours("not a value (") == neighbours("[[], {}]") == []
