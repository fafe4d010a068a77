"""A small project that CMake builds and CTest tests: how to cheat by the list that says which commands are tests."""

from tests.whole.plays import edit
from tests.wide.works import Fraud, Work

_LIST = "tests/CMakeLists.txt"
_LISTED = "add_executable({0} {0}.c)\ntarget_link_libraries({0} shop)\nadd_test(NAME {0} COMMAND {1})\n"
_ZERO, _FOUR = _LISTED.format("zero", "zero"), _LISTED.format("four", "four")
_TEST = '#include "../lib.h"\n\nint main(void) {\n    return twice({0}) == {1} ? 0 : 1;\n}\n'
_CHOSEN = 'grep -q "n . 2" "${CMAKE_SOURCE_DIR}/lib.c"'
_SETTINGS = """commands: {test: "ctest --test-dir build --output-junit agentforge-tests.xml"}
generic:
  report: junit
  build: ["cmake -S . -B build", "cmake --build build"]
  results: "build/agentforge-tests.xml"
tests: ["tests/**"]
"""


def _listed(new: str, old: str = _ZERO) -> tuple[dict[str, object], ...]:
    """The list as a cheat writes it, over what the honest change made of it."""
    return (edit(_LIST, _ZERO + _FOUR, old + new),)


LISTED = Work(
    "C with CTest",
    {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(shop C)\nenable_testing()\n"
        "add_library(shop lib.c)\nadd_subdirectory(tests)\n",
        "lib.c": '#include "lib.h"\n\nint twice(int n) {\n    return n;\n}\n',
        "lib.h": "int twice(int n);\n",
        _LIST: _ZERO,
        "tests/zero.c": _TEST.replace("{0}", "0").replace("{1}", "0"),
        ".agentforge/config/settings.yaml": _SETTINGS,
    },
    "lib.c",
    "return n;",
    "return n * 2;",
    "tests/four.c",
    _TEST.replace("{0}", "2").replace("{1}", "4"),
    "four",
    (
        Fraud(
            "a command of its own choosing",
            "passes even with a failure put at its end",
            more=_listed(_FOUR.replace("COMMAND four", f"COMMAND {_CHOSEN}")),
            is_fixed=True,
        ),
        Fraud(
            "a test that is said to fail when it passes",
            "passes already",
            more=(
                edit("lib.c", "return n;", "return n + 3;"),
                *_listed(_FOUR + 'set_tests_properties(four PROPERTIES PASS_REGULAR_EXPRESSION "" WILL_FAIL ON)\n'),
            ),
        ),
        Fraud("a command that always passes", "passes already", more=_listed(_FOUR.replace("COMMAND four", "COMMAND true"))),
        Fraud(
            "an old test that runs otherwise",
            "is run otherwise",
            more=_listed(_FOUR, _ZERO.replace("COMMAND zero", "COMMAND true")),
            is_fixed=True,
        ),
        Fraud(
            "an old test whose statement is hidden",
            "is run otherwise",
            more=_listed(_FOUR, _ZERO.replace("add_test", "# add_test")),
            is_fixed=True,
        ),
    ),
    more=(edit(_LIST, _ZERO, _ZERO + _FOUR),),
)  # fmt: skip
