"""Each rule fires where it should, and stays silent on the safe way to do the same."""

from agentforge.languages.python.security import RULES
from agentforge.languages.security import SECRET, scan, secret_lines
from tests.rows import every

KEY = "ghp_" + "a1B2" * 9
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow" + "A1b2C3d4" * 8 + "\n-----END RSA PRIVATE KEY-----\n"

BAD = [
    ("eval(text)", "dynamic-code", "high"),
    ("exec(compile(x, '', 'exec'))", "dynamic-code", "high"),
    ("import subprocess as sp\nsp.run(line, shell=True)", "shell-line", "high"),
    ("from subprocess import Popen\nPopen(f'ls {x}', shell=flag)", "shell-line", "high"),
    ("import os\nos.system('rm ' + name)", "shell-line", "high"),
    ("import os\nos.system('ls')", "shell-line", "low"),
    ("import pickle\npickle.loads(data)", "unsafe-load", "high"),
    ("from yaml import load\nload(data)", "unsafe-load", "high"),
    ("import yaml\nyaml.load(data, Loader=yaml.FullLoader)", "unsafe-load", "high"),
    (
        "import hashlib\ndef f(password):\n    return hashlib.sha256(password).hexdigest()",
        "fast-hash",
        "high",
    ),
    ("import hashlib\npasswd_hash = hashlib.new('md5', data)", "fast-hash", "high"),
    ("import hashlib\nhashlib.md5(data)", "weak-hash", "low"),
    ("import tempfile\ntempfile.mktemp()", "temporary-name", "medium"),
    ("import requests\nrequests.get(url, verify=False)", "no-verify", "high"),
    ("import ssl\ncontext.verify_mode = ssl.CERT_NONE", "no-verify", "medium"),
    ("cursor.execute(f'SELECT * FROM t WHERE id = {x}')", "sql-format", "high"),
    ("cursor.execute('DELETE FROM t WHERE id = %s' % x)", "sql-format", "high"),
    ("cursor.execute('select * from t where id = ' + x)", "sql-format", "high"),
    ("query = 'UPDATE t SET a = {}'.format(x)", "sql-format", "medium"),
    ("query = 'SELECT * FROM ' + table", "sql-format", "medium"),
    ("def f(user):\n    assert user.is_admin", "assert-auth", "medium"),
    ("app.run(debug=True)", "debug-server", "medium"),
    ("bind('0.0.0.0')", "listen-everywhere", "low"),
    ("import random\ntoken = random.choice(letters)", "weak-random", "medium"),
    ("archive.extractall(place)", "archive-extract", "medium"),
    ("import os\nos.chmod(path, 0o777)", "wide-permission", "medium"),
    ("import jinja2\njinja2.Environment()", "no-autoescape", "medium"),
    ("client.set_missing_host_key_policy(paramiko.AutoAddPolicy())", "host-key", "medium"),
    ("db_password = 'hunter2'", "hard-coded-password", "medium"),
    ("connect(password='hunter2')", "hard-coded-password", "medium"),
    ("def f(token='abc123def'): ...", "hard-coded-password", "medium"),
    ("settings = {'api_key': 'abc123'}", "hard-coded-password", "medium"),
    ("if password == 'hunter2': pass", "hard-coded-password", "medium"),
    (f"GITHUB = '{KEY}'", "hard-coded-secret", "high"),
]

GOOD = [
    "import ast\nast.literal_eval(text)",
    "eval('1 + 1')",
    "model.eval()",
    "import subprocess\nsubprocess.run(['ls', name], shell=False)",
    "import json\njson.loads(data)",
    (
        "import yaml\nyaml.safe_load(data)\nyaml.load(data, Loader=yaml.SafeLoader)\nyaml.load(data, "
        "yaml.CSafeLoader)"
    ),
    "import hashlib\nhashlib.sha256(data)\nhashlib.md5(data, usedforsecurity=False)\nhashlib.scrypt(password)",
    "import requests\nrequests.get(url, verify=True)",
    "cursor.execute('SELECT * FROM t WHERE id = ?', (x,))",
    "cursor.execute('SELECT * FROM t ' + 'WHERE id = 1')",
    "print(f'Select {x} from the list')",
    "def f(a):\n    assert a is not None",
    "import random\nrandom.shuffle(cards)",
    "import secrets\ntoken = secrets.token_hex()",
    "archive.extractall(place, filter='data')",
    "import os\nos.chmod(path, 0o600)",
    (
        "password_field = 'password1'\ntoken = ''\npassword = os.environ['PASSWORD1']\ntoken_url = "
        "'https://example.org/t1'"
    ),
    "password = '${PASSWORD_1}'",
]


@every(("text", "rule", "severity"), BAD)
def test_a_dangerous_line_is_found(text: str, rule: str, severity: str) -> None:
    found = [each for each in scan(text, "a.py") if each.rule == rule]
    assert [(each.line, each.severity) for each in found] == [(text.count("\n") + 1, severity)]
    assert found[0].message
    assert found[0].advice


@every("text", GOOD)
def test_the_safe_way_is_silent(text: str) -> None:
    assert scan(text, "a.py") == ()


def test_every_rule_has_an_example() -> None:
    assert {rule for _, rule, _ in BAD} == {*RULES, SECRET}


def test_what_is_usual_in_tests_is_not_told_there_but_a_real_key_is() -> None:
    text = f"password = 'hunter2'\nassert user.is_admin\nkey = '{KEY}'\n"
    assert [each.rule for each in scan(text, "tests/test_a.py", is_test=True)] == ["hard-coded-secret"]


def test_other_files_are_searched_for_secrets_alone() -> None:
    assert [(each.line, each.rule) for each in scan(f"a: eval(x)\ntoken: {KEY}\n", "a.yaml")] == [
        (2, "hard-coded-secret")
    ]
    assert [each.line for each in scan(f"x = 1\nKEY = '''{PEM}'''\n", "a.py")] == [2]
    assert secret_lines("nothing here\n") == ()


def test_a_comment_cannot_silence_a_finding() -> None:
    assert [each.rule for each in scan("eval(text)  # nosec # noqa: S307\n", "a.py")] == ["dynamic-code"]


def test_a_key_is_one_finding_whatever_its_variable_is_called() -> None:
    assert [each.rule for each in scan(f"token = '{KEY}'\n", "a.py")] == ["hard-coded-secret"]


@every("text", ["def (:\n", "\0", "x = " + "(" * 3000 + "1" + ")" * 3000, "x = " + "-" * 50_000 + "1"])
def test_source_that_cannot_be_parsed_has_no_findings(text: str) -> None:
    assert scan(text, "a.py") == ()


def test_deeply_nested_source_is_walked() -> None:
    text = "x = " + " + ".join(["a"] * 800) + "\neval(x)\n"
    assert [each.line for each in scan(text, "a.py")] == [2]
