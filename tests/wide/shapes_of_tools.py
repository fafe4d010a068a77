"""Repositories as further tools make them: managers and builders of packages, workspaces, runners behind others."""

import json
from collections.abc import Mapping
from dataclasses import replace

from tests.wide.shapes import CODE, Shape, pyproject, python
from tests.wide.shapes_elsewhere import CRATE, jest_test, mocha_test, script
from tests.wide.works import RUST, Work

_NOTEBOOK = {
    "cells": [{"cell_type": "code", "source": ["from calc import double\n"], "metadata": {}, "outputs": []}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}
_BUILT = '\n[build-system]\nrequires = ["{0}"]\nbuild-backend = "{1}"\n'
_PARTS = (("packages/core", "core"), ("packages/bare", "bare"))
_NAMED = '[project]\nname = "{0}"\nversion = "1.0"\n'
_SETUPTOOLS = _BUILT.format("setuptools>=64", "setuptools.build_meta")


def _packaged(files: Mapping[str, str], code: str = "calc/__init__.py", above: str = "") -> Shape:
    return Shape(python({code: above + CODE, **files}, code))


PACKAGED: Mapping[str, Shape] = {
    "a workspace of uv, one member without tests": Shape(
        python(
            {
                "pyproject.toml": _NAMED.format("all") + 'dependencies = ["core"]\n\n[dependency-groups]\n'
                'dev = ["pytest"]\n\n[tool.uv.workspace]\nmembers = ["packages/*"]\n\n'
                "[tool.uv.sources]\ncore = {workspace = true}\n",
                **{f"{place}/pyproject.toml": _NAMED.format(name) + _SETUPTOOLS for place, name in _PARTS},
                "packages/bare/bare.py": "ONE = 1\n",
            },
            "packages/core/core/__init__.py",
            "packages/core/tests/test_double.py",
            "core",
        )
    ),
    "what Python 2 left": _packaged(
        {
            **pyproject(),
            "old/legacy.py": 'print "hello"\nexec "x" in {}\n',
            "setup.py": 'from setuptools import setup\n\nsetup(name="calc", packages=["calc"])\n',
            "tests/test_old.py": 'def test_old():\n    print "two"\n',
        }
    ),
    "a notebook beside a module": _packaged({**pyproject(), "explore.ipynb": json.dumps(_NOTEBOOK)}),
    "flit": _packaged(
        {
            "pyproject.toml": '[project]\nname = "calc"\nauthors = [{name = "A"}]\n'
            'dynamic = ["version", "description"]\n\n[project.optional-dependencies]\ntest = ["pytest"]\n'
            + _BUILT.format("flit_core >=3.2,<4", "flit_core.buildapi")
        },
        above='"""Sums."""\n\n__version__ = "1.0"\n\n\n',
    ),
    "pdm with scripts": _packaged(
        {
            "pyproject.toml": _NAMED.format("calc")
            + _BUILT.format("pdm-backend", "pdm.backend")
            + '\n[tool.pdm.dev-dependencies]\ntest = ["pytest"]\n\n[tool.pdm.scripts]\ntest = "pytest tests"\n'
        },
        "src/calc/__init__.py",
    ),
    "environments of hatch": _packaged(
        {
            "pyproject.toml": '[project]\nname = "calc"\ndynamic = ["version"]\n'
            + _BUILT.format("hatchling", "hatchling.build")
            + '\n[tool.hatch.version]\npath = "calc/__init__.py"\n\n[tool.hatch.envs.test]\n'
            'dependencies = ["pytest"]\n\n[tool.hatch.envs.test.scripts]\nrun = "pytest {args:tests}"\n'
        },
        above='__version__ = "1.0"\n\n\n',
    ),
    "pages by Sphinx and MkDocs": _packaged(
        {
            **pyproject(),
            "docs/conf.py": 'import calc\n\nproject = "calc"\nextensions = ["sphinx.ext.autodoc"]\n',
            "docs/index.rst": "Calc\n====\n\n.. automodule:: calc\n",
            "docs/Makefile": "html:\n\tsphinx-build . _build\n",
            "mkdocs.yml": "site_name: calc\n",
        }
    ),
    "a stub beside its module": _packaged(
        {**pyproject(), "calc/__init__.pyi": "def double(number: int) -> int: ...\n", "calc/py.typed": ""}
    ),
    "an environment of conda": _packaged(
        {"environment.yml": "name: calc\ndependencies:\n  - python=3.11\n  - pytest\n"}
    ),
    "a Pipfile": _packaged({"Pipfile": '[dev-packages]\npytest = "*"\n'}),
}

_TSCONFIG = {"module": "commonjs", "target": "es2020", "esModuleInterop": True, "strict": True}
_TYPED = {"tsconfig.json": json.dumps({"compilerOptions": _TSCONFIG}) + "\n"}
_PACKAGE = '{{"name": "{0}", "version": "1.0.0"}}\n'
_NODE_TEST = (
    'import assert from "node:assert";\nimport test from "node:test";\n\nimport {{ double }} from "../src/double.js";\n\n'
    'test("{0}", () => {{\n  assert.strictEqual(double({1}), {2});\n}});\n'
)
_REQUIRED = (
    'const {{ double }} = require("../src/double.js");\n\ntest("{0}", () => {{\n'
    "  expect(double({1})).toBe({2});\n}});\n"
)
_TWO, _ZERO = ("two becomes four", 2, 4), ("zero", 0, 0)


def _members(package: Mapping[str, object], files: Mapping[str, str]) -> Work:
    own = {"name": "a", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test"}}
    return script(
        {"workspaces": ["packages/*"], **package},
        {
            "packages/a/package.json": json.dumps(own),
            "packages/b/package.json": _PACKAGE.format("b"),
            **files,
        },
        "packages/a/src/double.js",
        "packages/a/test/two.test.js",
        _NODE_TEST.format(*_TWO),
        _NODE_TEST.format(*_ZERO),
    )


def _mocha(command: str, packages: Mapping[str, str], files: Mapping[str, str], **package: object) -> Shape:
    needs = {"mocha": "^11", "typescript": "^5.9", **packages}
    texts = (mocha_test("two becomes four", "2), 4"), mocha_test("zero", "0), 0"))
    if "type" not in package:
        new, old = (text.replace("double.js", "double") for text in texts)
        texts = (new, old)
    own = {**package, "scripts": {"test": f"mocha {command} 'test/**/*.ts'"}, "devDependencies": needs}
    return Shape(script(own, files, "src/double.ts", "test/two.test.ts", *texts))


def _elsewhere(files: Mapping[str, str], code: str, test: str, says: str) -> Shape:
    """A project whose tools are not there: that is said before anything is spent."""
    return Shape(Work("C", files, code, "n", "n * 2", test, "x\n", "two"), says=says)


_JEST_MEMBERS = script(
    {
        "scripts": {"test": "jest"},
        "devDependencies": {"jest": "^30"},
        "jest": {"projects": ["<rootDir>/packages/*"]},
    },
    {
        **{f"packages/{each}/package.json": _PACKAGE.format(each) for each in "ab"},
        **{
            f"packages/{each}/jest.config.js": f'module.exports = {{displayName: "{each}"}};\n'
            for each in "ab"
        },
        "packages/b/test/b.test.js": 'test("b", () => { expect(1).toBe(1); });\n',
    },
    "packages/a/src/double.js",
    "packages/a/test/two.test.js",
    _REQUIRED.format(*_TWO),
    _REQUIRED.format(*_ZERO),
)

COMPOSED: Mapping[str, Shape] = {
    "projects of jest": Shape(
        replace(
            _JEST_MEMBERS,
            files={
                **_JEST_MEMBERS.files,
                "packages/a/src/double.js": "exports.double = (n) => {\n  return n;\n};\n",
            },
        )
    ),
    "ts-jest": Shape(
        script(
            {
                "scripts": {"test": "jest"},
                "jest": {"preset": "ts-jest"},
                "devDependencies": {
                    "jest": "^29",
                    "ts-jest": "^29",
                    "typescript": "^5.9",
                    "@types/jest": "^29",
                },
            },
            _TYPED,
            "src/double.ts",
            "test/two.test.ts",
            jest_test("", *_TWO),
            jest_test("", *_ZERO),
        )
    ),
    "mocha with tsx": _mocha("--import=tsx", {"tsx": "^4"}, {}, type="module"),
    "mocha with ts-node": _mocha(
        "-r ts-node/register", {"ts-node": "^10", "@types/mocha": "*", "@types/node": "*"}, _TYPED
    ),
    "turbo": Shape(
        _members(
            {"scripts": {"test": "turbo run test"}, "devDependencies": {"turbo": "*"}},
            {"turbo.json": '{"tasks": {"test": {}}}\n'},
        )
    ),
    "lerna": Shape(
        _members(
            {"scripts": {"test": "lerna run test"}},
            {"lerna.json": '{"version": "1.0.0", "packages": ["packages/*"]}\n'},
        )
    ),
    "a workspace of cargo, one member with a failing test": Shape(
        Work(
            "Rust",
            {
                "Cargo.toml": '[workspace]\nmembers = ["a", "b"]\nresolver = "2"\n',
                **{f"a/{path}": text for path, text in RUST.files.items()},
                "b/Cargo.toml": CRATE.format("b"),
                "b/src/lib.rs": "#[test]\nfn wrong() {\n    assert_eq!(1, 2);\n}\n",
            },
            f"a/{RUST.edited}",
            RUST.old,
            RUST.new,
            f"a/{RUST.path}",
            RUST.test,
            RUST.name,
        )
    ),
}
