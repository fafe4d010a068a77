"""What in a list of tests decides how they end is a setting; which tests it lists is not."""

from agentforge.languages.generic.listed import settings_of_list, settings_of_makefile
from tests.rows import every

CMAKE = "add_executable(adds t.c)\nadd_test(NAME adds COMMAND adds)\n"
MAKE = "TESTS = a b\nRUN = sh\ntest: $(TESTS)\n\t$(RUN) all.sh\n"
MESON = "adds = executable('adds', 't.c')\ntest('adds', adds)\n"


@every(
    ("more", "decides"),
    [
        ("add_executable(b b.c)\nadd_test(NAME b COMMAND b)\n", False),
        ("add_test(NAME c COMMAND $<TARGET_FILE:adds> 3)\n", False),
        ("# add_test(NAME x COMMAND true)\n", False),
        ("add_test(NAME b COMMAND true)\n", False),
        ("add_test(b sh x)\n", False),
        ("add_test(NAME b COMMAND ${CMAKE_COMMAND} -E true)\n", False),
        ("set_tests_properties(adds PROPERTIES WILL_FAIL TRUE)\n", True),
        ("set(CMAKE_CROSSCOMPILING_EMULATOR true)\n", True),
        ("add_compile_definitions(NDEBUG)\n", True),
    ],
)
def test_a_list_of_cmake_may_grow_and_says_nothing_of_how_tests_end(more: str, decides: bool) -> None:
    assert (settings_of_list(CMAKE) != settings_of_list(CMAKE + more)) is decides


@every(
    ("old", "new", "decides"),
    [
        ("a b", "a b c", False),
        ("RUN = sh", "RUN = true", True),
        ("all.sh", "none.sh", True),
        ("TESTS =", "CFLAGS += -DNDEBUG\nTESTS =", True),
    ],
)
def test_a_list_of_make_may_grow_and_what_runs_it_may_not_change(old: str, new: str, decides: bool) -> None:
    assert (settings_of_makefile(MAKE) != settings_of_makefile(MAKE.replace(old, new, 1))) is decides


def test_a_list_of_meson_may_grow_and_keeps_its_assertions() -> None:
    more = "b = executable('b', 'b.c')\ntest('b', b)\n"
    assert settings_of_list(MESON) == settings_of_list(MESON + more)
    assert settings_of_list(MESON) != settings_of_list(MESON + "option = 'b_ndebug=true'\n")
