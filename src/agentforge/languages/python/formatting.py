"""The formatters that a Python project uses, asked how they would write a text. They write no file."""

from collections.abc import Mapping
from pathlib import Path

from agentforge.languages.python.checkers import project_at, used
from agentforge.languages.python.environment import run_env
from agentforge.languages.python.lint import files_for
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Confinement, Sandbox

SECONDS = 60
_ASKED: Mapping[str, tuple[str, ...]] = {
    "ruff format": ("format", "--quiet", "--no-cache", "--force-exclude", "--stdin-filename={path}", "-"),
    "black": ("--quiet", "--stdin-filename={path}", "-"),
}
"""How each reads a text from its input and prints it as it would have it."""


def formatted(sandbox: Sandbox, env: Environment, tree: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """Of these texts, by path, those that a formatter of the project would write otherwise, as it would. What
    it cannot read, or does not end with in time, stays as it is.
    """
    tree, project = tree.resolve(), project_at(tree)
    found: dict[str, str] = {}
    for checker in used(project, "lint"):
        program = env.program.parent / checker.program
        if checker.name not in _ASKED or not program.exists():
            continue
        for path in files_for(project, checker, tree, list(texts)):
            text = found.get(path, texts[path])
            words = (word.format(path=path) for word in _ASKED[checker.name])
            where = Confinement(
                cwd=tree,
                read=(tree, *env.readable),
                env=run_env(env, tree),
                input=text.encode(),
                timeout_s=SECONDS,
            )
            done = sandbox.run((str(program), *words), where)
            if done.code == 0 and not done.timed_out and not done.beyond and done.out:
                found[path] = done.out.decode("utf-8", "replace")
    return {path: text for path, text in found.items() if text != texts[path]}
