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
    ("huggingface_token", "hf_" + "abcdefghijklmnopqrstuvwxyz" + "ABCDEF"),
    ("docker_token", "dckr_pat_" + "abcdefghijklmnop"),
    ("stripe_key", "sk_live_" + "51Habcdefghijklmnop"),
    ("github_token", "ghu_" + "a" * 36),
    ("google_key", "AIzaSyA-" + "1234567890abcdefghijklmnopqrstuv"),
    ("openai_key", "sk-proj-" + "AbCdEf0123456789" * 2 + "_xyz-1"),
    ("sendgrid_key", "SG." + RANDOM[:22] + "." + RANDOM + "xyz"),
    ("vault_token", "hvs." + RANDOM),
    ("age_key", "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2),
    ("service_token", "dop_v1_" + "0123456789abcdef" * 4),
    ("service_token", "lin_api_" + RANDOM),
    ("service_token", "shpat_" + "0123456789abcdef" * 2),
    ("random", RANDOM),
    ("random", RANDOM[::-1]),
    ("random", "Zx8-" + RANDOM[:30] + "_q7"),
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
    ("the key is {}.", "random"),
    ("FOO={}", "random"),
    ("https://example.com/?key={}", "random"),
]
SHORT = [
    "password: {}",
    "db_password={}",
    "DB_PASSWORD={}\n",
    'DB_PASSWORD="{}"',
    "Passwd: '{}',",
    '{{"password": "{}", "user": "x"}}',
    "host=db password={} dbname=x",
    "mysql --password={}; true",
    "?user=a&password={}&next=b",
    "passphrase:   {}\nnext: 1",
    "export PGPASSWORD={}",
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
    "commit 7f3c2a9e0b1d4c5f6a7b8c9d0e1f2a3b4c5d6e7f",
    "AUTHOR=alice",
    '{"author":"bob","auth":"none","tokenizer":"bpe"}',
    "password = param12",
    "password = 'hunter2'",
    "connect(password='hunter2')",
    "login(user, password=passwd2)",
    "login(password=field3, user=x)",
    "password: str = field(default='')",
    "password1 = forms.CharField()",
    '"password": "password123"',
    'client.login(password="test1234")',
    "passwd: sha512",
    "pwd=/srv/app2",
    "password={{ vault_db_2 }}",
    "password=$DB_PASS_2",
    "git_token_v2_helper",
    "registerHTTP2ConnectionPoolForUser42AndTenant7",
    "test_that_the_2nd_IPv6_Address_of_an_HTTP2_Server_is_Used",
    "src/main/java/com/example/App2Server3Factory4Bean.java",
    "SGVsbG8gV29ybGQhIFRoaXMgaXMgYSB0ZXN0IGZvciB0aGUgMXN0",
    "h1:aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9f=",
    "sha512-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d",
    '"integrity": "sha512-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d=="',
    "01ARZ3NDEKTSV4RRFFQ69G5FAV01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "2024-11-16T02:08:28.123456+00:00",
    "Python-3.12.1-1.el9.x86_64-linux-gnu-gcc-13.2.0",
    "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7daB3dE5fG7hJ9kL1mN3pQ5rS7\nzA5bC7daB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7daB3dE5fG7hJ9k+/==",
    "xai-grok-2-latest-with-a-rather-long-name",
    "gsk_some_function_of_glib_version_2",
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
def test_a_known_form_is_replaced_and_its_surroundings_stay(kind: str, secret: str) -> None:
    assert redact(f"before {secret}\nafter") == (f"before [REDACTED:{kind}]\nafter", 1)


@pytest.mark.parametrize(("line", "kind"), NAMED)
def test_a_random_value_goes_when_its_name_says_that_it_is_secret(line: str, kind: str) -> None:
    assert redact(line.format(RANDOM)) == (line.format(f"[REDACTED:{kind}]"), 1)


@pytest.mark.parametrize("line", SHORT)
def test_a_short_password_goes_where_it_stands_as_one(line: str) -> None:
    assert redact(line.format("hunter2")) == (line.format("[REDACTED:password]"), 1)


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
        text = unit * (length // len(unit))
        started = time.perf_counter()
        redact(text)
        return time.perf_counter() - started

    cost(1000)
    small = min(cost(50_000) for _ in range(3))
    assert cost(500_000) < 60 * small + 0.1
