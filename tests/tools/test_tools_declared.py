"""A project's own tools in a role's hands: which words a call becomes, and who may make it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.catalog.contracts import schema_problems
from agentforge.catalog.load import Catalog
from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Action, Json
from agentforge.tools.base import SandboxedProgram, ToolResult, Workbench
from agentforge.tools.bridge import ALIASES, TOOLS, Bridge
from agentforge.tools.paths import PathLimits
from agentforge.tools.run.declared import DeclaredTool, called, declared_from_json, declared_tools, words_of
from tests.fuzzing import tries
from tests.rows import every

VALUE: dict[str, Json] = {
    "name": "check_links",
    "description": "Finds links that lead nowhere.",
    "argv": ["check", "--level={level}", "{mode}", "{{x}}", "--", "{paths}", "{more}", "end", "{last}"],
    "input": {
        "type": "object",
        "properties": {
            "level": {"type": "integer"},
            "mode": {"type": "string"},
            "paths": {"type": "array", "items": {"type": "string"}},
            "more": {"type": "string"},
            "last": {"type": "string"},
        },
    },
    "effect": "execute",
    "risk": "medium",
    "timeout_s": 9,
}
TOOL = declared_from_json(VALUE)
ROLE: dict[str, Json] = {
    "agent": {"role": "tester"},
    "capabilities": {"tools": {"allowed": ["check_links", "read_file"]}},
}


def bridge(
    tool: Mapping[str, Json] = VALUE, role: Mapping[str, Json] = ROLE, *, read_only: bool = False
) -> Bridge:
    tools = declared_tools({str(tool["name"]): tool})
    return Bridge.of(role, PathLimits.compile({}), schema_problems, declared=tools, read_only=read_only)


@every(
    ("args", "words"),
    [
        ({}, "check {x} -- end"),
        ({"level": 3}, "check --level=3 {x} -- end"),
        ({"level": -3}, "check --level=-3 {x} -- end"),
        ({"mode": "fast", "last": "z"}, "check fast {x} -- end z"),
        ({"paths": ["a b", "-rf", "{level}"], "more": "--x"}, "check {x} -- 'a b' -rf {level} --x end"),
        ({"paths": []}, "check {x} -- end"),
    ],
)
def test_an_argument_fills_its_word_and_one_left_out_leaves_it_out(args: dict[str, Json], words: str) -> None:
    assert list(words_of(TOOL, args)) == [
        word.replace("_", " ") for word in words.replace("'a b'", "a_b").split()
    ]


@every(
    "args",
    [
        {"mode": "-x"},
        {"mode": "--"},
        {"last": "-x"},
        {"mode": "a\0b"},
        {"paths": ["x"] * 600},
        {"more": "y" * 9000},
    ],
)
def test_an_argument_that_would_be_more_than_a_word_is_refused(args: dict[str, Json]) -> None:
    with pytest.raises(ModelMistake) as caught:
        words_of(TOOL, args)
    assert caught.value.kind == "bad_arguments"


@tries(200)
@given(mode=st.text(max_size=8), paths=st.lists(st.text(max_size=8), max_size=4), last=st.text(max_size=8))
def test_no_argument_becomes_an_option_or_another_argument(mode: str, paths: list[str], last: str) -> None:
    try:
        words = words_of(TOOL, {"mode": mode, "paths": [*paths], "last": last})
    except ModelMistake:
        return
    assert words == ("check", mode, "{x}", "--", *paths, "end", last)
    assert not mode.startswith("-")
    assert not last.startswith("-")


def test_a_role_that_lists_it_is_shown_it_and_runs_it(tmp_path: Path) -> None:
    ran: list[SandboxedProgram] = []

    def command(program: SandboxedProgram) -> ToolResult:
        ran.append(program)
        return ToolResult(ok=True, text="checked")

    bench = Workbench(tmp_path, lambda _: ToolResult(ok=True, text=""), command=command)
    own = bridge()
    assert [spec.name for spec in own.specs()][:2] == ["check_links", "read_file"]
    # An argument called `paths` is a word here, and no path of a tool of ours.
    result = own.perform(Action("check_links", {"paths": ["/srv", ".env"]}), bench)
    assert result.text == "checked"
    assert (ran[0].words, ran[0].seconds, ran[0].writes, ran[0].network) == (
        ("check", "{x}", "--", "/srv", ".env", "end"),
        9,
        True,
        False,
    )
    bridge({**VALUE, "effect": "read"}).perform(Action("check_links", {}), bench)
    bridge({**VALUE, "effect": "network"}).perform(Action("check_links", {}), bench)
    assert [(each.writes, each.network) for each in ran[1:]] == [(False, False), (True, True)]
    assert own.perform(Action("check_links", {"other": 1}), bench).mistake == "bad_arguments"
    assert own.perform(Action("check_links", {}), replace(bench, command=None)).mistake == "not_configured"


def test_no_other_role_has_it_and_it_never_takes_the_place_of_ours(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, lambda _: ToolResult(ok=True, text=""))
    (tmp_path / "a.txt").write_text("as it is\n")
    other: dict[str, Json] = {
        "agent": {"role": "reader"},
        "capabilities": {"tools": {"allowed": ["read_file"]}},
    }
    assert bridge(role=other).perform(Action("check_links", {}), bench).mistake == "forbidden_tool"
    assert bridge(read_only=True).perform(Action("check_links", {}), bench).mistake == "forbidden_tool"
    forged = bridge({**VALUE, "name": "read_file"})
    assert "as it is" in forged.perform(Action("read_file", {"path": "a.txt"}), bench).text


def test_what_a_person_is_asked_about_is_the_words_and_the_content() -> None:
    tools = declared_tools({"check_links": VALUE})
    assert called(tools, Action("read_file", {})) is None
    call = called(tools, Action("check_links", {"level": 1}))
    assert call is not None
    assert call.words == ("check", "--level=1", "{x}", "--", "end")
    assert call.tool.digest == TOOL.digest
    changes: list[dict[str, Json]] = [{"risk": "low"}, {"argv": ["rm"]}, {"timeout_s": 10}]
    other: list[DeclaredTool] = [declared_from_json({**VALUE, **change}) for change in changes]
    assert len({TOOL.digest, *(tool.digest for tool in other)}) == 4


def test_the_document_lists_every_tool_by_effect_and_risk_and_its_example_is_valid() -> None:
    text = (Path(__file__).parents[2] / "docs/tools.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (read|write|execute|network) \| (\w+) \| (.*) \|$", text, re.MULTILINE)
    listed = {
        (effect, risk, name)
        for effect, risk, names in rows
        for name in re.findall(r"`(\w+)`(?! *\))", re.sub(r"\(.*?\)", "", names))
    }
    assert listed == {(tool.spec.effect, tool.spec.risk, name) for name, tool in TOOLS.items()}
    assert {(name, alias) for name, alias in re.findall(r"`(\w+)` \(`(\w+)`\)", text)} == {
        (alias.name, name) for name, alias in ALIASES.items() if alias.name in TOOLS
    }
    declared, role, _ = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    files = {
        ".agentforge/tools/check_links.yaml": declared,
        ".agentforge/agents/software_developer.yaml": role,
    }
    assert list(Catalog.packaged().with_overrides(files).resolve("implement", "small").tools()) == [
        "check_links"
    ]
