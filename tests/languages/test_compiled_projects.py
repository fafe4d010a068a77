"""Projects of Go, Rust and Java: found by their files, corrected by their settings, and what of them decides
how tests run.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.languages.compiled.java import broken_files
from agentforge.languages.compiled.languages import GO, JAVA, RUST
from agentforge.languages.compiled.running import Bench
from agentforge.languages.port import Language
from agentforge.languages.repository import find_projects
from agentforge.languages.table import language_of
from agentforge.languages.values import Environment, Plan
from agentforge.sandbox.walls.none import NoSandbox


def plan(files: Mapping[str, str], settings: Mapping[str, object] | None = None) -> tuple[Language, Plan]:
    (project,) = find_projects(
        lambda path: files[path].encode() if path in files else None, [*files], settings
    )
    return project.language, project.plan


@pytest.mark.parametrize(
    ("files", "language", "tests", "setup"),
    [
        ({"go.mod": "module a\n", "a.go": ""}, GO, "go test ./...", ["go list"]),
        (
            {"go.mod": "module a\n\nrequire b v1.0.0\n", "go.sum": "", "a.go": ""},
            GO,
            "go test ./...",
            ["go mod", "go list"],
        ),
        (
            {"go.mod": "module a\n\nrequire b v1.0.0\n", "vendor/modules.txt": "", "a.go": ""},
            GO,
            "go test ./...",
            ["go list"],
        ),
        (
            {
                "go.work": "go 1.20\n\nuse (\n\t./shop\n\t./cmd/other // its own\n\t./gone\n\t../out\n)\n",
                "shop/go.mod": "module a\n",
                "shop/a.go": "",
                "cmd/other/go.mod": "module b\n\nrequire c v1.0.0\n",
            },
            GO,
            "go test ./shop/... ./cmd/other/...",
            ["go mod", "go list"],
        ),
        ({"go.work": "use ./b\n", "go.mod": "module a\n", "a.go": ""}, GO, "go test ./...", ["go list"]),
        ({"Cargo.toml": "[package]\n", "src/lib.rs": ""}, RUST, "cargo test", ["cargo fetch", "cargo test"]),
        (
            {"Cargo.toml": "[workspace]\n", "a/src/lib.rs": ""},
            RUST,
            "cargo test --workspace",
            ["cargo fetch", "cargo test"],
        ),
        ({"pom.xml": "<project/>", "A.java": ""}, JAVA, "mvn test", ["mvn -B", "mvn -B"]),
        (
            {"build.gradle": "", "gradlew": "", "A.java": ""},
            JAVA,
            "./gradlew test",
            ["./gradlew --no-daemon"],
        ),
    ],
    ids=range(9),
)
def test_a_project_is_found_by_its_build_file(
    files: Mapping[str, str], language: Language, tests: str, setup: list[str]
) -> None:
    found, how = plan(files)
    assert found is language
    assert " ".join(how.test_command) == tests
    assert [" ".join(line[:2]) for line in how.setup] == setup
    assert how.not_run or found is JAVA, "what is not run is named"


def test_settings_come_before_what_was_found_and_another_runner_is_refused() -> None:
    files = {"go.mod": "module a\n", "a.go": ""}
    _, how = plan(files, {"commands": {"test": "go test -tags slow ./x/..."}, "setup": ["go mod vendor"]})
    assert (how.test_command, how.setup) == (
        ("go", "test", "-tags", "slow", "./x/..."),
        (("go", "mod", "vendor"),),
    )
    with pytest.raises(UsageError, match="does not start go test"):
        plan(files, {"commands": {"test": "make test"}})


def test_a_language_that_is_not_installed_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("GOROOT", "RUSTUP_HOME", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("agentforge.languages.compiled.kit.SYSTEM_PATH", str(tmp_path))
    _, how = plan({"Cargo.toml": "[package]\n", "src/lib.rs": ""})
    assert RUST.projects.missing(how) == "Rust is not installed here: there is no program `cargo`"


def test_what_decides_how_tests_run_is_told_apart_from_the_rest() -> None:
    cargo = RUST.tests.SECTIONS["Cargo.toml"]
    assert cargo('[package]\nname = "a"\nversion = "1"\n') == cargo('[package]\nname = "a"\nversion = "2"\n')
    assert cargo("[package]\n") != cargo('[package]\n[[test]]\nname = "x"\nharness = false\n')
    pom = JAVA.tests.SECTIONS["pom.xml"]
    plugin = "<plugin><artifactId>maven-surefire-plugin</artifactId>{}</plugin>"
    assert pom(plugin.format("")) != pom(plugin.format("<configuration><skip>true</skip></configuration>"))
    assert pom("<version>1</version>") == pom("<version>2</version>")
    assert pom("") != pom("<properties><skipTests>true</skipTests></properties>")
    make = _language("a.c").tests.SECTIONS["Makefile"]
    assert make("all: a\n\tcc a\n\ncheck: a\n\t./a\n") != make("all: a\n\tcc a\n\ncheck:\n\ttrue\n")
    assert make("all: a\n\tcc a\n\ncheck: a\n\t./a\n") == make("all: b\n\tcc b\n\ncheck: a\n\t./a\n")


def _language(path: str) -> Language:
    found = language_of(path)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("language", "error", "is_missing"),
    [
        (GO, "a_test.go:3: undefined: Slug", True),
        (GO, "a_test.go:3: undefined: Slug\na_test.go:4: syntax error: unexpected }", False),
        (GO, 'a_test.go:3: cannot use "a" (untyped string constant) as int value', False),
        (RUST, "tests/a.rs:2: E0425: cannot find function `slug` in crate `shop`", True),
        (RUST, "tests/a.rs:2: E0308: mismatched types", False),
        (JAVA, "src/test/java/A.java:4: cannot find symbol symbol: method slug", True),
        (JAVA, "src/test/java/A.java:4: ';' expected", False),
    ],
    ids=range(7),
)
def test_only_a_name_that_is_missing_is_a_reason_not_to_compile(
    language: Language, error: str, is_missing: bool
) -> None:
    told = language.tests.missing_import(error, ["shop.go"])
    assert (told is not None) is is_missing
    assert told is None or "compile-red" in told
    assert language.tests.missing_import(error, []) is None, "nothing is promised that could define it"


def test_what_javac_says_is_told_by_file_with_its_symbol(tmp_path: Path) -> None:
    env = Environment(tmp_path, tmp_path, tmp_path, (), (), "", "", tmp_path)
    bench = Bench(NoSandbox(), env, tmp_path, tmp_path, {}, 0)
    printed = (
        f"[ERROR] {tmp_path}/src/test/java/A.java:[4,51] cannot find symbol\n"
        "[ERROR]   symbol:   method slug(java.lang.String)\n[ERROR]   location: class shop.Lib\n"
    )
    assert broken_files(bench, printed) == {
        "src/test/java/A.java": "src/test/java/A.java:4: cannot find symbol symbol: method "
        "slug(java.lang.String) location: class shop.Lib"
    }


@pytest.mark.parametrize(
    ("path", "is_run"),
    [
        ("a/b_test.go", True),
        ("a/b.go", False),
        ("tests/a.rs", True),
        ("src/tests.rs", True),
        ("src/lib.rs", False),
        ("src/test/java/a/BTest.java", True),
        ("src/main/java/a/B.java", False),
    ],
)
def test_tests_are_known_by_their_place_and_name(path: str, is_run: bool) -> None:
    assert _language(path).tests.is_run(path) is is_run
