"""What a change is named for: each sort once, and beside it the honest change that is not named."""

from dataclasses import replace
from typing import Any

import pytest

from agentforge.gates.change.delicate import delicate_paths
from agentforge.gates.change.named import NamedCase, is_lock, named_flags
from agentforge.gates.change.words import is_words, not_words
from agentforge.gates.flags import Flag
from agentforge.languages.table import DEFAULT
from tests.gates.bench_of_judges import Site, make_site
from tests.rows import every

PYPROJECT = '[project]\nname = "shop"\nversion = "1"\ndependencies = ["attrs", "rich>=13"]\n\n[tool.ruff]\nline-length = 80\n'
SHOP = """\
def add(a, b=0):
    return a + b


class Till:
    def open(self, key):
        return key

    def _lock(self):
        pass
"""
FILES = {
    "pyproject.toml": PYPROJECT,
    "shop.py": SHOP,
    "run.sh": "ls\n",
    "tests/test_shop.py": "def test_it():\n    assert True\n",
    "setup.cfg": "[flake8]\nmax-line-length = 80\n\n[metadata]\nname = shop\n",
}
SPEC: dict[str, Any] = {"files_to_modify": ["shop.py"], "files_to_create": ["pkg/"]}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("named"), FILES)


def flags(site: Site, tree: str, **changes: Any) -> list[Flag]:  # noqa: ANN401  # fields of the case
    is_test = site.runner.is_test
    case = NamedCase(site.git, site.base, tree, is_test, DEFAULT, SPEC, {}, "Add two numbers")
    return named_flags(replace(case, **changes))


def told(site: Site, files: dict[str, str | None], **changes: Any) -> dict[str, str]:  # noqa: ANN401
    return {flag.about: flag.text for flag in flags(site, site.tree(files), **changes)}


def test_an_honest_change_of_what_the_specification_names_is_named_for_nothing(site: Site) -> None:
    assert (
        told(
            site,
            {
                "shop.py": SHOP.replace("a + b", "b + a").replace("(a, b=0)", "(a: int, b: int = 0) -> int")
                + "\n\ndef more(a):\n    return a\n",
                "pkg/new.py": "x = 1\n",
                "tests/test_more.py": "def test_it():\n    assert 1\n",
                "README.md": "Read me.\n",
                "uv.lock": "1\n",
            },
        )
        == {}
    )


def test_what_the_specification_does_not_name_is_named(site: Site) -> None:
    assert told(site, {"other.py": "x = 1\n", "data.json": "{}\n"}) == dict.fromkeys(
        ("data.json", "other.py"), "it is changed, and the specification does not name it"
    )
    many: dict[str, str | None] = {f"m{number:02d}.py": "x = 1\n" for number in range(30)}
    found = flags(site, site.tree(many))
    assert (len(found), found[-1].text[:13]) == (13, "18 more like:")


def test_ci_build_and_what_can_be_executed_or_leads_elsewhere_is_named(site: Site) -> None:
    spec = {"files_to_modify": [".github", "Makefile", "run.sh", "link"]}
    blob = site.git.hash_blob(b"ls\n")
    tree = site.git.overlay_tree(
        site.base,
        {
            ".github/workflows/ci.yml": ("100644", blob),
            "Makefile": ("100644", blob),
            "run.sh": ("100755", blob),
            "link": ("120000", blob),
        },
    )
    assert {flag.about: flag.text for flag in flags(site, tree, specification=spec)} == {
        ".github/workflows/ci.yml": "it runs where the project is built and tested, and is new",
        "Makefile": "it decides how the project is built, and is new; the build was not measured",
        "run.sh": "it can be executed now",
        "link": "it is a link, and is new",
    }


def test_other_settings_of_a_checker_are_ruled_on_unless_the_request_names_their_file(site: Site) -> None:
    looser = site.tree(
        {"pyproject.toml": PYPROJECT.replace("80", "200"), "setup.cfg": "[flake8]\nignore = E\n"}
    )
    found = {flag.about: flag for flag in flags(site, looser) if "settings of" in flag.text}
    assert found["pyproject.toml"].text.startswith("the settings of ruff are changed")
    assert (found["pyproject.toml"].ruling, found["setup.cfg"].ruling) == (True, True)
    asked = flags(site, looser, request="Raise line-length in pyproject.toml")
    assert [flag.about for flag in asked if flag.ruling] == ["setup.cfg"]
    other = told(site, {"pyproject.toml": PYPROJECT.replace('"1"', '"2"')})
    assert not any("settings of" in text for text in other.values())


def test_comments_that_silence_a_checker_are_counted_where_there_are_more(site: Site) -> None:
    silent = SHOP.replace("a + b", "a + b  # type: ignore").replace("return key", "return key  # noqa: E501")
    text = told(site, {"shop.py": silent})["shop.py"]
    assert text == "it silences checkers in more places than before: 1 of # type: ignore, 1 of # noqa"
    base = site.tree({"shop.py": silent})
    moved = site.tree({"shop.py": silent.replace("def add", "X = 1\n\n\ndef add")})
    assert flags(site, moved, base_tree=base) == []


def test_public_names_that_are_gone_or_called_otherwise_are_named_and_private_ones_are_not(
    site: Site,
) -> None:
    changed = SHOP.replace("(a, b=0)", "(a, b)").replace("open", "unlock").replace("_lock", "_shut")
    assert told(site, {"shop.py": changed}) == {
        "shop.py::add": "its signature changed from add(a, b=…) to add(a, b)",
        "shop.py::Till.open": "this public name was removed",
    }
    moved = told(site, {"shop.py": None, "pkg/shop.py": SHOP})
    assert moved["shop.py::Till"] == "this public name was removed; pkg/shop.py defines one of that name"
    assert "shop.py::Till.open" not in moved


def test_a_name_that_is_imported_from_where_it_went_is_not_said_to_be_gone(site: Site) -> None:
    left = "from pkg.shop import *\nfrom pkg.shop import Till, add\n"
    assert "shop.py::add" not in told(site, {"shop.py": left, "pkg/shop.py": SHOP})
    assert "shop.py::Till" not in told(site, {"shop.py": left, "pkg/shop.py": SHOP})
    other = told(site, {"shop.py": left, "pkg/shop.py": SHOP.replace("def open(self", "def open(self, key")})
    assert other["shop.py::Till"] == "it is no longer defined here, and imported instead"


def test_dependencies_that_come_and_go_are_named(site: Site) -> None:
    other = PYPROJECT.replace('"attrs", "rich>=13"', '"rich>=14"')
    assert told(site, {"pyproject.toml": other})["project.dependencies"] == (
        "the dependencies changed: without attrs, rich>=13; with rich>=14"
    )


# ------------------------------------------------------------------ delicate places


@every(
    ("path", "text", "why"),
    [
        ("app/auth/views.py", "x = 2\n", "its path says auth"),
        ("app/userLogin.py", "x = 2\n", "its path says login"),
        ("run.py", "import subprocess\n\nx = 2\n", "it uses subprocess"),
        ("keys.py", "from hmac import new\n", "it uses hmac"),
        ("store.py", "def get(c, n):\n    return c.execute(n)\n", "a changed line has .execute("),
        ("conf.py", "def get(t):\n    return yaml.load(t)\n", "a changed line has yaml.load("),
        ("calc.py", "def get(t):\n    return eval(t)\n", "a changed line has eval("),
        ("views.py", "if user.is_admin:\n    x = 1\n", "a changed line has is_admin"),
        ("code.py", "def get(t):\n    return compile(t, '', 'exec')\n", "a changed line has compile("),
        ("words.py", "import re\n\nWORD = re.compile(r'x+')\n", ""),
        ("author.py", "import json\n\nx = json.loads('1')\n", ""),
        ("price.py", "def executed(a):\n    return a  # medieval(\n", ""),
        ("tests/test_auth.py", "import subprocess\n", ""),
        ("docs/authentication.md", "Log in.\n", ""),
    ],
)
def test_delicate_places_are_known_by_their_path_what_they_use_and_what_changed(
    site: Site, path: str, text: str, why: str
) -> None:
    found = delicate_paths(site.git, site.base, site.tree({path: text}), site.runner.is_test)
    assert found == ({path: why} if why else {})


def test_words_for_people_in_a_delicate_place_need_no_reading_for_security(site: Site) -> None:
    old = "import subprocess\n\n\ndef run(line):\n    return subprocess.run(line)\n"
    before = site.tree({"run.py": old})
    told = old.replace("(line):\n", '(line):\n    """Runs one line."""\n')
    other = old.replace("run(line)\n", "run(line, shell=True)\n")
    found = [
        delicate_paths(site.git, before, site.tree({"run.py": text}), site.runner.is_test)
        for text in (told, other)
    ]
    assert found == [{}, {"run.py": "it uses subprocess"}]


RUNS = """\
import os
from subprocess import (
    PIPE as pipe,
    run,
)

LIMIT = 3
OTHER = 4
LINE = "ls"


def words(line):
    return line.split()


def padded(line):
    return line.ljust(OTHER)


def started(line):
    return run(words(line), stdout=pipe, timeout=LIMIT)


class Shell:
    kept = 1

    def go(self, line):
        return started(line)

    def named(self):
        return os.name


run(LINE)
"""


@every(
    ("old", "new", "why"),
    [
        ("ljust(OTHER)", "rjust(OTHER)", ""),
        ("OTHER = 4", "OTHER = 5", ""),
        ("return os.name", "return str(os.name)", ""),
        ("kept = 1", "kept = 2", ""),
        ("class Shell:", "def more(line):\n    return padded(line)\n\n\nclass Shell:", ""),
        ("timeout=LIMIT", "timeout=None", "it uses subprocess"),
        ("line.split()", "line.split(';')", "it uses subprocess"),
        ("LIMIT = 3", "LIMIT = 300", "it uses subprocess"),
        ('LINE = "ls"', 'LINE = "id"', "it uses subprocess"),
        ("started(line)\n\n    def", "started(line + '!')\n\n    def", "it uses subprocess"),
        ("    run,\n", "    run,\n    Popen,\n", "it uses subprocess"),
        ("    run,\n)", "    run,\n)\nfrom subprocess import *", "it uses subprocess"),
        ("class Shell:", "def more(line):\n    return pipe\n\n\nclass Shell:", "it uses subprocess"),
        ("return os.name", "import subprocess\n\n        return subprocess.PIPE", "it uses subprocess"),
    ],
)
def test_an_import_is_delicate_where_what_changed_has_to_do_with_it(
    site: Site, old: str, new: str, why: str
) -> None:
    assert RUNS.count(old) == 1
    before, after = (site.tree({"runs.py": text}) for text in (RUNS, RUNS.replace(old, new)))
    found = delicate_paths(site.git, before, after, site.runner.is_test)
    assert found == ({"runs.py": why} if why else {})


# ------------------------------------------------------------------ words


@every(
    ("path", "words"),
    [
        ("CHANGELOG.md", True),
        ("docs/guide.rst", True),
        ("NEWS", True),
        ("README.md", True),
        ("docs/conf.py", False),
        ("docs/requirements.txt", False),
        ("deploy/site.yaml", False),
        (".github/workflows/ci.yml", False),
        ("data.json", False),
        ("Makefile", False),
    ],
)
def test_only_what_people_read_may_change_after_the_last_review(site: Site, path: str, words: bool) -> None:
    assert is_words(path) is words
    after = site.tree({path: "new\n"})
    assert not_words(site.git, site.base, after) == ([] if words else [path])


def test_words_that_can_be_executed_lead_elsewhere_or_are_gone_are_no_words(site: Site) -> None:
    blob = site.git.hash_blob(b"ls\n")
    for mode in ("100755", "120000"):
        tree = site.git.overlay_tree(site.base, {"docs/a.md": (mode, blob)})
        assert not_words(site.git, site.base, tree) == ["docs/a.md"]
    with_words = site.tree({"README.md": "Hi.\n"})
    assert not_words(site.git, with_words, site.base) == ["README.md"]


def test_locks_are_known_by_name_and_source_is_none() -> None:
    assert [is_lock(path) for path in ("uv.lock", "web/package-lock.json", "lock.py", "uv.lock.py")] == [
        True,
        True,
        False,
        False,
    ]
