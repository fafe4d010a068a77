"""Names that a change may not take from others."""

import pytest

from agentforge.gates.change.shadows import shadowing
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.red import RedCase, prove_red
from agentforge.languages.outcomes import TestRun
from tests.gates.bench_of_judges import Site, make_site
from tests.gates.test_gates_green import CLEAN, LINTED, TEST

BASE = {"shop.py": "", "calendar.py": "", "tests/test_old.py": "", "inner/__init__.py": "", "docs/a.txt": ""}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("shadows"), BASE)


def refused(site: Site, path: str, request: str = "") -> list[str]:
    return shadowing(site.runner, site.base, site.tree({path: "VALUE = 1\n"}), request)


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("json.py", "`json` of the standard library"),
        ("hmac.py", "`hmac` of the standard library"),
        ("queue.pyc", "`queue` of the standard library"),
        ("secrets.cpython-311-x86_64-linux-gnu.so", "`secrets` of the standard library"),
        ("json/__init__.py", "`json` of the standard library"),
        ("calendar/__init__.py", "its source, which is what people read"),
        ("pluggy.py", "the installed `pluggy`"),
        ("_pytest/__init__.py", "the installed `_pytest`"),
        ("pytest.py", "the installed `pytest`"),
        ("tests/json.py", "`json` of the standard library"),
    ],
)
def test_a_new_module_that_would_be_imported_in_the_place_of_another_is_refused(
    site: Site, path: str, other: str
) -> None:
    (reason,) = refused(site, path)
    assert reason.startswith(f"`{path}` would be imported in the place of {other}")
    assert "give it another name" in reason


@pytest.mark.parametrize(
    "path",
    [
        "prices.py",
        "calendar.py",
        "inner/json.py",
        "docs/json.py",
        "tests/__init__.py",
        "test/__init__.py",
        "json.txt",
    ],
)
def test_a_name_that_is_free_or_was_the_projects_already_is_not(site: Site, path: str) -> None:
    assert refused(site, path) == []


@pytest.mark.parametrize(
    "path", ["__pycache__/shop.cpython-311.pyc", "inner/__pycache__/deep.cpython-311.pyc", "shop.abi3.so"]
)
def test_compiled_code_that_would_run_instead_of_the_source_is_refused(site: Site, path: str) -> None:
    """A cache file may say that it is never to be compared with its source."""
    (reason,) = refused(site, path)
    assert reason.startswith(f"`{path}` would be imported in the place of its source")
    assert refused(site, "inner/native.abi3.so") == []


def test_the_words_of_the_request_allow_exactly_the_file_that_they_name(site: Site) -> None:
    assert refused(site, "queue.py", "Add queue.py with a class Queue.") == []
    assert refused(site, "tests/json.py", "Put the helpers into tests/json.py") == []
    assert refused(site, "json/__init__.py", "Make a package json/ for it") == []
    assert len(refused(site, "queue.py", "Add a queue; see notqueue.py and queue.pyx")) == 1


def test_both_gates_refuse_it(site: Site) -> None:
    red = site.tree({"tests/test_shop.py": TEST, "tests/json.py": ""})
    proved = prove_red(site.runner, RedCase(site.base, red, {}, {}, same_author=False))
    assert proved.status == "failed"
    assert proved.reasons[0].startswith("`tests/json.py` would be imported")
    tree = site.tree({"hmac.py": ""})
    case = GreenCase(
        site.base,
        tree,
        {"red_tree": site.base, "locked": {}, "tests": {}},
        {},
        TestRun((), "ran"),
        frozenset(),
        LINTED,
        LINTED,
        CLEAN,
        CLEAN,
    )
    assert judge_green(site.runner, case).reasons[0].startswith("`hmac.py` would be imported")


@pytest.mark.parametrize(
    "encoding", ["utf-7", "raw_unicode_escape", "unicode_escape", "punycode", "cp037", "no-such"]
)
def test_a_file_that_is_not_what_it_looks_like_is_refused(site: Site, encoding: str) -> None:
    text = f"# -*- coding: {encoding} -*-\nx = 1\n"
    (reason,) = shadowing(site.runner, site.base, site.tree({"shop/more.py": text}), "")
    assert f"declares the encoding `{encoding}`" in reason


@pytest.mark.parametrize(
    "encoding", ["utf-8", "latin-1", "cp1252", "iso-8859-15", "shift_jis", "koi8-r", "gbk"]
)
def test_a_file_in_an_encoding_of_people_is_not(site: Site, encoding: str) -> None:
    text = f"# -*- coding: {encoding} -*-\nx = 1\n"
    assert shadowing(site.runner, site.base, site.tree({"shop/more.py": text}), "") == []
