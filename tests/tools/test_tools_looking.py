"""Documentation, dependencies, diagram, complexity, security scan and the engine's checks, on a real tree."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.languages.table import NAMES
from agentforge.tools.base import RESULT_CHARS, OpenedRange, ToolResult, Workbench
from agentforge.tools.bridge import TOOLS
from agentforge.tools.look.diagram import diagram

FILES = {
    "README.md": (
        "# Shop\n\nSells things.\n\n## Prices\n\nA price is in cents.\n\n```sh\n# not a heading\n```\n"
    ),
    "docs/guide.rst": "Guide\n=====\n\nDiscounts\n---------\n\nA discount lowers a price.\n",
    "requirements.txt": "requests==2.0 \\\n    --hash=sha256:00\n",
    "pyproject.toml": (
        '[project]\nname = "shop"\ndependencies = '
        '["attrs>=20"]\n[project.optional-dependencies]\nweb = ["flask"]\n'
    ),
    "src/shop/__init__.py": '"""A shop that sells."""\n',
    "src/shop/price.py": (
        '"""Prices, in cents."""\n\nimport attrs\n\n\ndef total(items):\n    """The sum of all prices."""\n'
    ),
    "src/shop/cart.py": "import yaml\n\nfrom shop.price import total\n\n\nclass Cart:\n    pass\n",
    "src/shop/web/__init__.py": "",
    "src/shop/web/app.py": "from shop.cart import Cart\nfrom shop.web import pages\n",
    "src/shop/web/pages.py": (
        "import subprocess\n\n\ndef run(line):\n    return subprocess.run(line, shell=True)\n"
    ),
    "tests/test_cart.py": "from shop.cart import Cart\n",
}


def no_tests(_ids: Sequence[str]) -> ToolResult:
    raise AssertionError("no test was to run")


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return Workbench(tmp_path, no_tests)


def call(bench: Workbench, tool: str, /, **args: Json) -> ToolResult:
    return TOOLS[tool].call(args, bench)


def test_the_documents_are_listed_with_their_headings_and_the_packages_words(bench: Workbench) -> None:
    rows = call(bench, "read_documentation").text.split("\n")
    assert rows[0].startswith("2 documents")
    assert rows[1:] == [
        "README.md: Shop; Prices",
        "docs/guide.rst: Guide; Discounts",
        "Packages:",
        "src/shop/__init__.py: A shop that sells.",
    ]


def test_a_document_is_opened_and_code_gives_its_docstrings(bench: Workbench) -> None:
    read = call(bench, "read_documentation", path="docs/guide.rst")
    assert read.opened == (OpenedRange("docs/guide.rst", 1, 7),)
    assert "6: total: " not in read.text
    assert (
        "7: total: The sum of all prices." in call(bench, "read_documentation", path="src/shop/price.py").text
    )
    with pytest.raises(ModelMistake) as caught:
        call(bench, "read_documentation", path="pyproject.toml")
    assert caught.value.kind == "not_documentation"


def test_a_query_finds_the_sections_with_most_of_its_words(bench: Workbench) -> None:
    found = call(bench, "read_documentation", query="discount on a price?")
    assert found.opened[0] == OpenedRange("docs/guide.rst", 4, 7)
    assert found.text.startswith("docs/guide.rst, lines 4-7: Discounts\n4|Discounts")
    within = call(bench, "read_documentation", query="price", path="README.md")
    assert {each.path for each in within.opened} == {"README.md"}
    assert "No documentation speaks of" in call(bench, "read_documentation", query="zebra").text
    with pytest.raises(ModelMistake):
        call(bench, "read_documentation", query="? !")


def test_requirements_are_declared_and_used(bench: Workbench) -> None:
    text = call(bench, "analyze_dependencies").text
    assert "  project.dependencies: attrs>=20\n" in text
    assert "  extra web: flask\n" in text
    assert "  requirements.txt: requests==2.0\n" in text
    assert "  attrs: 1 files, first src/shop/price.py\n" in text
    assert "  yaml: 1 files, first src/shop/cart.py; no declared requirement" in text


def test_a_files_neighbours_are_told_both_ways(bench: Workbench) -> None:
    rows = call(bench, "analyze_dependencies", path="src/shop/cart.py").text.split("\n")
    assert rows == [
        "src/shop/cart.py: class Cart",
        "  imports: src/shop/price.py, yaml",
        "  imported by: src/shop/web/app.py",
        "  tests that reach it: tests/test_cart.py",
    ]
    folder = call(bench, "analyze_dependencies", path="src/shop").text
    assert folder.endswith("In all: imported by 0 other files, reached by 1 test files.")
    with pytest.raises(ModelMistake):
        call(bench, "analyze_dependencies", path="nowhere")


def test_the_diagram_has_layers_and_names_cycles(bench: Workbench) -> None:
    text = call(bench, "view_architecture_diagram").text
    assert text == "layer 1\n  shop.web (3) -> shop\nlayer 0\n  shop (3)\nno cycles between packages"
    (bench.root / "src/shop/price.py").write_text("from shop.web import app\n")
    assert call(bench, "view_architecture_diagram").text.endswith("cycle: shop <-> shop.web")


def test_a_large_project_is_drawn_by_its_outer_packages() -> None:
    paths = [f"top/p{n}/q{m}/x.py" for n in range(5) for m in range(20)]
    drawn = diagram({paths[0]: [paths[-1]]}, paths, ["."])
    assert set(drawn.edges) == {f"top.p{n}" for n in range(5)}
    assert drawn.edges["top.p0"] == ("top.p4",)
    assert drawn.layers == (("top.p1", "top.p2", "top.p3", "top.p4"), ("top.p0",))


def test_complexity_is_of_a_path_else_of_the_change_else_of_everything(bench: Workbench) -> None:
    (bench.root / "src/shop/price.py").write_text("def f(a):\n    if a:\n        return 1\n    return 2\n")
    assert (
        call(bench, "analyze_complexity", path="src/shop/price.py").text.split("\n")[1]
        == "2 src/shop/price.py::f"
    )
    assert "in 6 files" in call(bench, "analyze_complexity").text
    changed = Workbench(bench.root, no_tests, changed=lambda: ["src/shop/price.py", "gone.py"])
    assert "in 1 files" in call(changed, "analyze_complexity").text
    assert call(bench, "analyze_complexity", path="docs").text == f"`docs` holds no {NAMES}."


def test_the_scan_reads_what_changed_else_all_and_advises(bench: Workbench) -> None:
    text = call(bench, "run_security_scan").text
    assert text.startswith("1 findings (1 high, 0 medium, 0 low) in")
    assert "src/shop/web/pages.py:5: high shell-line: " in text
    changed = Workbench(bench.root, no_tests, changed=lambda: ["src/shop/price.py"])
    assert (
        call(changed, "run_security_scan").text
        == "0 findings (0 high, 0 medium, 0 low) in 1 files: those this change touches."
    )
    assert "1 findings" in call(changed, "run_security_scan", paths=["src/shop/web"]).text


def test_the_scan_adds_what_the_projects_own_scanner_says(bench: Workbench) -> None:
    heard: list[Mapping[str, Json]] = []

    def scanner(args: Mapping[str, Json]) -> ToolResult:
        heard.append(args)
        return ToolResult(ok=True, text="B602 " * 2000)

    both = Workbench(bench.root, no_tests, runs={"run_security_scan": scanner})
    result = call(both, "run_security_scan", paths=["src"])
    assert heard == [{"paths": ["src"]}]
    assert "shell-line" in result.text
    assert "The project's own scanner:\nB602" in result.text
    assert len(result.text) <= RESULT_CHARS


def test_the_scan_never_shows_a_secret(bench: Workbench) -> None:
    secret = "ghp_" + "a1B2" * 9
    (bench.root / "key.py").write_text(f"KEY = '{secret}'\n")
    text = call(bench, "run_security_scan", paths=["key.py"]).text
    assert "key.py:1: high hard-coded-secret" in text
    assert secret not in text


@pytest.mark.parametrize("tool", ["run_type_check", "run_conformance_check", "analyze_coverage"])
def test_a_check_that_the_engine_has_not_is_not_configured(bench: Workbench, tool: str) -> None:
    result = call(bench, tool)
    assert (result.ok, result.mistake) == (False, "not_configured")
    assert "nothing was checked" in result.text


@pytest.mark.parametrize("tool", ["run_type_check", "run_conformance_check"])
def test_the_engine_gets_real_paths(bench: Workbench, tool: str) -> None:
    (bench.root / "alias").symlink_to("src/shop")
    heard: list[Mapping[str, Json]] = []

    def check(args: Mapping[str, Json]) -> ToolResult:
        heard.append(args)
        return ToolResult(ok=True, text="x")

    ready = Workbench(bench.root, no_tests, runs={tool: check})
    call(ready, tool, paths=["./alias/cart.py", "src/shop/cart.py"])
    assert heard == [{"paths": ["src/shop/cart.py"]}]
    for path in ("../x.py", "nowhere.py"):
        with pytest.raises(ModelMistake):
            call(ready, tool, paths=[path])
