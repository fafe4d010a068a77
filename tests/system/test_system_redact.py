"""Secrets go, ordinary text stays. The secrets are made up, and put together here so that no scanner trips over this file."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentforge.system.redact import redact

RANDOM = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"
PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + (RANDOM + "+/" + RANDOM[:22] + "\n") * 3 + "abc=\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + RANDOM

SECRETS = [
    ("aws_key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("github_token", "ghp_" + RANDOM),
    ("github_pat", "github_pat_" + RANDOM + "_" + RANDOM),
    ("gitlab_token", "glpat-" + RANDOM[:20]),
    ("slack_token", "xoxb-" + "123456789012-" + RANDOM),
    ("slack_webhook", "https://hooks.slack.com/" + "services/T00000000/B00000000/" + RANDOM[:24]),
    ("anthropic_key", "sk-ant-" + "api03-" + RANDOM),
    ("openai_key", "sk-" + RANDOM),
    ("openai_key", "sk-proj-" + RANDOM),
    ("google_key", "AIza" + RANDOM[:35]),
    ("stripe_key", "sk_live_" + RANDOM[:24]),
    ("registry_token", "npm_" + RANDOM),
    ("huggingface_token", "hf_" + RANDOM[:34]),
    ("private_key", PEM),
    ("private_key", PEM.replace("\n", "\\n")),
    ("jwt", JWT),
]
NAMED = [
    ("Authorization: Bearer {}", "authorization"),
    ('"Authorization": "Basic {}"', "authorization"),
    ("postgres://app:{}@db.example.com:5432/x", "url_password"),
    ('password = "{}"', "secret"),
    ("DB_PASSWORD='{}'", "secret"),
    ('{{"clientSecret": "{}"}}', "secret"),
    ('{{\\"api_key\\": \\"{}\\"}}', "secret"),
    ("AWS_SECRET_ACCESS_KEY={}", "secret"),
    ("token: {}\n", "secret"),
]
ORDINARY = [
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    'tree = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "123e4567-e89b-12d3-a456-426614174000",
    'secret_id = "123e4567-e89b-12d3-a456-426614174000"',
    "numpy==2.3.1rc4+cu128",
    'tokenizer = "Llama-3.1-8B-Instruct"',
    "max_tokens: 16000",
    "token = self.get_token_from_header1(request)",
    'token_url = "https://example.com/oauth2/v1/token"',
    'password = os.environ["DB_PASSWORD_2024_PROD"]',
    "password: correct-horse-battery-staple",
    '"Authorization": f"Bearer {token}"',
    '"Authorization": "Bearer test-token"',
    "postgres://user:password@localhost/db",
    "postgres://${USER}:${PASSWORD}@localhost/db",
    "http://localhost:8080/a@b",
    "sk-toggleable__content-fitted-long",
    "task-20240101-some-long-name-here-A1",
    'if text.startswith("-----BEGIN RSA PRIVATE KEY-----"): return parse_the_private_key(text)',
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "The secret: practice, every day, for 10000 hours.",
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
def test_a_known_form_is_replaced_and_its_surroundings_stay(kind: str, secret: str) -> None:
    assert redact(f"before {secret}\nafter") == (f"before [REDACTED:{kind}]\nafter", 1)


@pytest.mark.parametrize(("line", "kind"), NAMED)
def test_a_random_value_goes_when_its_name_says_that_it_is_secret(line: str, kind: str) -> None:
    assert redact(line.format(RANDOM)) == (line.format(f"[REDACTED:{kind}]"), 1)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == (text, 0)


def test_a_key_cut_off_before_its_end_goes_too() -> None:
    assert redact(PEM[:150] + "\n\ndef f(): pass") == ("[REDACTED:private_key]\n\ndef f(): pass", 1)


@given(
    st.lists(
        st.sampled_from(
            [*(s for _, s in SECRETS), *(n.format(RANDOM) for n, _ in NAMED), *ORDINARY, " ", "\n", '"', "-", "_", ":", "=", "@", "token="]
        ),
        max_size=8,
    )
)
@example([secret for _, secret in SECRETS])
def test_a_second_pass_changes_nothing(parts: list[str]) -> None:
    once, _ = redact("".join(parts))
    assert redact(once) == (once, 0)


@pytest.mark.parametrize(
    "unit",
    ["a", "A", " ", "sk-", "eyJ", "password=", "://a:", "authorization: ", 'token = "', "-----BEGIN PRIVATE KEY-----", "ghp_", "xox"],
)
def test_time_grows_with_length_only(unit: str) -> None:
    def cost(length: int) -> float:
        text = unit * (length // len(unit))
        started = time.perf_counter()
        redact(text)
        return time.perf_counter() - started

    cost(1000)
    small = min(cost(50_000) for _ in range(3))
    assert cost(500_000) < 60 * small + 0.1
