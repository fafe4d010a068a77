"""Any mixture of secrets and text: twice is once, pieces are the whole, and names of git objects survive.
`make fuzz` tries many more.
"""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentforge.system.secrets.redact import redact
from agentforge.system.secrets.stream import redact_stream
from tests.fuzzing import tries
from tests.system.made_up_secrets import NAMED, ORDINARY, PARTS, RANDOM, SECRETS


@tries(80)
@given(
    st.lists(
        st.sampled_from(
            [
                *(s for _, s in SECRETS),
                *(n.format(RANDOM) for n, _ in NAMED),
                *ORDINARY,
                " ",
                "\n",
                '"',
                "-",
                "_",
                ":",
                "=",
                "@",
                "token=",
            ]
        ),
        max_size=8,
    )
)
@example([secret for _, secret in SECRETS])
def test_a_second_pass_changes_nothing(parts: list[str]) -> None:
    once, _ = redact("".join(parts))
    assert redact(once) == (once, 0)


@tries(80)
@given(
    st.lists(st.one_of(st.sampled_from([*PARTS, *ORDINARY, ""]), st.text("ab \t", max_size=9)), max_size=20),
    st.data(),
)
def test_what_comes_in_pieces_is_redacted_as_the_whole(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(lines) + "\n"
    pieces: list[str] = []
    while text:
        size = data.draw(st.integers(1, 60))
        pieces.append(text[:size])
        text = text[size:]
    assert "".join(redact_stream(pieces)) == redact("".join(pieces))[0]


@pytest.mark.parametrize(
    "form",
    [
        "commit {}",
        "{}",
        "tree = {!r}",
        "index {}..{} 100644",
        "https://example.com/commit/{}",
        "({})",
        "{}:a.py",
    ],
)
@tries(30)
@given(st.binary(min_size=20, max_size=32).filter(lambda raw: len(raw) in (20, 32)))
def test_names_of_git_objects_survive(form: str, raw: bytes) -> None:
    text = form.format(raw.hex(), raw.hex())
    assert redact(text) == (text, 0)
