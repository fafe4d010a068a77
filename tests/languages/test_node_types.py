"""What tsc says, read for what it is: settings under which it looks at nothing are no clean bill."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentforge.languages.node.checkers import TYPES, run_checkers
from agentforge.languages.values import CheckRun, Environment
from agentforge.system.processes import Completed
from tests.rows import every

WRONG = "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n"
FILES = {
    "package.json": '{"devDependencies": {"typescript": "^5"}}',
    "node_modules/typescript/package.json": '{"bin": {"tsc": "bin/tsc"}}',
}


def asked(place: Path, said: Sequence[str], settings: str = "{}") -> tuple[CheckRun, list[str]]:
    """What is read of these outputs, one for each time that it is asked, and how it was asked."""
    for path, text in {**FILES, "tsconfig.json": settings}.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    env = Environment(place, Path("node"), place, (".",), (), "", "", place)
    words: list[str] = []

    def run(command: Sequence[str]) -> Completed:
        text = said[len(words)]
        words.append(" ".join(command[2:]))
        return Completed(tuple(command), 2 if text else 0, text.encode(), b"", False, 1, False)

    listed = [*FILES, "tsconfig.json"]
    return run_checkers(TYPES, env, place, ["src/a.ts"], listed, run), words


def test_it_remembers_what_it_found_out_where_it_is_told_to(tmp_path: Path) -> None:
    run, (line,) = asked(tmp_path, [WRONG])
    assert dict(run.findings) == {("src/a.ts", "TS2322"): 1}
    assert line == "--noEmit --pretty false --incremental --tsBuildInfoFile {kept}/0.tsbuildinfo"


def test_an_old_version_is_asked_without(tmp_path: Path) -> None:
    old = "error TS5053: Option 'incremental' cannot be specified with option 'noEmit'.\n"
    run, lines = asked(tmp_path, [old, WRONG])
    assert dict(run.findings) == {("src/a.ts", "TS2322"): 1}
    assert lines[1].endswith("--incremental false")


@every(
    ("line",),
    [
        ("error TS18003: No inputs were found in config file.",),
        ("error TS2688: Cannot find type definition file for 'nowhere'.",),
        ("tsconfig.json(3,5): error TS5101: Option 'baseUrl' is deprecated.",),
    ],
)
def test_where_it_looked_at_nothing_it_has_not_run(
    tmp_path_factory: pytest.TempPathFactory, line: str
) -> None:
    run, _ = asked(tmp_path_factory.mktemp("ts"), [f"{line}\n"] * 2)
    assert (run.status, run.reason) == ("not_run", f"tsc looked at nothing: {line}")


def test_settings_that_only_refer_to_others_are_asked_about_these(tmp_path: Path) -> None:
    settings = (
        '{ // one for each part\n "files": [], "references": [{"path": "./web"}, {"path": "./api"},],\n}'
    )
    run, lines = asked(tmp_path, ["", WRONG], settings)
    assert dict(run.findings) == {("src/a.ts", "TS2322"): 1}
    assert [line.split("tsBuildInfoFile ")[1] for line in lines] == [
        "{kept}/0.tsbuildinfo -p web",
        "{kept}/1.tsbuildinfo -p api",
    ]
    whole = json.dumps({"include": ["src"], "references": [{"path": "./web"}]})
    assert " -p " not in asked(tmp_path, [""], whole)[1][0]
