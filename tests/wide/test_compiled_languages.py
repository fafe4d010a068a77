"""Go, Rust, Java and C through the installed command: a request ends in a verified branch however often the
command is killed, and no cheat does.
"""

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.sharing import share_here
from tests.whole.checkouts import COMMAND, Done, Person, make_repository
from tests.wide.toolkits import debian, tools_for
from tests.wide.works import GO, REQUEST, RUST, WORKS, Fraud, Work
from tests.wide.works_listed import LISTED

pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.timeout(1800)]
SETTINGS = ".agentforge/config/settings.yaml"
NPM = 'network: {allow: ["registry.npmjs.org"]}\n'
ALL = (*WORKS, LISTED)
FRAUDS = [
    pytest.param(work, fraud, id=f"{work.language}: {fraud.name}") for work in ALL for fraud in work.frauds
]


def person_with(work: Work, place: Path, replies: list[dict[str, Any]]) -> Person:
    person = Person(
        make_repository(place / "repo", work.files), place / "script.json", tools_for(work.language)
    )
    person.scripted(*replies)
    if "npm install" in work.files.get(SETTINGS, ""):  # which only the person may let reach a registry
        home = Path(os.environ["AGENTFORGE_HOME"])
        home.mkdir(mode=0o700, exist_ok=True)
        (home / "config.yaml").write_text(NPM)
    return person


def start(person: Person, request: str = REQUEST) -> tuple[str, ...]:
    return ("start", request, "--lane", "hotfix", "--model", f"scripted:{person.script}", "--json")


def kill_after(person: Person, lines: int, *command: str) -> bool:
    """Starts a command and ends it, unasked, when it has said so many lines; False if it ended before."""
    share_here(person.checkout)
    with subprocess.Popen(
        [COMMAND, *command],
        cwd=person.checkout,
        env=person.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for _ in range(lines):
            if not process.stderr.readline():
                return False
        process.kill()
    return True


def evidence(person: Person) -> dict[str, Any]:
    found = json.loads(
        (person.checkout / ".agentforge/tasks" / person.only_task() / "evidence.json").read_text()
    )
    assert isinstance(found, dict)
    return found


def delivered(done: Done, person: Person) -> dict[str, Any]:
    assert done.code == 0, done.said
    verified = person.run("verify", person.only_task(), "--rerun", "--json")
    assert verified.code == 0, verified.said
    return evidence(person)


@pytest.mark.parametrize("work", ALL, ids=lambda work: work.language)
def test_a_request_ends_in_a_verified_branch_however_often_it_is_killed(work: Work, tmp_path: Path) -> None:
    person = person_with(work, tmp_path, work.replies())
    chance = random.Random(work.language)
    command = start(person)
    for _ in range(3):
        if not kill_after(person, chance.randint(5, 20), *command):
            break
        if (person.checkout / ".agentforge/tasks").is_dir():
            command = ("continue", person.only_task(), "--json")
    proof = delivered(person.run(*command), person)
    ran = [run for row in proof["rows"] for run in row.get("runs", ())]
    assert {run["outcomes"].get(work.id) for run in ran} >= {"failed", "passed"}
    green = next(row for row in proof["rows"] if row.get("gate") == "green")
    assert green["not_checked"] or work.language == "Java", "what cannot be proved is named"
    assert work.language.startswith("C") or set(green["about"].values()) == {"running it"}


def told(person: Person) -> str:
    """What the model was told of its own work, beside what the screen shows."""
    memory = person.checkout / ".agentforge/tasks" / person.only_task() / "working_memory.yaml"
    return " ".join(memory.read_text().split())


@pytest.mark.parametrize(("work", "fraud"), FRAUDS)
def test_no_cheat_is_delivered(work: Work, fraud: Fraud, tmp_path: Path) -> None:
    person = person_with(work, tmp_path, work.replies(fraud))
    done = person.run(*start(person))
    assert done.code != 0, done.said
    assert fraud.caught in done.said + told(person)


QUOTE = """
// Quote quotes one word for a shell.
func Quote(word string) string {
	return Join(word)
}
"""


def test_a_released_go_package_gets_a_function_that_its_new_test_could_not_name_before(
    tmp_path: Path,
) -> None:
    files = debian("golang-github-kballard-go-shellquote-dev", "usr/share/gocode/src/github.com/kballard/*")
    work = Work(
        "Go",
        {**files, "go.mod": "module github.com/kballard/go-shellquote\n\ngo 1.18\n"},
        "quote.go",
        "func quote(word string, buf *bytes.Buffer) {",
        QUOTE.strip() + "\n\nfunc quote(word string, buf *bytes.Buffer) {",
        "quote_word_test.go",
        'package shellquote\n\nimport "testing"\n\nfunc TestQuoteWord(t *testing.T) {\n'
        '\tif got := Quote("it\'s"); got != `it\\\'s` {\n\t\tt.Fatalf("got %s", got)\n\t}\n}\n',
        "TestQuoteWord",
    )
    person = person_with(work, tmp_path, work.replies())
    proof = delivered(person.run(*start(person, "Add a function Quote that quotes one word")), person)
    assert "stub-red" in json.dumps(proof)


def test_a_released_rust_crate_keeps_the_tests_that_stand_beside_its_code(tmp_path: Path) -> None:
    files = debian("librust-shlex-dev", "usr/share/cargo/registry/shlex-*")
    work = Work(
        "Rust",
        {path: text for path, text in files.items() if path.startswith("src/") or path == "Cargo.toml"},
        "src/lib.rs",
        "/// Given a single word",
        "/// How many words a command line has; None if it is not closed.\n"
        "pub fn count(in_str: &str) -> Option<usize> {\n    split(in_str).map(|words| words.len())\n}\n\n"
        "/// Given a single word",
        "tests/count.rs",
        "#[test]\nfn counts_words() {\n    assert_eq!(shlex::count(\"a 'b c'\"), Some(2));\n}\n",
        "counts_words",
    )
    person = person_with(work, tmp_path, work.replies())
    proof = delivered(person.run(*start(person, "Add a function count that counts words")), person)
    ran = {name for row in proof["rows"] for run in row.get("runs", ()) for name in run["outcomes"]}
    assert {"src/lib.rs::test_split", "tests/count.rs::counts_words"} <= ran


@pytest.mark.parametrize("work", [GO, RUST], ids=lambda work: work.language)
def test_without_the_tools_of_a_language_nothing_is_spent(work: Work, tmp_path: Path) -> None:
    person = Person(make_repository(tmp_path / "repo", work.files), tmp_path / "script.json")
    person.scripted(*work.replies())
    empty = tmp_path / "home"
    empty.mkdir()
    person.variables |= {
        "PATH": "/usr/bin:/bin",
        "HOME": str(empty),
        "GOROOT": "",
        "RUSTUP_HOME": "",
        "CARGO_HOME": "",
    }
    done = person.run(*start(person))
    assert done.code == 2, done.said
    assert f"{work.language} is not installed here" in done.said
    assert not (person.checkout / ".agentforge/tasks").exists()


def test_a_person_sees_how_a_language_is_tested(tmp_path: Path) -> None:
    person = person_with(GO, tmp_path, [])
    done = person.run("init", "--json")
    assert done.code == 0, done.said
    assert "go test ./..." in done.said
