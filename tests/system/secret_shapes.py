"""Made-up secrets of every shape that we know, and the places where text holds one. Put together here so that no
scanner trips over this file; none was ever valid.
"""

import base64
import json
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import quote

_LETTERS = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5mN7pQ9rS1tU3vW5xY7zA9bC1dE3fG5hJ7"
_HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" * 3
_UUID = "3b241101-e2bb-4255-8caf-4136c566a962"
_CHANCE = "vQx9UDFNBzKChaEzsKkfHQSGHFEQNAXnoaUK2SIyxzDvppeIqoHloMrBywelKtiurlWMmaKRfemq7zWJBotqXpLdwRsC"
_UPPER = "Q7ZR9X8GF2TVDW0S3JN54KHCE6MUA7LPQ2W4E6R8T0Y1U3I5O7A9S2D4F6G8H1J3K5"


def _a(length: int) -> str:
    return (_LETTERS * 4)[:length]


def _c(length: int) -> str:
    """As chance has it: with few digits, and far from each other."""
    return (_CHANCE * 3)[:length]


def _h(length: int) -> str:
    return _HEX[:length]


def _u(length: int) -> str:
    return _UPPER[:length]


def _pem(kind: str) -> str:
    lines = "\n".join((_a(40) + "+/" + _a(22))[at % 7 :] for at in range(5))
    return f"-----BEGIN {kind}PRIVATE " + f"KEY-----\n{lines}\nabc=\n-----END {kind}PRIVATE KEY-----"


def _spelled(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


PEM = _pem("RSA ")
NUMBERED = "\n".join(f"{number:>4} | {line}" for number, line in enumerate(PEM.splitlines(), 1))

# Each is known by itself, wherever it stands. The second text, if any, is the part that must not be seen.
TOKENS = {
    # With few digits among many letters, as chance gives it now and then.
    "linear, few digits": f"lin_api_{_CHANCE[:40]}",
    "groq, few digits": f"gsk_{_CHANCE[:52]}",
    "xai, few digits": f"xai-{_CHANCE[:80]}",
    "perplexity, few digits": f"pplx-{_CHANCE[:48]}",
    "tailscale, named": f"tskey-auth-{_CHANCE[:12]}CNTRL-{_CHANCE[:32]}",
    "vercel blob": f"vercel_blob_rw_{_CHANCE[:16]}_{_CHANCE[:30]}",
    "scalingo": f"tk-us-{_CHANCE[:48]}",
    "teams, whole": f"webhookb2/{_UUID}@{_UUID}/IncomingWebhook/{_HEX[:32]}/{_UUID}",
    "circleci, personal": f"CCIPAT_{_CHANCE[:22]}_{_HEX[:40]}",
    "buildkite, agent": f"bkpt_{_HEX[:40]}",
    "duffel, live": f"duffel_live_{_CHANCE[:43]}",
    "one password service": f"ops_eyJ{_CHANCE[:80]}",
    "aws": "AKIA" + _u(16),
    "aws session": "ASIA" + _u(16),
    "aws bedrock": "ABSK" + _a(110),
    "alibaba": "LTAI" + _a(20),
    "tencent": "AKID" + _a(32),
    "yandex": "AQVN" + _a(36),
    "google api": "AIza" + _a(35),
    "google oauth": "ya29." + _a(60),
    "google client": "GOCSPX-" + _a(28),
    "google refresh": "1//0" + _a(60),
    "azure client": "abc8" + "Q~" + _a(34),
    "azure devops": _a(76) + "AZDO" + _a(4),
    "ibm": "ApiKey-" + _UUID,
    "scaleway": "SCW" + _u(17),
    "cloudflare origin": "v1.0-" + _h(24) + "-" + _h(146),
    "heroku": "HRKU-" + _a(60),
    "netlify": "nfp_" + _a(36),
    "vercel": "vcp_" + _a(40),
    "render": "rnd_" + _a(32),
    "planetscale": "pscale_tkn_" + _a(43),
    "supabase": "sbp_" + _h(40),
    "supabase secret": "sb_secret_" + _a(31),
    "neon": "napi_" + _a(60),
    "digitalocean": "dop_v1_" + _h(64),
    "terraform": _a(14) + ".atlasv1." + _a(67),
    "pulumi": "pul-" + _h(40),
    "doppler": "dp.pt." + _a(43),
    "doppler service": "dp.st.prd." + _a(43),
    "infisical": "st." + _h(24) + "." + _h(32) + "." + _h(32),
    "vault": "hvs." + _a(90),
    "vault old": "s." + _a(24),
    "databricks": "dapi" + _h(32) + "-2",
    "fly": "fm2_" + _a(100),
    "github classic": "ghp_" + _a(36),
    "github oauth": "gho_" + _a(36),
    "github app": "ghs_" + _a(36),
    "github refresh": "ghr_" + _a(76),
    "github fine": "github_pat_" + _a(22) + "_" + _a(59),
    "gitlab": "glpat-" + _a(20),
    "gitlab routable": "glpat-" + _a(27) + ".0" + _a(8),
    "gitlab trigger": "glptt-" + _h(40),
    "gitlab runner": "glrt-" + _a(20),
    "gitlab registration": "GR1348941" + _a(20),
    "gitlab oauth": "gloas-" + _h(64),
    "bitbucket": "ATBB" + _a(32),
    "atlassian": "ATATT3" + _a(180),
    "buildkite": "bkua_" + _h(40),
    "circleci": "CCIPAT_" + _a(22) + "_" + _h(40),
    "npm": "npm_" + _a(36),
    "pypi": "pypi-AgE" + "IcHlwaS5vcmc" + _a(80),
    "rubygems": "rubygems_" + _h(48),
    "crates": "cio" + _a(32),
    "nuget": "oy2" + _a(43).lower(),
    "clojars": "CLOJARS_" + _h(60),
    "docker": "dckr_pat_" + _a(27),
    "docker organisation": "dckr_oat_" + _a(32),
    "artifactory": "AKCp" + _a(69),
    "artifactory reference": "cmVmdGtu" + _a(56),
    "packagist": "packagist_uut_" + _h(68),
    "sonar": "sqp_" + _h(40),
    "sourcegraph": "sgp_" + _h(40),
    "sentry": "sntrys_" + _a(100),
    "sentry user": "sntryu_" + _h(64),
    "octopus": "API-" + _u(28),
    "launchdarkly": "sdk-" + _UUID,
    "prefect": "pnu_" + _a(36),
    "infracost": "ico-" + _a(32),
    "ngrok": "2" + _a(26) + "_5" + _a(20),
    "grafana service": "glsa_" + _a(32) + "_" + _h(8),
    "grafana cloud": "glc_" + _a(80),
    "newrelic user": "NRAK-" + _u(27),
    "newrelic insert": "NRII-" + _a(32),
    "newrelic license": _h(36) + "NRAL",
    "dynatrace": "dt0c01." + _u(24) + "." + (_u(64)),
    "honeycomb": "hcaik_" + _a(26).lower() + _a(32),
    "logfire": "pylf_v1_us_" + _a(43),
    "posthog": "phx_" + _a(43),
    "openai": "sk-" + _a(48),
    "openai project": "sk-proj-" + _a(60),
    "anthropic": "sk-ant-" + "api03-" + _a(90),
    "openrouter": "sk-or-v1-" + _h(64),
    "deepseek": "sk-" + _h(32),
    "elevenlabs": "sk_" + _h(48),
    "langfuse": "sk-lf-" + _UUID,
    "langsmith": "lsv2_pt_" + _h(32) + "_" + _h(10),
    "groq": "gsk_" + _a(52),
    "perplexity": "pplx-" + _a(48),
    "xai": "xai-" + _a(80),
    "cerebras": "csk-" + _a(48).lower(),
    "replicate": "r8_" + _a(37),
    "fireworks": "fw_" + _a(24),
    "nvidia": "nvapi-" + _a(64),
    "huggingface": "hf_" + _a(34),
    "voyage": "pa-" + _a(43),
    "jina": "jina_" + _h(32) + _a(28),
    "tavily": "tvly-dev-" + _a(32),
    "pinecone": "pcsk_" + _a(6) + "_" + _a(63),
    "anyscale": "esecret_" + _a(26),
    "zhipu": _h(32) + "." + _a(16),
    "slack bot": "xoxb-" + "123456789012-1234567890123-" + _a(24),
    "slack user": "xoxp-" + "123456789012-123456789012-" + _h(32),
    "slack refresh": "xoxe-" + "1-" + _a(60),
    "slack app": "xapp-1-" + _u(11) + "-1234567890123-" + _h(64),
    "slack webhook": "https://hooks.slack.com/" + "services/T0A1B2C3D/B0A1B2C3D/" + _a(24),
    "discord bot": "MTA" + _a(23) + "." + _a(6) + "." + _a(38),
    "discord webhook": "https://discord.com/" + "api/webhooks/123456789012345678/" + _a(68),
    "telegram": "123456789:AA" + _a(33),
    "twilio": "SK" + _h(32),
    "sendgrid": "SG." + _a(22) + "." + _a(43),
    "mailgun": "key-" + _h(32),
    "mailgun new": _h(32) + "-" + _h(8) + "-" + _h(8),
    "mailchimp": _h(32) + "-us12",
    "mailersend": "mlsn." + _h(64),
    "brevo": "xkeysib-" + _h(64) + "-" + _a(16),
    "resend": "re_" + _a(8) + "_" + _a(24),
    "twitter": "A" * 21 + "%2FAAAA" + _a(60),
    "facebook": "EAA" + _a(100),
    "stripe": "sk_live_" + _a(24),
    "stripe restricted": "rk_live_" + _a(24),
    "stripe webhook": "whsec_" + _a(32),
    "square": "sq0atp-" + _a(22),
    "square new": "EAAA" + _a(60),
    "paypal": "access_token$production$" + _a(16).lower() + "$" + _h(32),
    "shopify": "shpat_" + _h(32),
    "shopify secret": "shpss_" + _h(32),
    "easypost": "EZAK" + _a(54),
    "flutterwave": "FLWSECK-" + _a(32) + "-X",
    "razorpay": "rzp_live_" + _a(14),
    "shippo": "shippo_live_" + _h(40),
    "duffel": "duffel_live_" + _a(43),
    "plaid": "access-production-" + _UUID,
    "airtable": "pat" + _a(14) + "." + _h(64),
    "asana": "1/1234567890123456:" + _h(32),
    "linear": "lin_api_" + _a(40),
    "linear oauth": "lin_oauth_" + _h(64),
    "notion": "secret_" + _a(43),
    "notion new": "ntn_" + _a(46),
    "figma": "figd_" + _a(40),
    "figma, few digits": "figd_DxYYMfGmzWkpAePcEJIukB4geqNfngAFTCloiADN",
    "newrelic, few digits": "NRAK-8EYGPNNHCCFS4GIGNSUV1QBWQSD",
    "trello": "ATTA" + _h(64),
    "typeform": "tfp_" + _a(44),
    "contentful": "CFPAT-" + _a(43),
    "hubspot": "pat-na1-" + _UUID,
    "dropbox": "sl." + _a(120),
    "postman": "PMAK-" + _h(24) + "-" + _h(34),
    "readme": "rdme_" + _h(60),
    "wakatime": "waka_" + _UUID,
    "adafruit": "aio_" + _a(28),
    "mapbox": "sk." + "eyJ" + _a(60) + "." + _a(22),
    "tailscale": "tskey-auth-" + _a(12) + "-" + _a(32),
    "age": "AGE-SECRET-KEY-1" + _u(58),
    "onepassword": "ops_eyJ" + _a(120),
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + _a(43),
    "jwe": "eyJhbGciOiJSU0EtT0FFUCJ9." + _a(120) + "." + _a(16) + "." + _a(60) + "." + _a(22),
    "fernet key": "q" + _a(20) + "-" + _a(20) + "8=",
    "fernet token": "gAAAAA" + "B" + _a(120) + "==",
    "random": _a(40),
    "anthropic subscription": "sk-ant-oat01-" + _c(86),
    "openai service": "sk-svcacct-" + _c(70),
    "random, few digits": "OdgTDxEvDBlLbGpwBkjrFqXP9DjKBljEONGCMtYv",
    "openai session": "sess-" + _c(40),
    "together": "tgp_v1_" + _c(43),
    "gemini": "AQ.Ab8" + _c(46),
    "firecrawl": "fc-" + _h(32),
    "brave": "BSA" + _c(28),
    "e2b": "e2b_" + _h(40),
    "daytona": "dtn_" + _h(64),
    "modal": "as-" + _c(22),
    "composio": "ak_" + _c(20),
    "browserbase": "bb_live_" + _c(26),
    "llamacloud": "llx-" + _c(48),
    "helicone": "sk-helicone-wle0dps-dli9rkq-rwk5xi8-7lqfoqc",
    "cursor": "crsr_" + _h(64),
    "runway": "key_" + _h(128),
    "stytch": "secret-live-" + _c(34) + "=",
    "neon password": "npg_" + _c(12),
    "xata": "xau_" + _c(38),
    "deno": "ddp_" + _c(36),
    "jsr": "jsrd_" + _c(40),
    "depot": "depot_project_" + _h(64),
    "trigger": "tr_prod_" + _c(20),
    "inngest": "signkey-prod-" + _h(64),
    "svix": "testsk_" + _c(32) + ".us",
    "axiom": "xaat-" + _UUID,
    "statsig": "secret-" + _c(43),
    "launchdarkly api": "api-" + _UUID,
    "paddle": "pdl_live_apikey_" + _c(26).lower() + "_" + _c(22) + "_" + _c(3),
    "mollie": "live_" + _c(30),
    "clickup": "pk_27817571_" + _u(32),
    "canva": "cnvca" + _c(43),
    "shopify user": "shpua_" + _h(32),
    "swarm": "SWMTKN-1-" + _c(50).lower() + "-" + _c(25).lower(),
    "k3s": "K10" + _h(64) + "::server:" + _h(32),
    "bitwarden": "0." + _UUID + "." + _c(30) + ":bgfDAVyqdFfpjH1bEH5USg==",
    "nostr": "nsec1f3ptykaljlm4lznry0d09te3sgrw4t70dlrmz6rhdypuprtux6j23x7s0r",
    "socket": "sktsec_" + _c(40) + "_api",
    "stackhawk": "hawk." + _c(20) + "." + _c(20),
    "paseto": "v4.local." + _c(90),
    "telegram address": "https://api.telegram.org/bot123456789:AA" + _c(33) + "/sendMessage",
    "google oauth of a service": "ya29.c." + _a(120),
    "aws session token": "IQoJb3JpZ2luX2Vj" + _c(300),
    "aws session token, older": "FwoGZXIvYXdzE" + _c(280) + "==",
    "age, of two kinds": "AGE-SECRET-KEY-PQ-1" + _u(58),
    "azure cognitive": _c(52) + "JQQJ99" + _u(2) + "ACYeBjFXJ3w3AAABACOG" + _a(4),
    "lambda": "secret_" + _a(20) + "_" + _h(32) + "." + _a(32),
    "convex": "prod:happy-animal-123|" + _c(80) + "==",
    "google hmac": "GOOG1" + _u(56),
    "firebase": "AAAA" + _c(7) + ":APA91b" + _c(134),
    "exoscale": "EXO" + _h(24),
    "porkbun": "sk1_" + _h(64),
    "twitch": "oauth:" + _a(30).lower(),
    "instagram": "IGAA" + _c(150),
    "linkedin": "AQX" + _c(170),
    "minisign": "RWRTY0Iy" + _c(204),
    "intercom": "dG9rO" + _c(54) + "=",
    "runpod": "rpa_" + _u(42) + _a(6).lower(),
    "datadog": "ddpat_" + _c(40),
    "mongodb atlas": "mdb_sa_sk_" + _c(40),
    "unkey": "unkey_" + _a(22),
    "pagerduty": "u+" + _a(18),
    "amazon signature": "X-Amz-Signature=" + _h(64),
    "settings in base64": _spelled(f"DEBUG=1\nSTRIPE_KEY=sk_live_{_a(24)}\n"),
    "settings in base64, twice": _spelled(_spelled(f"DB_PASSWORD={_a(16)}\n")),
}  # fmt: skip

# Over many lines, whole, cut or with numbers.
BLOCKS = {
    "pem": PEM,
    "pem of pkcs8": _pem(""),
    "pem of openssh": _pem("OPENSSH "),
    "pem of pgp": _pem("PGP ").replace("KEY-----", "KEY BLOCK-----"),
    "pem with numbers": NUMBERED,
    "pem of grep": "\n".join(f"certs/key.pem:{number}:{line}" for number, line in enumerate(PEM.splitlines(), 1)),
    "pem of a container": "\n".join(f"web_1  | {line}" for line in PEM.splitlines()),
    "pem in a diff": "\n".join(f"-{line}" for line in PEM.splitlines()),
    "pem in source": "\n".join(f'    "{line}\\n"' for line in PEM.splitlines()),
    "pem cut": PEM[:200],
    "tail of a pem": PEM[150:],
    "tail with numbers": NUMBERED[170:],
    "openssh without its head": "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n" + _a(70) + "\n" + _a(64),
    "rsa without its head": "MIIEowIBAAKCAQEA" + _a(48) + "\n" + _a(64) + "\n" + _a(64),
    "pem in base64": _spelled(_pem("EC ")),
    "settings in base64, lines": "\n".join(_spelled(f"A=1\nTOKEN={_a(40)}\nB={'x' * 60}\n")[at : at + 64] for at in (0, 64, 128)),
    "putty": "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPublic-Lines: 1\nAAAAC3Nz\nPrivate-Lines: 2\n"
    + _a(64) + "\n" + _a(20) + "\nPrivate-MAC: " + _h(64),
}  # fmt: skip

_PASSWORD = "g7Kw2x-Zp9q"
_BASIC = base64.b64encode(b"ada:" + _PASSWORD.encode()).decode()


class Placed(NamedTuple):
    """A line that holds a secret which only its surroundings tell, and the part that must go."""

    line: str
    secret: str


PLACED = {
    "url": Placed(f"postgres://ada:{_PASSWORD}@db.example.com/x", _PASSWORD),
    "url, percent": Placed("postgres://ada:p%40ss%2Fw0rd%21x@db.example.com/x", "p%40ss%2Fw0rd%21x"),
    "url without a user": Placed(f"redis://:{_PASSWORD}@cache:6379/0", _PASSWORD),
    "url, token": Placed(f"https://{_a(30)}@git.example.com/x.git", _a(30)),
    "httpie": Placed(f"http -a ada:{_PASSWORD} https://example.com", _PASSWORD),
    "smbclient": Placed(f"smbclient -U ada%{_PASSWORD} //host/share", _PASSWORD),
    "poetry": Placed(f"poetry config http-basic.corp ada {_PASSWORD}", _PASSWORD),
    "yarn ident": Placed(f'npmAuthIdent: "ada:{_PASSWORD}"', _PASSWORD),
    "odbc, braces": Placed(f"Driver=x;UID=sa;PWD={{{_PASSWORD}}};", _PASSWORD),
    "an id that is a key": Placed(f"SCW_SECRET_KEY={_UUID}", _UUID),
    "an id that is a private key": Placed(f"MONGODB_ATLAS_PRIVATE_KEY={_UUID}", _UUID),
    "an id in a header": Placed(f"X-Postmark-Server-Token: {_UUID}", _UUID),
    "wireguard, slash": Placed("PrivateKey = /4TT7lGaOTQ+BnaC0+cNCPY7Z/iFj7RfKPIrvSDLD4w=", "/4TT7lGaOTQ+BnaC0+cNCPY7Z"),
    "curl -u": Placed(f"curl -s -u ada:{_PASSWORD} https://example.com", _PASSWORD),
    "curl --user": Placed(f"curl --user 'ada:{_PASSWORD}' https://example.com", _PASSWORD),
    "curl, joined": Placed(f"curl -uada:{_PASSWORD} https://example.com", _PASSWORD),
    "curl, words": Placed(f"['curl', '-u', 'ada:{_PASSWORD}']", _PASSWORD),
    "mysql": Placed(f"mysqldump -h db -p{_PASSWORD} shop", _PASSWORD),
    "docker login": Placed(f"docker login -u ada -p {_PASSWORD} registry.example.com", _PASSWORD),
    "sshpass": Placed(f"sshpass -p {_PASSWORD} ssh ada@host", _PASSWORD),
    "redis-cli": Placed(f"redis-cli -h cache -a {_PASSWORD} ping", _PASSWORD),
    "openssl": Placed(f"openssl rsa -in k.pem -passin pass:{_PASSWORD}", _PASSWORD),
    "option": Placed(f"tool --password {_PASSWORD} --verbose", _PASSWORD),
    "netrc": Placed(f"machine example.com login ada password {_PASSWORD}", _PASSWORD),
    "netrc, lines": Placed(f"machine example.com\n  login ada\n  password {_PASSWORD}", _PASSWORD),
    "pgpass": Placed(f"db.example.com:5432:shop:ada:{_PASSWORD}", _PASSWORD),
    "pgpass, stars": Placed(f"*:*:*:ada:{_PASSWORD}", _PASSWORD),
    "docker auth": Placed(f'{{"auths": {{"registry.example.com": {{"auth": "{_BASIC}"}}}}}}', _BASIC),
    "npm _auth": Placed(f"//registry.example.com/:_auth={_BASIC}", _BASIC),
    "npm _auth, blanks": Placed(f'_auth = "{_BASIC}"', _BASIC),
    "npm _authToken": Placed(f"//registry.npmjs.org/:_authToken={_UUID}", _UUID),
    "npm _password": Placed("//registry.example.com/:_password=ZzdLdzJ4LVpwOXE=", "ZzdLdzJ4LVpwOXE"),
    "basic": Placed(f"Authorization: Basic {_BASIC}", _BASIC),
    "bearer": Placed(f"Authorization: Bearer {_a(24)}", _a(24)),
    "bearer alone": Placed(f"sent Bearer {_h(40)} to the server", _h(40)),
    "header x-api-key": Placed(f"X-Api-Key: {_h(32)}", _h(32)),
    "header private-token": Placed(f"PRIVATE-TOKEN: {_a(20)}", _a(20)),
    "cookie": Placed(f"Cookie: lang=de; sessionid={_a(32).lower()}; a=b", _a(32).lower()),
    "set-cookie": Placed(f"Set-Cookie: PHPSESSID={_h(26)}; Path=/", _h(26)),
    "smtp": Placed(f"AUTH PLAIN {_BASIC}", _BASIC),
    "sql": Placed(f"CREATE USER ada WITH PASSWORD '{_PASSWORD}'", _PASSWORD),
    "sql, mysql": Placed(f"GRANT ALL ON x TO ada IDENTIFIED BY '{_PASSWORD}'", _PASSWORD),
    "maven": Placed(f"<server><password>{_PASSWORD}</password></server>", _PASSWORD),
    "jdbc": Placed(f"jdbc:sqlserver://db;user=ada;password={_PASSWORD};encrypt=true", _PASSWORD),
    "odbc": Placed(f"Server=db;Uid=ada;Pwd={_PASSWORD};", _PASSWORD),
    "azure storage": Placed(f"AccountName=x;AccountKey={_a(40)}+/{_a(44)}==;Endpoint=y", _a(40) + "+/"),
    "azure sas": Placed(f"https://x.blob.core.windows.net/c?sv=1&sig={_a(43)}%3D", _a(43)),
    "aws secret": Placed(f"aws_secret_access_key = {_a(20)}/{_a(19)}", _a(20) + "/"),
    "quoted, no blanks": Placed(f'API_KEY="{_a(20)}"', _a(20)),
    "quoted, blanks": Placed(f'api_key   =   "{_a(20)}"', _a(20)),
    "quoted, upper, blanks": Placed(f'DB_PASSWORD = "{_PASSWORD}"', _PASSWORD),
    "quoted with blanks in it": Placed('password = "Tr0ub4dor and 3 horses"', "Tr0ub4dor"),
    "yaml secret": Placed("  password: ZzdLdzJ4LVpwOXE=\n", "ZzdLdzJ4LVpwOXE"),
    "wireguard": Placed(f"PrivateKey = {_a(43)}=", _a(43)),
    "fernet call": Placed(f'Fernet(b"{_a(43)}=")', _a(43)),
    "snyk variable": Placed(f"SNYK_TOKEN={_UUID}", _UUID),
    "rails": Placed(f"secret_key_base: {_h(128)}", _h(128)),
    "laravel": Placed(f"APP_KEY=base64:{_a(43)}=", _a(43)),
    "ansible": Placed(f"ansible_become_pass: {_PASSWORD}\n", _PASSWORD),
    "php": Placed(f"define('DB_PASSWORD', '{_PASSWORD}');", _PASSWORD),
    "in a page": Placed(f"<p>PrivateKey = {_a(43)}=</p>", _a(43)),
    "export in a page": Placed(f"<code>export STRIPE_SECRET={_a(30)}</code>", _a(30)),
    "no digit": Placed('client(api_key="hYQFnyWcDixFmztkdbHKZNVgudyVnoym")', "hYQFnyWcDixFmztkdbHKZNVgudyVnoym"),
    "yaml, below": Placed("password: >-\n  ZF24yd05CZ4daIE5m4\nx: y", "ZF24yd05CZ4daIE5m4"),
    "element": Placed(f"<ClearTextPassword>{_PASSWORD}</ClearTextPassword>", _PASSWORD),
    "attribute": Placed(f'<add key="DbPassword" value="{_PASSWORD}" />', _PASSWORD),
    "terraform": Placed(f'variable "db_password" {{ default = "{_PASSWORD}" }}', _PASSWORD),
    "dockerfile": Placed("ENV API_TOKEN " + _c(24), _c(24)),
    "fish": Placed("set -gx API_TOKEN " + _c(24), _c(24)),
    "openssl -k": Placed(f"openssl enc -aes-256-cbc -k {_PASSWORD} -in x", _PASSWORD),
    "seed phrase": Placed("mnemonic: abandon ability able about above absent absorb abstract absurd abuse access accident", "abuse access accident"),
    "jwk": Placed('{"kty":"EC","d":"' + _c(43) + '","x":"y"}', _c(43)),
    "vendor's key": Placed(f'deepgram_key = "{_h(40)}"', _h(40)),
    "aws secret, slash first": Placed("aws_secret_access_key = /YhWC/aYuoRBanrDfuIFoUPe8XaXoF8TC+dbv1df", "XoF8TC+dbv1df"),
    "heroku variable": Placed(f"HEROKU_API_KEY={_UUID}", _UUID),
}  # fmt: skip


def _in_url(secret: str) -> str:
    return secret if ":" in secret else quote(secret)


CONTEXTS: dict[str, Callable[[str], str]] = {
    "env line": lambda secret: f"VALUE={secret}\nOTHER=1\n",
    "json": lambda secret: json.dumps({"a": 1, "value": secret}),
    "yaml": lambda secret: "value: |\n  " + secret.replace("\n", "\n  ") + "\nother: 1\n",
    "source": lambda secret: f"VALUE = '''{secret}'''\n",
    "url": lambda secret: f"GET https://example.com/cb?v={_in_url(secret)}&x=1 HTTP/1.1",
    "log line": lambda secret: f"2026-01-02T03:04:05Z INFO [worker-1] got {secret}, going on\n",
    "diff line": lambda secret: "@@ -1 +1 @@\n" + "\n".join(f"+{line}" for line in f"x {secret}".splitlines()) + "\n y\n",
    "escaped": lambda secret: json.dumps(json.dumps({"log": f"a\n{secret}\n\tb"})),
    "escaped in source": lambda secret: f'text = "first\\n{secret}\\tlast\\u000a"',
    "numbered": lambda secret: "\n".join(f"{at:>6}\t{line}" for at, line in enumerate(f"a\n{secret}\nb".splitlines(), 9)),
    "coloured": lambda secret: f"\x1b[31m{secret}\x1b[0m",
}  # fmt: skip


def pieces(secret: str) -> tuple[str, ...]:
    """What of a secret may be found nowhere: of a block each of its long lines, of a token its last half."""
    if "\n" in secret:
        words = [word for word in secret.replace("\\n", " ").replace('"', " ").split() if len(word) >= 40]
        return tuple(word[-20:] for word in words if word.isascii() and not word.startswith("--"))
    return (secret[-max(8, len(secret) // 2) :],)


def everything() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every secret in every context: a name, the text, and what of it must go."""
    for name, secret in {**TOKENS, **BLOCKS}.items():
        for place, spell in CONTEXTS.items():
            if not (place == "url" and "\n" in secret):
                yield f"{name}, {place}", spell(secret), pieces(_in_url(secret) if place == "url" else secret)
    for name, placed in PLACED.items():
        for place in ("log line", "diff line", "yaml", "escaped", "numbered"):
            yield f"{name}, {place}", CONTEXTS[place](placed.line), pieces(placed.secret)
        yield name, placed.line, pieces(placed.secret)
