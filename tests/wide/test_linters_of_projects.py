"""`agentforge check` with the real linters of other languages, on projects that break each of them once."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.whole.checkouts import Person, make_repository
from tests.wide.toolkits import npm, tools_for

pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.timeout(900)]
GO = {
    "go.mod": "module example.com/a\n\ngo 1.19\n",
    "a.go": 'package a\n\nimport "fmt"\n\n// A prints.\nfunc  A() { fmt.Printf("%d", "x") }\n',
}
RUST = {
    "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn  a(x: &Vec<i32>) -> usize { return x.len(); }\n",
    "rustfmt.toml": "",
    "clippy.toml": "",
}
SCRIPT = {
    "package.json": '{"name": "a", "type": "module", "scripts": {"test": "node --test"}, "devDependencies":'
    ' {"eslint": "^9", "prettier": "^3", "@biomejs/biome": "^2"}}\n',
    "eslint.config.js": 'export default [{ rules: { "no-unused-vars": "error" } }];\n',
    ".prettierrc": "{}\n",
    "biome.json": '{ "linter": { "enabled": true } }\n',
    "a.js": "export function a( ) { const b = 1; debugger; return 2 }\n",
    ".gitignore": "node_modules\n",
}


@pytest.mark.parametrize(
    ("language", "files", "found"),
    [
        ("Go", GO, ("not formatted as gofmt does", "has arg", "Own linters (Go): failed, 2 findings")),
        ("Rust", RUST, ("not formatted as rustfmt does", "clippy::needless_return", "clippy::ptr_arg]\n")),
        (
            "JavaScript",
            SCRIPT,
            ("[no-unused-vars]", "noDebugger", "it is not formatted", "Own linters (JavaScript): failed"),
        ),
    ],
    ids=["Go", "Rust", "JavaScript"],
)
def test_the_projects_own_linters_are_run_by_check(
    tmp_path: Path, language: str, files: dict[str, str], found: tuple[str, ...]
) -> None:
    person = Person(make_repository(tmp_path / "repo", files), tmp_path / "script.json", tools_for(language))
    if language == "JavaScript":
        packages = npm("linters", "eslint@9", "prettier@3", "@biomejs/biome@2") / "node_modules"
        subprocess.run(["cp", "-a", packages, person.checkout / "node_modules"], check=True)
    if language == "Rust" and shutil.which("cargo-clippy") is None:
        pytest.skip("there is no clippy")
    done = person.run("check")
    assert done.code == 1, done.said
    for line in found:
        assert line in done.said, done.said
