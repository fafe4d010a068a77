"""Python, as the port knows it."""

from agentforge.languages.described import words
from agentforge.languages.port import Language
from agentforge.languages.python import imports, measures, names, projects, runs, symbols, test_files
from agentforge.languages.python.servers import SERVERS

PYTHON = Language(
    name="Python",
    suffixes=(".py",),
    declarations=(".pyi",),
    caches=words("__pycache__ .mypy_cache .pytest_cache .ruff_cache .hypothesis .tox .nox .venv"),
    no_caches={
        "RUFF_NO_CACHE": "true",
        "MYPY_CACHE_DIR": "/dev/null",
        "MYPY_NUM_WORKERS": "0",
        "PYTEST_ADDOPTS": "-o cache_dir=$TMPDIR/pytest",
    },
    projects=projects,
    source=symbols,
    imports=imports,
    names=names,
    measures=measures,
    tests=test_files,
    runs=runs,
    servers=SERVERS,
)
