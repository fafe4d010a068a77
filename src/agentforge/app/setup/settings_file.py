"""The settings file that `init` writes: what was detected, as comments that a person can correct."""

import json
import re
import shlex
from collections.abc import Iterable, Sequence

from agentforge.languages.generic.suggested import SuggestedTests
from agentforge.languages.repository import Project, joined_plan
from agentforge.languages.table import DEFAULT, is_code

_PLAIN = re.compile(r"[\w@%+=:,./{}\[\]-]+", re.ASCII)
_FILE = """\
# What AgentForge should know about this project. Everything may be left out; what is commented out was
# detected or is the default. Tasks read this file from the commit they start from: commit your corrections.

# The sandbox for everything that runs: auto (the strongest that works here), bubblewrap or landlock.
sandbox: auto

# The model. Address and key come from OPENAI_BASE_URL and OPENAI_API_KEY, never from a file.
# model: openai:NAME

{version}# The commands that install the project and what its tests need into a fresh environment, {{env}}. No
# shell reads them. Detected because:
{reasons}
{setup}

# The command that runs tests; ids are added to it.
# commands:
#   test: {test}

# Where test files and documentation are: roles that may write only those are held to it.
{tests}
{docs}

# Where the project's modules are imported from.
{roots}

{others}"""
_LIMITS = """\
# Caps per task.
# limits:
#   cost_usd: 2.50
#   calls: 200
#   tokens: 4000000
#   test_timeout_s: 900
"""


_GUESS = """\
# A guess: it looks like {name}, by {because}. Correct it if that is wrong. `setup` installs what the tests
# need, `commands.test` runs them all, `generic` says how their outcomes are told (docs/languages.md), and
# `tests` are the files that count as tests. No shell reads these commands.
"""
_PYTHON = """\
# The interpreter that environments are built with; by default the one that runs AgentForge.
# python: "3.12"

"""
_OTHERS = "# The other projects of this repository, by folder: how each is set up and tested.\n# projects:\n"


def spell_settings(projects: Sequence[Project], suggested: SuggestedTests | None = None) -> str:
    """The file's text, from the projects of a repository. It is valid under the contract `settings`, and so
    is every part of it without its `# ` signs. What is only likely stands there as it would count, since
    nothing can be detected instead.
    """
    plan, first = joined_plan(projects), projects[0].plan
    others = [_project(each) for each in projects[1:] if each.root]
    if suggested is not None:
        return _FILE.partition("{version}")[0] + _guessed(suggested) + _LIMITS
    return (
        _FILE.format(
            version=_PYTHON if any(each.language is DEFAULT for each in projects) else "",
            reasons="\n".join(f"#   {' '.join(reason.split())}" for reason in first.reasons),
            setup=_list("setup", [*map(spell_command, first.own_setup)]),
            test=_text(spell_command(first.tests)),
            tests=_list("tests", [_glob(path) for path in plan.test_paths] or ["tests/**"]),
            docs=_list("docs", ["docs/**", "*.md"]),
            roots=_list("import_roots", list(first.import_roots) or ["."]),
            others=f"{_OTHERS}{''.join(others)}\n" if others else "",
        )
        + _LIMITS
    )


def _guessed(suggested: SuggestedTests) -> str:
    told = "".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in suggested.settings.items()
    )
    return f"{_GUESS.format(name=suggested.name, because=suggested.because)}{told}\n"


def _project(project: Project) -> str:
    setup = "".join(f"#       - {_text(line)}\n" for line in map(spell_command, project.plan.own_setup))
    command = f"#     commands:\n#       test: {_text(spell_command(project.plan.tests))}\n"
    return f"#   {_text(project.root)}:\n" + (f"#     setup:\n{setup}" if setup else "") + command


def spell_command(words: Iterable[str]) -> str:
    """A command of a plan as one text that `shlex.split` reads back; placeholders in braces stay readable."""
    return " ".join(word if _PLAIN.fullmatch(word) else shlex.quote(word) for word in words)


def _list(key: str, items: Sequence[str]) -> str:
    return "\n".join([f"# {key}:", *(f"#   - {_text(item)}" for item in items)]) if items else f"# {key}: []"


def _text(value: str) -> str:
    """JSON spells every text in a way that YAML reads back."""
    return json.dumps(value)


def _glob(path: str) -> str:
    return path if "*" in path or is_code(path) else f"{path.rstrip('/')}/**"
