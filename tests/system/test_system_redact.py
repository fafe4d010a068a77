"""Secrets go, ordinary text stays."""

import itertools
import re
import time

import pytest

from agentforge.core.reply import Json
from agentforge.system.secrets.known import remember
from agentforge.system.secrets.redact import redact
from agentforge.system.secrets.shapes import LONG_WORDS
from agentforge.system.secrets.stream import MOST_HELD, redact_stream
from agentforge.system.secrets.values import clean, clean_words
from tests.depth import SOAK
from tests.rows import every
from tests.system.made_up_secrets import NAMED, ORDINARY, PARTS, PEM, RANDOM, SECRETS, SHORT

_numbers = itertools.count()


@every(("kind", "secret"), SECRETS)
def test_a_known_form_is_replaced_and_its_surroundings_stay(kind: str, secret: str) -> None:
    assert redact(f"before {secret}\nafter") == (f"before [REDACTED:{kind}]\nafter", 1)


@every(("line", "kind"), NAMED)
def test_a_random_value_goes_when_its_name_says_that_it_is_secret(line: str, kind: str) -> None:
    assert redact(line.format(RANDOM)) == (line.format(f"[REDACTED:{kind}]"), 1)


@every("line", SHORT)
def test_a_short_password_goes_where_it_stands_as_one(line: str) -> None:
    assert redact(line.format("hunter2")) == (line.format("[REDACTED:password]"), 1)


@every("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == (text, 0)


def test_a_key_cut_off_before_its_end_goes_too() -> None:
    assert redact(PEM[:150] + "\n\ndef f(): pass") == ("[REDACTED:private_key]\n\ndef f(): pass", 1)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "A",
        " ",
        "sk-",
        "eyJ",
        "password=",
        "://a:",
        "authorization: ",
        'token = "',
        "-----BEGIN PRIVATE KEY-----",
        "ghp_",
        "xox",
        "lin_api_",
        "glpat-",
        "aB3",
        "pwd:",
        "hvs.",
    ],
)
def test_time_grows_with_length_only(unit: str) -> None:
    def cost(length: int) -> float:
        text = f"{next(_numbers)}\n{unit * (length // len(unit))}"  # never one that was looked at before
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    cost(1000)
    length = 20_000 if SOAK else 6_000
    small = min(cost(length) for _ in range(3))
    assert cost(10 * length) < 60 * small + length / 200_000


@pytest.mark.slow
@every("secret", PARTS)
def test_a_secret_in_a_line_without_end_is_redacted_wherever_it_is_cut(secret: str) -> None:
    for shift in (0, 3, len(secret) // 2):
        text = f"{'value,1;' * 512} {secret} {'value,1;' * 512}"[shift:]
        pieces = [text[at : at + 700] for at in range(0, len(text), 700)]
        assert "".join(redact_stream(pieces, 3000)) == redact(text)[0]


@pytest.mark.slow
def test_what_is_held_back_is_bounded_and_an_ordinary_line_is_not_held_at_all() -> None:
    for part in redact_stream("A" * 65_536 for _ in range(50)):
        assert len(part) <= MOST_HELD + 65_536
    flow = iter(["a line of a log\n", "and the next\n"])
    assert next(redact_stream(flow)) == "a line of a log\n"
    assert next(flow) == "and the next\n"


def test_a_known_key_inside_of_another_keys_block_does_not_hide_the_block() -> None:
    body = ["MIIEowIBAAKCAQEA" + "b3Zk" * 12, "Qm9vZ2ll" * 8, "Zm9vYmFy" * 8]
    remember(body[1])
    block = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"])
    assert not [line for line in body if line in redact(block)[0]]
    for spelled in (
        block.replace("\n", "\\n"),
        "\n".join(f"{at}: {line}" for at, line in enumerate(block.split("\n"))),
    ):
        assert not [line for line in body if line in redact(spelled)[0]], spelled


def test_a_text_that_was_harmless_is_looked_at_again_once_the_process_holds_a_key() -> None:
    text = (
        "what a step shows, " * 20
        + "violet-harbour-lantern is a plain word until somebody's key is that word"
    )
    assert redact(text) == redact(text) == (text, 0)
    remember("violet-harbour-lantern")
    assert redact(text) == (text.replace("violet-harbour-lantern", "[REDACTED:key]"), 1)


def test_no_shape_of_a_long_word_spans_a_quotation_mark_or_a_blank() -> None:
    # Where one stands, the search for the shapes ends.
    assert not [
        kind for kind, shape in LONG_WORDS.items() if re.search(r'["\s]|\[\^|\.[*+{]|\\[sSWDnt]', shape)
    ]


@every(("kind", "secret"), SECRETS)
def test_a_known_form_is_found_behind_a_blank_and_behind_an_escape_that_is_written_out(
    kind: str, secret: str
) -> None:
    for before in ("a ", "a\t", "a\n", "a\\n", "\\u000a", "\x1b[31m", '"'):
        assert redact(f"{before}{secret}\n") == (f"{before}[REDACTED:{kind}]\n", 1)


@every(("kind", "secret"), SECRETS)
def test_a_known_form_is_found_between_quotation_marks_and_beside_hashes(kind: str, secret: str) -> None:
    digest = "5f16b7b2a9cbe3d1" * 4
    line = f'["{digest}","{{}}","{digest}"]'
    assert redact(line.format(secret)) == (line.format(f"[REDACTED:{kind}]"), 1)


def test_a_secret_in_a_value_is_found_in_a_long_text_and_behind_a_name_that_tells() -> None:
    token, filler = "ghp_" + "a1B2" * 9, "what a step shows, " * 40
    assert clean({"text": f"{filler}{token}"}) == {"text": f"{filler}[REDACTED:github_token]"}
    assert clean([filler, {"deep": [filler, f"{token} {filler}"]}]) == [
        filler,
        {"deep": [filler, f"[REDACTED:github_token] {filler}"]},
    ]
    assert clean({"password": "tr0ub4dor&3x", "text": filler}) == {
        "password": "[REDACTED:secret]",
        "text": filler,
    }
    assert clean_words({"password": "tr0ub4dor&3x", "text": token}) == {
        "password": "[REDACTED:secret]",
        "text": "[REDACTED:github_token]",
    }
    value: Json = {"text": filler, "more": [filler, "short"]}
    assert clean(value) is value
