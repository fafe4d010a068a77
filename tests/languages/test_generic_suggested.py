"""What `init` proposes where the language is not known: settings that are valid, and right for what is there."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentforge.catalog.contracts import problems
from agentforge.catalog.load import Catalog
from agentforge.catalog.policies import read_policy
from agentforge.languages.generic.endings import made_to_end_badly
from agentforge.languages.generic.language import GENERIC
from agentforge.languages.generic.suggested import suggest
from agentforge.languages.repository import find_projects
from tests.rows import every
from tests.whole.checkouts import Person, make_repository
from tests.whole.plays import create, edit, review

ROWS = read_policy("runners")["runners"]


def test_the_policy_is_as_its_contract_says() -> None:
    assert not problems(Catalog.packaged().contract("runners_policy"), read_policy("runners"), final=True)


@every("row", ROWS)
def test_every_proposal_is_valid_and_is_run_as_it_says(row: Mapping[str, Any]) -> None:
    assert not problems(Catalog.packaged().contract("settings"), row["settings"], final=True)
    (project,) = find_projects(lambda _: None, ["a.c"], row["settings"])
    assert project.language is GENERIC
    assert project.plan.tests


@every(
    ("files", "name"),
    [
        ({"composer.json": '{"require-dev": {"phpunit/phpunit": "^11"}}', "src/A.php": ""}, "PHPUnit"),
        ({"phpunit.xml.dist": "", "src/A.php": ""}, "PHPUnit"),
        ({"Gemfile": 'gem "rspec"', "lib/a.rb": ""}, "RSpec"),
        ({"Gemfile": 'gem "rspec"; gem "rspec_junit_formatter"'}, "RSpec with its JUnit formatter"),
        ({"a.gemspec": "", "lib/a.rb": "", "test/test_a.rb": ""}, "minitest"),
        ({"App.sln": "", "src/App.csproj": "<Project/>"}, "dotnet test"),
        ({"mix.exs": "", "test/a_test.exs": ""}, "mix test"),
        ({"lib/A.pm": "", "t/a.t": ""}, "prove"),
        ({"run.sh": "", "test/run.bats": ""}, "bats"),
        ({"CMakeLists.txt": "enable_testing()\n", "a.cpp": ""}, "CTest"),
        ({"meson.build": "", "a.c": ""}, "Meson"),
        ({"Makefile": "all:\n\ncheck: all\n\t./a\n", "a.c": ""}, "make check"),
        ({"Makefile": "test:\n\t./a\n", "a.c": ""}, "make test"),
        ({"Makefile": "check := 1\nall:\n", "a.c": ""}, None),
        ({"init.lua": "", "spec/a_spec.lua": ""}, "busted"),
        ({"package.json": '{"devDependencies": {"ava": "^6"}}', "test.js": ""}, "ava"),
        ({"package.json": '{"devDependencies": {"tape": "^5"}}', "test/a.js": ""}, "tape"),
        ({"deno.json": "{}", "mod_test.ts": ""}, "deno test"),
        ({"package.json": "{}", "bun.lock": "", "a.test.ts": ""}, "bun test"),
        ({"vendor/x/phpunit.xml": "", "a.c": ""}, None),
        ({"Dockerfile": "FROM scratch"}, None),
    ],
)
def test_a_tool_is_known_by_its_files(files: Mapping[str, str], name: str | None) -> None:
    found = suggest(lambda path: files[path].encode(), [*files])
    assert (found.name if found else None) == name


@every(
    ("paths", "name"),
    [
        (["app.py", *(f"vendor/lib/{n}.js" for n in range(9)), "vendor/lib/package.json"], "Python"),
        (["third_party/x/go.mod", "third_party/x/a.go", "third_party/b.go", "main.py"], "Python"),
    ],
)
def test_copies_of_what_others_wrote_say_nothing_of_a_repository(paths: list[str], name: str) -> None:
    assert find_projects(lambda _: None, paths)[0].language.name == name


def test_a_file_that_nobody_knows_how_to_end_is_left_alone() -> None:
    assert made_to_end_badly("tests/a.zig", "", "x") is None
    assert made_to_end_badly("tests/a.rb", "puts 1", "x") is None


TEST = "use Test::More;\nuse Shop;\nis(Shop::twice(2), 4, 'two becomes four');\ndone_testing;\n"
PERL = {
    "lib/Shop.pm": "package Shop;\n\nsub twice { return $_[0] }\n\n1;\n",
    "t/zero.t": TEST.replace("2), 4", "0), 0").replace("two becomes four", "zero stays"),
}
REQUIREMENT = {
    "id": "REQ-001",
    "description": "twice the argument",
    "acceptance_criteria": ["two becomes four"],
}
PAPERS: dict[str, Any] = {
    "intake_record": {"extracted_intent": {"action": "fix", "target": "twice", "scope": "file"}},
    "specification": {
        "title": "twice doubles",
        "description": "twice returns twice its argument",
        "requirements": [REQUIREMENT],
        "files_to_modify": ["lib/Shop.pm"],
    },
    "test_suite": {
        "test_files": [{"path": "t/four.t", "tests": [{"name": "four", "requirement_ref": "REQ-001"}]}]
    },
    "implementation": {"summary": "twice multiplies by two"},
}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
def test_a_repository_in_an_unknown_language_is_proposed_settings_with_which_it_works(tmp_path: Path) -> None:
    person = Person(make_repository(tmp_path / "shop", PERL), tmp_path / "script.json")
    request = ("start", "twice in lib/Shop.pm must double its argument", "--lane", "hotfix")
    start = (*request, "--model", f"scripted:{person.script}", "--json")

    def replies(code: str) -> None:
        actions = [create("t/four.t", TEST), edit("lib/Shop.pm", "return $_[0]", code)]
        reply = {"actions": actions, "artifacts": PAPERS, "signal": "success"}
        person.scripted({"stage": "patch", "reply": reply}, review("t/four.t::four"))

    replies("return 2 * $_[0]")
    refused = person.run(*start)
    assert (refused.code, "It looks like prove, by t/zero.t" in refused.said) == (2, True), refused.said
    assert "a guess" in person.run("init").said
    person.commit_all()
    replies("exit 0")
    cheat = person.run(*start)
    assert cheat.code != 0, cheat.said
    assert "ends with 0 even with a failure at its end" in cheat.said
    replies("return 2 * $_[0]")
    done = person.run(*start)
    assert done.code == 0, done.said


@every(
    "files",
    [
        {"package.json": '{"devDependencies": {"ava": "^6"}, "scripts": {"test": "ava"}}', "test.js": ""},
        {"package.json": '{"devDependencies": {"tape": "^5"}}', "a.js": "", "test/a.js": ""},
        {"deno.json": "{}", "mod.ts": "", "mod_test.ts": ""},
        {"package.json": "{}", "bun.lock": "", "a.ts": "", "a.test.ts": ""},
    ],
)
def test_a_runner_of_javascript_without_a_judge_is_refused_and_can_be_declared(
    files: Mapping[str, str],
) -> None:
    def read(path: str) -> bytes | None:
        return files[path].encode() if path in files else None

    (unknown,) = find_projects(read, [*files])
    told = unknown.language.projects.missing(unknown.plan)
    assert told.startswith("The project runs its tests with ")
    assert told.endswith("which `agentforge init` proposes.")
    guess = suggest(read, [*files])
    assert guess is not None
    (declared,) = find_projects(read, [*files], guess.settings)
    assert declared.language is GENERIC
    assert GENERIC.projects.missing(declared.plan) in (
        "",
        *(
            f"`{line}` cannot run here: there is no program `{line.split()[0]}`"
            for line in _lines(guess.settings)
        ),
    )


def _lines(settings: Mapping[str, Any]) -> list[str]:
    return [*settings.get("setup", ()), *settings.get("commands", {}).values()]
