"""The token estimate stays close to a real vocabulary, and its work stays bounded."""

import time

from hypothesis import given
from hypothesis import strategies as st

from agentforge.context.tokens import count_tokens, with_margin
from tests.rows import every

PYTHON = '''def slugify(text: str, *, limit: int = 40) -> str:
    """Turn a title into a name for a branch."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return "-".join(words)[:limit].strip("-")
'''
PROSE = (
    "The journal is the truth. Every decision is one line, and every line names the one before it, "
    "so that a reader can tell at once whether something was changed.\n"
)
JSON_TEXT = (
    '{"name": "edit_file", "args": {"path": "src/app.py", "old": "a = 1", "new": "a = 2", "line": 1024}}\n'
)

# Counted once with the o200k vocabulary.
REAL = [(PYTHON, 60), (PROSE, 34), (JSON_TEXT, 43)]


@every(("text", "tokens"), REAL)
def test_an_estimate_is_within_a_tenth_of_a_real_vocabulary(text: str, tokens: int) -> None:
    many = text * 20
    assert abs(count_tokens(many) - tokens * 20) <= tokens * 2


def test_nothing_is_no_token_and_something_is_at_least_one() -> None:
    assert count_tokens("") == 0
    assert count_tokens("a") >= 1


def test_other_scripts_are_not_counted_as_free() -> None:
    assert count_tokens("日本語のテキスト") >= 6
    assert count_tokens("🙂🙃") >= 3


def test_the_margin_is_a_tenth_and_rounds_up() -> None:
    assert [with_margin(tokens) for tokens in (0, 1, 10, 100)] == [0, 2, 11, 110]


@given(st.text(), st.text())
def test_more_text_never_counts_less_by_more_than_a_seam(first: str, second: str) -> None:
    assert count_tokens(first + second) >= count_tokens(first) - 3


def test_a_text_of_fifty_megabytes_is_estimated_at_once_and_in_proportion() -> None:
    one = count_tokens(PYTHON * 100)
    text = PYTHON * 230_000
    started = time.process_time()
    tokens = count_tokens(text)
    assert time.process_time() - started < 2
    assert abs(tokens / (one * 2300) - 1) < 0.05
