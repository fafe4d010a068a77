"""A language that only its project knows: what the settings declare is run, and its report is read."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentforge.core.errors import UsageError
from agentforge.languages.generic.judging import ENDED_EARLY, NAMED, DeclaredTests
from agentforge.languages.generic.language import GENERIC
from agentforge.languages.outcomes import TestRun
from agentforge.languages.repository import find_projects
from agentforge.languages.values import Environment
from agentforge.sandbox.walls.none import NoSandbox
from tests.depth import SOAK, telling

TAP = {"commands": {"test": "sh all.sh"}, "generic": {"report": "tap"}, "tests": ["tests/*.sh"]}
ADDS = 'echo "ok 1 - adds"\n'
FILES = {
    "all.sh": 'n=0\nfor test in tests/*.sh; do sh "$test"; n=$((n + 1)); done\necho "1..$n"\n',
    "tests/adds.sh": ADDS,
}


def declared(settings: Mapping[str, Any], files: Mapping[str, str]) -> tuple[str, ...]:
    (project,) = find_projects(
        lambda path: files[path].encode() if path in files else None, [*files], settings
    )
    assert project.language is GENERIC
    return project.plan.test_command


def run(
    place: Path, settings: Mapping[str, Any], files: Mapping[str, str], *ids: str, timeout_s: float = 60
) -> TestRun:
    tree, env = place / "tree", place / "env"
    env.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    return GENERIC.runs.run_tests(
        NoSandbox(),
        Environment(env, env, env, (), (), "key", "", Path("/usr")),
        tree,
        ids=ids,
        base_command=declared(settings, files),
        scratch=place / "scratch",
        timeout_s=timeout_s,
    )


def outcomes(found: TestRun) -> dict[str, str]:
    return {identity: result.outcome for identity, result in found.results.items()}


def test_tap_is_run_and_a_test_is_known_by_the_file_that_names_it(tmp_path: Path) -> None:
    found = run(tmp_path, TAP, {**FILES, "tests/breaks.sh": 'echo "not ok 2 - breaks"\n# 1 is not 2\n'})
    assert found.status == "ran"
    assert outcomes(found) == {"tests/adds.sh::adds": "passed", "tests/breaks.sh::breaks": "failed"}


def test_a_list_of_what_is_built_is_the_place_of_no_test(tmp_path: Path) -> None:
    listed = {
        "tests/CMakeLists.txt": 'foreach(name "adds" breaks elsewhere)\n',
        "tests/breaks.sh": "echo 1..0\n",
    }
    files = {
        **FILES,
        **listed,
        "all.sh": "echo '1..3'; for it in adds breaks elsewhere; do echo ok - $it; done\n",
    }
    assert outcomes(run(tmp_path, TAP, files)) == dict.fromkeys(
        ("tests/adds.sh::adds", "tests/breaks.sh::breaks", "tests::elsewhere"), "passed"
    )


def test_the_checkout_itself_is_left_as_it_was(tmp_path: Path) -> None:
    run(tmp_path, TAP, {**FILES, "tests/writes.sh": 'echo litter > litter; echo "ok 2 - writes"\n'})
    assert not (tmp_path / "tree/litter").exists()


@pytest.mark.parametrize(
    ("all_tests", "why"),
    [
        ("echo 1..2; echo ok 1 - adds", "planned 2"),
        ("echo 1..1; echo ok 1 - adds; echo ok 1 - adds", "planned 1"),
        ("echo hello", "no plan"),
        ("exit 0", "no plan"),
    ],
)
def test_a_report_that_does_not_keep_its_plan_proves_nothing(
    tmp_path: Path, all_tests: str, why: str
) -> None:
    found = run(tmp_path, TAP, {**FILES, "all.sh": all_tests})
    assert "passed" not in outcomes(found).values()
    assert why in (found.reason or next(iter(found.results.values())).message)


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    found = run(tmp_path, TAP, {**FILES, "all.sh": "sleep 60\n"}, timeout_s=2)
    assert found.status == "not_run"


def test_junits_xml_counts_and_what_lay_there_before_does_not(tmp_path: Path) -> None:
    settings = {**TAP, "generic": {"report": "junit", "results": "out/*.xml"}}
    report = '<testsuite><testcase name="adds"/><testcase name="breaks"><failure message="no"/></testcase></testsuite>'
    files = {
        **FILES,
        "all.sh": f"mkdir -p out\necho '{report}' > out/new.xml\n",
        "tests/breaks.sh": "breaks\n",
    }
    files["tests/adds.sh"] = "adds\n"
    assert outcomes(run(tmp_path, settings, files)) == {
        "tests/adds.sh::adds": "passed",
        "tests/breaks.sh::breaks": "failed",
    }
    stale = {**files, "all.sh": "exit 0\n", "out/old.xml": report}
    found = run(tmp_path / "stale", settings, stale)
    assert (found.status, outcomes(found)) == ("not_run", {})


def test_one_exit_code_is_one_outcome_where_the_settings_say_so(tmp_path: Path) -> None:
    settings = {
        "generic": {"report": "exit", "each": "sh {file}", "named": {"smoke": "false"}},
        "tests": ["tests/*.sh"],
    }
    files = {"tests/a.sh": "exit 0\n", "tests/b.sh": "echo bad; exit 3\n", "tests/c.sh": "exit 77\n"}
    found = run(tmp_path, settings, files)
    assert outcomes(found) == {
        "tests/a.sh::a": "passed",
        "tests/b.sh::b": "failed",
        "tests/c.sh::c": "skipped",
        "commands::smoke": "failed",
    }
    assert found.results["tests/b.sh::b"].message == "exit code 3: bad"
    assert outcomes(run(tmp_path / "one", settings, files, "tests/b.sh::b")) == {"tests/b.sh::b": "failed"}
    gaps = find_projects(lambda _: None, [*files], settings)[0].plan.not_run
    assert ("outcomes", "one exit code for each named command, as `generic` declares") in gaps


def test_a_file_that_does_not_compile_is_set_aside_and_the_others_are_judged(tmp_path: Path) -> None:
    broken = "echo \"tests/new.sh:3: undefined reference to 'slug'\" >&2; exit 1\n"
    files = {
        **FILES,
        "all.sh": f"[ -e tests/new.sh ] && {{ {broken.strip()}; }}\n" + FILES["all.sh"],
        "tests/new.sh": "slug\n",
    }
    found = run(tmp_path, TAP, files)
    assert outcomes(found) == {"tests/adds.sh::adds": "passed"}
    told = GENERIC.tests.missing_import(found.collect_errors["tests/new.sh"], ["lib.c"])
    assert told is not None
    assert told.startswith("compile-red, which is weaker than a failing test")


def test_a_list_may_name_a_file_that_does_not_compile(tmp_path: Path) -> None:
    settings = {**TAP, "generic": {"report": "tap", "build": ["sh build.sh"]}, "tests": ["tests/*"]}
    files = {
        "tests/list.txt": "adds new",
        "tests/adds.c": "adds",
        "tests/new.c": "slug",
        "build.sh": 'for name in $(cat tests/list.txt); do [ -e "tests/$name.c" ] || exit 1\n'
        'if grep -q slug "tests/$name.c"; then echo "tests/$name.c:3: undefined reference to slug"; exit 1; fi\ndone\n',
        "all.sh": "printf '1..2\\nok 1 - adds\\nok 2 - new\\n'\n",
    }
    found = run(tmp_path, settings, files)
    assert outcomes(found) == {"tests/adds.c::adds": "passed"}, "what a stand-in did is no outcome"
    assert "undefined reference" in found.collect_errors["tests/new.c"]
    broken = {**files, "build.sh": f"{files['build.sh']}exit 1\n"}
    found = run(tmp_path / "broken", settings, broken)
    assert "passed" not in outcomes(found).values()


def test_a_test_whose_file_is_no_program_must_not_pass(tmp_path: Path) -> None:
    text, ids = GENERIC.tests.made_to_fail(ADDS, ["tests/adds.sh::adds"])
    honest = run(tmp_path, TAP, {**FILES, "tests/adds.sh": text}, *ids)
    assert outcomes(honest) == {"tests/adds.sh::adds": "missing"}
    forged = {**FILES, "tests/adds.sh": text, "all.sh": 'echo "1..1"; echo "ok 1 - adds"\n'}
    found = run(tmp_path / "forged", TAP, {**forged, "tests/notes.sh": "# adds\n"}, *ids)
    assert outcomes(found) == {"tests/adds.sh::adds": "passed"}, "which is held against it"


CTEST = {
    "commands": {"test": "ctest --test-dir build --output-junit out.xml"},
    "generic": {
        "report": "junit",
        "build": ["cmake -S . -B build", "cmake --build build"],
        "results": "build/out.xml",
    },
    "tests": ["tests/**"],
}
LISTED = "add_executable({0} {0}.c)\nadd_test(NAME {0} COMMAND {1})\n"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ctest") is None, reason="there is no CTest")
def test_a_command_of_its_own_choosing_in_a_list_passes_whatever_the_file_of_the_test_does(
    tmp_path: Path,
) -> None:
    adds, chosen = "tests/adds.c::adds", "tests/chosen.c::chosen"
    before = "int main(void) { return 0; }\n"
    text, asked = GENERIC.tests.made_to_fail(before, [chosen])
    assert asked == {chosen}
    files = {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(shop C)\nenable_testing()\n"
        'set(CMAKE_C_FLAGS "-Wall -Wextra -Wpedantic -Werror -std=c99")\nadd_subdirectory(tests)\n',
        "tests/CMakeLists.txt": LISTED.format("adds", "adds") + LISTED.format("chosen", "true"),
        "tests/adds.c": GENERIC.tests.made_to_fail(before, [adds])[0],
        "tests/chosen.c": text,
    }
    assert outcomes(run(tmp_path, CTEST, files)) == {adds: "failed", chosen: "passed"}


def test_what_a_list_says_of_old_tests_stays_and_more_may_stand_beside_it() -> None:
    before = "enable_testing()\n" + LISTED.format("old", "old") + "add_library(shop shop.c)\n"
    more = before.replace("shop.c", "shop.c more.c") + LISTED.format("new", "new")
    spaced = more.replace("NAME old COMMAND old", "\n  NAME old # as ever\n  COMMAND old")
    path = "tests/CMakeLists.txt"
    assert [GENERIC.tests.weakened(before, each, path) for each in (more, spaced)] == [[], []]
    for edited in ("COMMAND true", "COMMAND old --skip-hard", "COMMAND echo ok"):
        (said,) = GENERIC.tests.weakened(before, more.replace("COMMAND old", edited), path)
        assert said.startswith(f"{path}::old is run otherwise: `add_test(NAME old COMMAND old)`")
    hidden = before.replace("add_test(NAME old", "# add_test(NAME old")
    assert GENERIC.tests.weakened(before, hidden, path)
    meson = "test('old', exe)\nshop.test('x')\n"
    (said,) = GENERIC.tests.weakened(meson, "", "meson.build")
    assert said.startswith("meson.build::old is run otherwise: `test('old', exe)` is in meson.build no more")


@pytest.mark.parametrize(
    "settings",
    [
        {"generic": {"report": "tap"}},
        {"generic": {"report": "junit"}, "commands": {"test": "make"}},
        {"generic": {"report": "exit"}},
    ],
)
def test_what_is_not_declared_whole_is_one_sentence(settings: Mapping[str, Any]) -> None:
    with pytest.raises(UsageError, match="needs"):
        declared(settings, {"a.c": ""})


def test_a_program_that_is_not_there_is_named_before_anything_is_spent() -> None:
    settings = {
        "generic": {"report": "tap", "build": ["no-such-builder all"]},
        "commands": {"test": "sh all.sh"},
    }
    (project,) = find_projects(lambda _: None, ["a.c"], settings)
    assert "there is no program `no-such-builder`" in project.language.projects.missing(project.plan)


def test_what_is_declared_is_on_record_as_one_command() -> None:
    said = DeclaredTests("tap", "make -s check", ("make all",), "", "", (("a", "b c"),), ("tests/**",))
    assert DeclaredTests.of(said.words()) == said
    assert DeclaredTests.of(("make", "check")) is None


C_TEST = '#include "../lib.h"\n\nint main(void) {\n    return twice(2) == 4 ? 0 : 1;\n}\n'
C_FILES = {
    "Makefile": "run-%: tests/%.c lib.c\n\t@$(CC) -o $@.out $< lib.c && ./$@.out\n",
    "lib.h": "int twice(int n);\n",
    "lib.c": '#include "lib.h"\n\nint twice(int n) {\n    return n * 2;\n}\n',
    "tests/four.c": C_TEST,
}
HEADER_FILES = {
    **C_FILES,
    "lib.c": "",
    "lib.h": "static int twice(int n) {\n    return n * 2;\n}\n",
}
SHELL_FILES = {
    "lib.sh": "twice() { echo $(($1 * 2)); }\n",
    "tests/four.sh": '. ./lib.sh\n[ "$(twice 2)" = 4 ] || exit 1\n',
}
PERL_FILES = {
    "lib/Shop.pm": "package Shop;\nsub twice { return 2 * $_[0] }\n1;\n",
    "t/four.t": "use Test::More;\nuse Shop;\nis(Shop::twice(2), 4);\ndone_testing;\n__END__\nnotes\n",
}
NODE_FILES = {
    "lib.mjs": "export const twice = (n) => n * 2;\n",
    "tests/four.mjs": "import { twice } from '../lib.mjs';\nif (twice(2) !== 4) throw new Error('no');\n",
}


ENDS = ("by itself", "by its own exit")
LANGUAGES: dict[str, tuple[str, dict[str, str], tuple[str, str, str]]] = {
    "C": (
        "make -s run-{name}",
        C_FILES,
        ("lib.c", "return n * 2;", "void exit(int); exit(0); return n;"),
    ),
    "shell": ("sh {file}", SHELL_FILES, ("lib.sh", "twice() {", "exit 0\ntwice() {")),
    "C in a header": (
        "make -s run-{name}",
        HEADER_FILES,
        ("lib.h", "return n * 2;", "void exit(int); exit(0); return n;"),
    ),
    **(
        {
            "JavaScript": (
                "node {file}",
                NODE_FILES,
                ("lib.mjs", "(n) => n * 2", "(n) => process.exit(0) || n * 2"),
            )
        }
        if shutil.which("node")
        else {}
    ),
    "Perl": ("perl -Ilib {file}", PERL_FILES, ("lib/Shop.pm", "return 2", "exit 0; return 2")),
}


def each_way() -> list[tuple[str, str]]:
    """Every language with every end; each with one of them where not all is run."""
    if SOAK:
        return [(language, ends) for language in LANGUAGES for ends in ENDS]
    return [(language, ENDS[number % 2]) for number, language in enumerate(LANGUAGES)]


@pytest.mark.slow
@pytest.mark.parametrize(("language", "ends"), telling(each_way(), 3))
def test_code_that_exits_with_0_does_not_pass_where_exit_codes_are_outcomes(
    tmp_path: Path, language: str, ends: str
) -> None:
    each, files, (path, old, new) = LANGUAGES[language]
    (test,) = (name for name in files if "four" in name)
    settings = {"generic": {"report": "exit", "each": each}, "tests": [test.replace("four", "*")]}
    if ends == "by its own exit":
        text = files[test]
        text = text.replace("return twice", "exit(twice").replace("0 : 1;", "0 : 1);")
        text = text.replace('#include "', '#include <stdlib.h>\n#include "')
        text = text.replace("Error('no');\n", "Error('no');\nprocess.exit();\n")
        text = text.replace("|| exit 1", "|| exit 1\nexit 0").replace("done_testing;", "done_testing;\nexit;")
        files = {**files, test: text}
    other = test.replace("four", "other")
    files |= {other: "int main(void) { return 0; }\n" if other.endswith(".c") else ""}
    identity, beside = f"{test}::four", {f"{other}::other": "passed"}
    assert outcomes(run(tmp_path / "honest", settings, files)) == {identity: "passed", **beside}
    cheat = {**files, path: files[path].replace(old, new)}
    early = run(tmp_path / "early", settings, cheat)
    assert outcomes(early) == {identity: "failed", **beside}
    assert "ends with 0 even with a failure at its end" in early.results[identity].message
    alone = run(tmp_path / "alone", settings, cheat, identity)
    assert alone.unvouched == (f"{NAMED}: {ENDED_EARLY}",), "which gates compare with the base"
    wrong = {**files, path: files[path].replace("2", "3")}
    assert outcomes(run(tmp_path / "wrong", settings, wrong)) == {identity: "failed", **beside}


def test_a_named_command_that_passes_whatever_its_tests_do_is_not_vouched_for(tmp_path: Path) -> None:
    settings = {"generic": {"report": "exit", "named": {"all": "sh all.sh"}}, "tests": ["tests/*.sh"]}
    files = {**SHELL_FILES, "all.sh": "for each in tests/*.sh; do sh $each || exit 1; done\n"}
    assert run(tmp_path / "honest", settings, files).unvouched == ()
    forged = run(tmp_path / "forged", settings, {**files, "all.sh": "exit 0\n"})
    assert forged.unvouched == (f"{NAMED}: {ENDED_EARLY}",)
    assert run(tmp_path / "unread", settings, {**files, "tests/a.sh": "", "all.sh": "exit 0\n"}).unvouched


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_packages_that_set_up_installed_are_there_in_a_run_and_an_error_is_told_by_its_line(
    tmp_path: Path,
) -> None:
    settings = {"generic": {"report": "exit", "each": "node {file}"}, "tests": ["tests/*.mjs"]}
    files = {"tests/a.mjs": "import 'four';\n"}
    without = run(tmp_path, settings, files)
    assert "Error [ERR_MODULE_NOT_FOUND]" in without.results["tests/a.mjs::a"].message
    package = tmp_path / "env/node_modules/four"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"main": "index.js"}')
    (package / "index.js").write_text("")
    assert outcomes(run(tmp_path, settings, files)) == {"tests/a.mjs::a": "passed"}
    assert not (tmp_path / "tree/node_modules").exists()
