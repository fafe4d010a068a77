"""Repositories of shapes that nobody planned for: one function that does not double yet, and the change that mends it."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.wide.works import Work

CODE = 'def double(number):\n    """Twice the number."""\n    return number\n'
_OLD = "    assert double(0) == 0\n"
_PYTEST = '[project]\nname = "calc"\nversion = "1.0"\n\n[dependency-groups]\ntest = ["pytest"{more}]\n'


@dataclass(frozen=True)
class Shape:
    """A repository, the request to it as a work, and how it ends."""

    work: Work
    says: str = ""
    """What must be said before anything is spent; empty where a verified branch must come of it."""


def _tests(imported: str, name: str, call: str) -> str:
    return f"from {imported} import double\n\n\ndef {name}():\n    assert double({call}\n"


def python(
    files: Mapping[str, str | bytes],
    code: str = "calc/__init__.py",
    test: str = "tests/test_double.py",
    imported: str = "calc",
    text: str = "",
) -> Work:
    """A project in Python; `{more}` of its files is filled by whoever writes them."""
    old = _tests(imported, "test_zero", "0) == 0")
    beside = f"{test.rpartition('/')[0]}/test_zero.py".lstrip("/")
    if test.endswith("_test.py"):
        beside = beside.replace("test_zero", "zero_test")
    return Work(
        "Python",
        {code: CODE, beside: old, **files},  # type: ignore[dict-item]  # bytes are written as they are
        code,
        "return number",
        "return number * 2",
        test,
        text or _tests(imported, "test_two_becomes_four", "2) == 4"),
        "test_two_becomes_four",
    )


def pyproject(more: str = "", rest: str = "") -> dict[str, str]:
    return {"pyproject.toml": _PYTEST.format(more=more) + rest}


_BUILD = '[build-system]\nrequires = ["setuptools>=64"]\nbuild-backend = "setuptools.build_meta"\n'
_UNITTEST = (
    "import unittest\n\nfrom calc import double\n\n\nclass Two(unittest.TestCase):\n"
    "    def test_two_becomes_four(self):\n        self.assertEqual(double(2), 4)\n"
)
_ASYNC = "from calc import double\n\n\nasync def test_two_becomes_four():\n    assert double(2) == 4\n"
_DJANGO = {
    "manage.py": 'import os\nimport sys\n\nif __name__ == "__main__":\n'
    '    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_of.settings")\n'
    "    from django.core.management import execute_from_command_line\n\n    execute_from_command_line(sys.argv)\n",
    "site_of/__init__.py": "",
    "site_of/settings.py": 'SECRET_KEY = "not one"\nINSTALLED_APPS = ["calc"]\n'
    'DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}\n',
    "requirements.txt": "django\n",
}
_DJANGO_TEST = (
    "from django.test import TestCase\n\nfrom calc.sums import double\n\n\nclass Two(TestCase):\n"
    "    def test_two_becomes_four(self):\n        self.assertEqual(double(2), 4)\n"
)

SHAPES: Mapping[str, Shape] = {
    "namespace packages in src": Shape(
        python(
            {
                "pyproject.toml": _BUILD
                + _PYTEST.format(more="")
                + '[tool.setuptools.packages.find]\nwhere = ["src"]\n'
            },
            "src/acme/tools/calc.py",
            imported="acme.tools.calc",
        )
    ),
    "tests beside the code": Shape(python(pyproject(), "calc/sums.py", "calc/test_double.py", "calc.sums")),
    "names that end in _test": Shape(
        python(
            pyproject(rest='[tool.pytest.ini_options]\npython_files = ["*_test.py"]\n'),
            "calc/sums.py",
            "calc/double_test.py",
            "calc.sums",
        )
    ),
    "load_tests of unittest": Shape(
        python(
            {
                "setup.py": 'from setuptools import setup\n\nsetup(name="calc", packages=["calc"], test_suite="tests")\n',
                "tests/__init__.py": "import pathlib\nimport unittest\n\n\ndef load_tests(loader, tests, pattern):\n"
                '    return loader.discover(str(pathlib.Path(__file__).parent), pattern="test*.py")\n',
                "tests/test_zero.py": _UNITTEST.replace("two_becomes_four", "zero").replace("2), 4", "0), 0"),
            },
            text=_UNITTEST,
        )
    ),
    "pytest's settings in a folder below": Shape(
        python(
            {
                "backend/pytest.ini": "[pytest]\npythonpath = src\ntestpaths = tests\n",
                "backend/requirements-dev.txt": "pytest\n",
                "README.md": "# All\n",
            },
            "backend/src/calc.py",
            "backend/tests/test_double.py",
        )
    ),
    "an odd conftest": Shape(
        python(
            {
                **pyproject(),
                "conftest.py": "import sys\nfrom pathlib import Path\n\nsys.path.insert(0, str(Path(__file__).parent / 'lib'))\n",
            },
            "lib/calc.py",
            "checks/test_double.py",
        )
    ),
    "pytest-asyncio": Shape(
        python(
            pyproject(', "pytest-asyncio"', '[tool.pytest.ini_options]\nasyncio_mode = "auto"\n'), text=_ASYNC
        )
    ),
    "addopts of xdist, cov, randomly and timeout": Shape(
        python(
            pyproject(
                ', "pytest-xdist", "pytest-cov", "pytest-randomly", "pytest-timeout"',
                '[tool.pytest.ini_options]\naddopts = "-n 2 --cov=calc --cov-fail-under=100 --timeout=30 -p randomly"\n'
                'required_plugins = ["pytest-xdist", "pytest-cov"]\n',
            )
        )
    ),
    "Django's own runner": Shape(
        python(
            {
                **_DJANGO,
                "calc/tests/__init__.py": "",
                "calc/__init__.py": "",
                "calc/tests/test_zero.py": _DJANGO_TEST.replace("two_becomes_four", "zero").replace(
                    "2), 4", "0), 0"
                ),
            },
            "calc/sums.py",
            "calc/tests/test_double.py",
            "calc.sums",
            text=_DJANGO_TEST,
        )
    ),
    "a C extension in setup.py": Shape(
        python(
            {
                "setup.py": "from setuptools import Extension, setup\n\n"
                'setup(name="calc", version="1.0", packages=["calc"], ext_modules=[Extension("calc._one", ["calc/_one.c"])])\n',
                "calc/_one.c": '#include <Python.h>\n\nstatic struct PyModuleDef one = {PyModuleDef_HEAD_INIT, "_one", 0, -1, 0};\n'
                "PyMODINIT_FUNC PyInit__one(void) {\n  PyObject *m = PyModule_Create(&one);\n"
                '  PyModule_AddIntConstant(m, "ONE", 1);\n  return m;\n}\n',
                "calc/__init__.py": "from calc._one import ONE\n\n\n" + CODE,
            }
        )
    ),
    "Cython": Shape(
        python(
            {
                "pyproject.toml": '[build-system]\nrequires = ["setuptools", "cython"]\n'
                'build-backend = "setuptools.build_meta"\n' + _PYTEST.format(more=""),
                "setup.py": "from Cython.Build import cythonize\nfrom setuptools import setup\n\n"
                'setup(packages=["calc"], ext_modules=cythonize(["calc/fast.pyx"]))\n',
                "calc/fast.pyx": "def one():\n    return 1\n",
                "calc/__init__.py": "from calc.fast import one\n\n\n" + CODE,
            }
        )
    ),
    "setuptools_scm without tags": Shape(
        python(
            {
                "pyproject.toml": '[build-system]\nrequires = ["setuptools>=64", "setuptools_scm>=8"]\n'
                'build-backend = "setuptools.build_meta"\n\n[project]\nname = "calc"\ndynamic = ["version"]\n\n'
                '[dependency-groups]\ntest = ["pytest"]\n\n[tool.setuptools_scm]\nversion_file = "src/calc/_version.py"\n'
                '\n[tool.setuptools.packages.find]\nwhere = ["src"]\n',
                ".gitignore": "_version.py\n",
                "src/calc/__init__.py": "from calc._version import version\n\n\n" + CODE,
            },
            "src/calc/__init__.py",
        )
    ),
    "an import name that is not the distribution's": Shape(
        python(
            {
                "pyproject.toml": _BUILD
                + _PYTEST.format(more="").replace('"calc"', '"acme-sums"')
                + '[tool.setuptools]\npackages = ["calc"]\n'
            }
        )
    ),
    "requires another Python": Shape(
        python(
            {
                "pyproject.toml": _BUILD
                + _PYTEST.format(more="").replace("[dep", 'requires-python = ">=3.99"\n\n[dep')
            }
        ),
        says="3.99",
    ),
    "Windows' ends of lines": Shape(
        python(
            {
                **pyproject(),
                "calc/__init__.py": CODE.replace("\n", "\r\n"),
                "tests/test_zero.py": _tests("calc", "test_zero", "0) == 0").replace("\n", "\r\n"),
                ".gitattributes": "* -text\n",
            }
        )
    ),
    "sources that are not UTF-8": Shape(
        python(
            {
                **pyproject(),
                "calc/__init__.py": ("# -*- coding: latin-1 -*-\nNAME = 'Zo\xeb'\n\n\n" + CODE).encode(
                    "latin-1"
                ),
                "calc/old.py": b"# \xe9\xe8 and nobody says which\n",
            }
        )
    ),
    "names with blanks": Shape(
        python(
            {
                **pyproject(),
                "docs of it/read me.txt": "words\n",
                "calc/with blank.txt": "x\n",
                "tests/data file.json": "{}\n",
            }
        )
    ),
    "doctests beside a test file": Shape(
        python(
            {
                **pyproject(rest='[tool.pytest.ini_options]\naddopts = "--doctest-modules"\n'),
                "calc/__init__.py": CODE.replace("number.", "number.\n\n    >>> double(0)\n    0\n    "),
                "tests/test_zero.py": "",
            },
        )
    ),
    "poetry without a lock": Shape(
        python(
            {
                "pyproject.toml": '[tool.poetry]\nname = "calc"\nversion = "1.0"\ndescription = ""\nauthors = ["A <a@example.invalid>"]\n\n'
                '[tool.poetry.dependencies]\npython = "^3.9"\n\n[tool.poetry.group.dev.dependencies]\npytest = "^8"\n\n'
                '[build-system]\nrequires = ["poetry-core"]\nbuild-backend = "poetry.core.masonry.api"\n'
            }
        )
    ),
    "requirements of an odd name": Shape(
        python({"deps/testing.txt": "pytest\n", "requirements/base.txt": "iniconfig\n"})
    ),
    "one script and nothing else": Shape(python({}, "calc.py", "test_double.py")),
}
