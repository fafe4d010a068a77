"""Every shape of a secret in every place where text holds one, and the everyday text beside it."""

import json
import time

from agentforge.core.reply import Json
from agentforge.system.secrets.redact import redact
from agentforge.system.secrets.stream import redact_stream
from agentforge.system.secrets.values import clean
from tests.depth import telling
from tests.rows import every
from tests.system.secret_shapes import BLOCKS, CONTEXTS, PEM, PLACED, TOKENS, everything, pieces


def test_there_are_enough_shapes_and_contexts() -> None:
    assert len({*TOKENS, *BLOCKS, *PLACED}) >= 200
    assert len(CONTEXTS) >= 8
    assert len({*TOKENS.values(), *BLOCKS.values()}) == len(TOKENS) + len(BLOCKS)


def test_no_shape_is_left_in_any_context() -> None:
    left = [
        name
        for name, text, secret in everything()
        if any(piece in redact(text)[0] for piece in secret) or not all(piece in text for piece in secret)
    ]
    assert left == []


@every("between", ["\n", "\nE       ", " ", "\\n", "', '"])
def test_neighbours_do_not_hide_one_another(between: str) -> None:
    blocks = BLOCKS.values() if "\n" in between else ()
    lines = [
        *TOKENS.values(),
        *blocks,
        *(placed.line for placed in PLACED.values() if "\n" not in placed.line),
    ]
    text = redact(between.join(line.replace("\n", between) for line in lines))[0]
    wanted = [*TOKENS.values(), *(placed.secret for placed in PLACED.values() if "\n" not in placed.line)]
    assert [part for secret in wanted for part in pieces(secret) if part in text] == []


def test_a_second_look_at_what_was_redacted_finds_nothing() -> None:
    for name, text, _ in telling(list(everything()), 300):
        once = redact(text)[0]
        assert redact(once) == (once, 0), name


@every(("name", "secret"), list({**TOKENS, **BLOCKS}.items()))
def test_a_shape_is_found_in_the_depth_of_a_value_and_in_its_names(name: str, secret: str) -> None:
    value: Json = {"a": ["x", {"text": f"got {secret}\nand", secret: 1}], "b": {"n": 1, "ok": True}}
    spelled = json.dumps(clean(value), ensure_ascii=False)
    assert not [piece for piece in pieces(secret) if piece in spelled], name


def test_a_value_is_secret_by_its_name_alone_and_one_without_secrets_is_the_same() -> None:
    assert clean({"db": {"password": "hunter2x"}, "n": 3}) == {
        "db": {"password": "[REDACTED:password]"},
        "n": 3,
    }
    plain: Json = {
        "status": "passed",
        "tree": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "rows": ["a::b[c-1]"],
    }
    assert clean(plain) is plain


@every(("name", "secret"), list(BLOCKS.items()))
def test_a_block_in_pieces_of_a_stream_is_found_wherever_it_is_cut(name: str, secret: str) -> None:
    text = f"first line\n{secret}\nlast line\n"
    for size in (1, 7, 64, 65):
        parts = [text[at : at + size] for at in range(0, len(text), size)]
        assert "".join(redact_stream(parts)) == redact(text)[0], (name, size)


EVERYDAY = [
    'checksum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
    "index 9f86d08..a3bf4f1 100644",
    "    --hash=sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 \\",
    '{"etag": "9f86d081884c7d659a2feaa0c55ad015", "id": "3b241101-e2bb-4255-8caf-4136c566a962"}',
    "request_id=3b241101-e2bb-4255-8caf-4136c566a962 status=200",
    '<img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==">',
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ4m8y1Gk1l2Hn3pQ5rS7tU9vW1wCgYIKoZIzj0EAwIw\nRTELMAkGA1UEBhMCQVUxEzARBgNVBAgMClNvbWUtU3RhdGUxITAfBgNVBAoMGElu\n-----END CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5mN7p ada@example.com",
    "import_path = 'github.com/example/project/v2/internal/http2/transport_test.go'",
    "assert response.headers['Authorization'] == f'Bearer {token}'",
    "def test_login_with_password_and_two_factor_code_2fa_v2(client): ...",
    "api_key = os.environ['OPENAI_API_KEY_V2']",
    "token: str | None = None",
    "password = getpass.getpass('Password: ')",
    "password = get_password_from_vault_v2(name)",
    "self.session_key = derive_session_key_v2_from_master(secret)",
    "client_secret = settings.OAUTH2_CLIENT_SECRET_2024",
    "primary_key=True, foreign_key='users_2024.id_of_the_user'",
    "public_key = 'ed25519-public-key-of-the-release-2024'",
    "sort_key: created_at_desc_then_id_asc_2",
    "curl -u $USER:$PASSWORD https://example.com",
    'curl --user "${API_USER}:${API_PASSWORD}" https://example.com',
    "docker run -p 8080:80 nginx:1.27.3-alpine3.20",
    "mkdir -p build/release2024/x86_64",
    "az group create -l westeurope2 -n shop",
    "machine learning login page password reset flow",
    "*:*:*:*:*",
    "10.0.0.1:5432:shop",
    "postgres://user:password@localhost:5432/db",
    "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    '"auth": "none"',
    "x-request-id: 9f86d081884c7d659a2feaa0c55ad015",
    "2026-01-02T03:04:05.123456Z worker-7f9c6b5d4-x2k8q started in 1234ms",
    "arn:aws:iam::123456789012:role/service-role/AWSLambdaBasicExecutionRole-2024",
    "gcr.io/project-123456/image@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "https://example.com/path?session=none&auth=false&sid=12",
    "sk-learn-compatible-estimator-wrapper-for-2d-arrays",
    "pat-of-the-day-2024 and app-server-01 and key-value-store-2",
    "the `secret_name_of_the_thing_v2` setting",
    "test_params[password-123-True]",
    "-----END RSA PRIVATE KEY----- is how it ends",
    'MARKER = "-----BEGIN PRIVATE KEY-----"',
    "0x742d35Cc6634C0532925a3b844Bc454e4438f44e".lower(),
    "CVE-2024-12345 GHSA-jfh8-c2jp-5v3q",
    '"resolved": "https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz"',
    '"integrity": "sha512-XI5MPzVNApjAyhQzphX8BkmKsKUxD4LdyK24iZeQGinBN9yTQT3bFlCBy/aVx2HrNcqQGsdot8ghrjyrvMCoEA=="',
    "golang.org/x/net v0.33.0 h1:74SYHlV8BIgHIFC/LrYkOGIwL19eTYXQ5wc6TBuO36I=",
    "Password must be at least 8 characters and have 2 digits.",
    'help="the password: 8 to 64 characters"',
    "IDENTIFIED BY 'password'",
    "<password>${env.DB_PASSWORD}</password>",
    "first_pass: analysis of the 2nd tree",
    "num_pass = count_pass_2",
    "define('WP_DEBUG', false); define('LANG', 'de_DE.utf8');",
    f"page_token: {'3b241101-e2bb-4255-8caf-4136c566a962'}",
    "fig_size_and_the_rest_of_a_long_name_of_2_figures",
    "Set-Cookie: lang=de; Path=/; Max-Age=31536000",
    "getUserByIdAndTokenFromRequestHeaderOrCookieV2Handler",
    "if(xmlSecTmplX509DataAddSubjectName(x509DataNode) == NULL) {",
    "password: 'MyCamelCasedFieldNameOfTheForm'",
    "AQpAAAPAXAACdEwAAFRIAADkXAADwEgAAChAAAHUSAACtEgAAghMAAE8UAAB/EAANEgAADBIAAC4TAACUEgAA0RMAAFoTAADNEQAAqBIAANsS/TcLAQEA",
    'variable "db_password" {\n  type    = string\n  default = "changeme-please"\n}',
    "mnemonic: a word that helps people remember the order of things in a list, such as this",
    "ENV TOKEN_URL https://auth.example.com/oauth2/token",
    "<token>IDENTIFIER</token><Password>String</Password>",
    "token: |\n  The token is described here, in words\n",
    '"narHash": "sha256-nG/A0Yq5t2L0pMrGzDW0Mk0mGzIFSp9YlgaKJJ2vUgE=",',
    "  checksum: 10c0/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "cGxhaW4gd29yZHMgd2l0aG91dCBhbnl0aGluZyBzZWNyZXQgYXQgYWxsLCBvbmx5IGxvbmc=",
    "prod:first-stage-12|another one",
    "u+200B and GOOGLE_APPLICATION_CREDENTIALS_JSON_2024",
    "def test_smb(client): smbclient -U ada //host/share",
    "ls -a a:b; tar -a -cf x.tar http https",
    "https --auth-type=bearer https://example.com",
    "EXPLAIN SELECT * FROM sk1_table_of_2024_and_more",
    "unkey_the_second_row_in_2024",
    "session_token = '3b241101-e2bb-4255-8caf-4136c566a962'",
    "deployment api-server-01 and sess-manager-with-a-long-name-for-2-users-and-more",
]  # fmt: skip


@every("text", EVERYDAY)
def test_everyday_text_stays_readable(text: str) -> None:
    assert redact(text) == (text, 0)
    assert redact(f"+{text}\n") == (f"+{text}\n", 0)


def test_a_diff_with_a_secret_keeps_everything_else() -> None:
    diff = f"--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n def f():\n-    return g('{TOKENS['github classic']}', 1)\n+    return g(key, 1)\n"
    assert redact(diff)[0] == diff.replace(TOKENS["github classic"], "[REDACTED:github_token]")


@every(
    "unit",
    [
        *("-----END RSA PRIVATE KEY-----", "MIIEowIBAA", "1\n", "A/", "-u a:", "curl -u ", "login a password ", "key="),
        *("a:5432:", "machine ", "session=", "Bearer ", "pat", "0.", "123456789:AA", "\\n", "%0A", "<password>", "MII\n"),
        *("aGVs", "aGVsbG8g\n", "QUFBQUFBQUFBQUFBQUFBQUFB ", 'secret" { default', "mnemonic: ", "password: |\n "),
        *('"auth":"', "docker -p ", "--password ", "Private-Lines: 1\n", "x" * 63 + "\n", "eyJ.", "9:", "AAAAA"),
    ],
)  # fmt: skip
def test_the_time_of_each_shape_grows_with_length_only(unit: str) -> None:
    def cost(length: int) -> float:
        text = unit * (length // len(unit))
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    small = min(cost(4000) for _ in range(2))
    assert min(cost(40_000) for _ in range(3)) < 60 * small + 0.05, unit


def test_a_hundred_keys_cost_no_more_than_their_length() -> None:
    text = "\n".join([PEM, PEM[150:], "plain"] * 100)
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 3
