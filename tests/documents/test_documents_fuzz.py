"""Laws of documents: whatever text comes in, nothing crashes, and nothing of a person's words goes."""

from hypothesis import example, given
from hypothesis import strategies as st

from agentforge.core.errors import UsageError
from agentforge.documents import front_matter
from agentforge.documents.items import items
from agentforge.documents.outline import appended, lines, outline, with_body
from agentforge.documents.tables import tables, with_row
from agentforge.gates.debates.files import judge_debate
from tests.fuzzing import tries

_PIECES = st.sampled_from(
    [
        "---\n",
        "# A\n",
        "## Final Decision\n",
        "- a: b\n",
        "  - c\n",
        "| A | B |\n",
        "|---|---|\n",
        "```\n",
        "<!--",
        "-->\n",
        "\n",
        "\r\n",
        "a: 1\n",
        "b: [x]  # mine\n",
        "\\",
        "|",
        "\ufeff",
        "text\n",
        "===\n",
        "1. [ ] d\n",
        "\t",
        "context:\n",
        "  k: |\n    v\n",
        "# note\n",
        "Kill-Switch Criteria",
        "\u2028",
        "\x85",
        "\x00",
        "? ",
        "{",
        "}",
    ]
)
_TEXT = st.lists(_PIECES | st.text(max_size=8), max_size=24).map("".join)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@tries(300)
@given(_TEXT)
def test_any_text_has_an_outline_and_its_lines_are_the_text(text: str) -> None:
    assert "".join(line.text for line in lines(text)) == text
    for section in outline(text):
        assert section.start < section.body <= section.own_end <= section.end <= len(text)
    items(text)


@tries(300)
@given(_TEXT, st.text(max_size=10))
def test_an_added_row_or_text_takes_nothing_away(text: str, cell: str) -> None:
    for table in tables(text):
        changed = with_row(text, table, {table.columns[0]: cell})
        assert changed.startswith(text[: table.end])
        assert changed.endswith(text[table.end :])
    for section in outline(text):
        words = appended(text, section, "added").split()
        rest = list(words)
        rest.remove("added")
        assert rest == text.split()
        assert with_body(text, section, "x").endswith(text[section.own_end :])


@tries(300)
@given(_TEXT, st.sampled_from(["a", "context.k", "context", "new", "b"]), _VALUES)
@example("---\na: 1\ncontext: {k: 1}  # mine\n---\nbody", "context.k", [])
def test_a_value_set_is_read_back_and_body_and_comments_stay(text: str, key: str, value: object) -> None:
    try:
        before = front_matter.read(text, "x")
        changed = front_matter.changed(text, {key: value})  # type: ignore[dict-item]  # any YAML value
    except UsageError:
        return
    after = front_matter.read(changed, "x")
    found: object = after
    for part in key.split("."):
        assert isinstance(found, dict)
        found = found[part]
    top = key.split(".", maxsplit=1)[0]
    assert {name: each for name, each in before.items() if name != top} == {
        name: each for name, each in after.items() if name != top
    }
    assert changed.endswith(text[front_matter.body_start(text) :])
    assert changed.count("# mine") >= text[: front_matter.body_start(text)].count("# mine") - 1


@tries(200)
@given(st.dictionaries(st.sampled_from(["debate-plan.md", "advocate.md", "synthesis.md"]), _TEXT))
def test_the_gate_judges_any_texts_and_alike_each_time(texts: dict[str, str]) -> None:
    assert judge_debate(texts) == judge_debate(texts)
    assert not judge_debate(texts).complete
