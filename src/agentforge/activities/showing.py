"""What a person is shown of a call that they must allow: the exact command, or the exact change, with nothing
hidden in it.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

from agentforge.activities.preview import preview
from agentforge.commands.permissions import ActionCall, Permission
from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Action
from agentforge.core.values import PERMISSION_OPTIONS, Question, WantedCall
from agentforge.store.layout import TaskFiles
from agentforge.system.files import write_atomic
from agentforge.system.secrets.redact import redact
from agentforge.system.visible import command_line, one_line, visible
from agentforge.tools.base import Tool, Workbench

COMMAND_CHARS = 4_000
CHANGE_CHARS = 40_000
"""A question is no longer: beyond these its middle is cut, which is said, and the whole of it is on disk."""

FLAGS_SHOWN, FLAG_CHARS = 3, 240
"""How much of flagged text is shown with a question."""

PATH_ARGUMENTS = ("path", "paths", "source", "target")

_TRUSTED_COPIES = frozenset({"create_file", "edit_file", "delete_file", "apply_patch", "move_file"})
"""Tools that see nothing but the files they name: what is a mistake on a copy of those is one."""


class Shown(NamedTuple):
    """A call as a person is shown it before they allow it."""

    text: str
    """The whole call, without secrets."""
    exact: str
    """Exactly what a person allows when they say yes: it is hashed with the tool's name."""
    paths: tuple[str, ...] = ()
    """The real paths that it touches."""
    limit: int = CHANGE_CHARS
    flagged: tuple[str, ...] = ()
    """What was read before that reads like an instruction: the wish may be that text's."""


def show(tool: Tool, action: Action, call: ActionCall, bench: Workbench) -> Shown:
    """The words that would run, the lines that would change, or else the arguments. A mistake of the model is
    raised.
    """
    if call.command is not None:
        line = command_line((call.command,) if isinstance(call.command, str) else call.command)
        return Shown(redact(line)[0], line, limit=COMMAND_CHARS)
    found = None
    if tool.spec.effect == "write":
        try:
            found = preview(tool, action, bench)
        except ModelMistake:
            if tool.spec.name in _TRUSTED_COPIES:
                raise
    if found is not None:
        return Shown(visible(redact(found.diff)[0]), found.diff, found.paths)
    paths = tuple(dict.fromkeys(bench.spot(name).shown for name in named_paths(action)))
    whole = visible(json.dumps(dict(action.args), indent=2, ensure_ascii=False, sort_keys=True))
    return Shown(redact(whole)[0], whole, paths)


def named_paths(action: Action) -> Iterator[str]:
    """Every argument that names a path."""
    for value in map(action.args.get, PATH_ARGUMENTS):
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str))


def ask(
    files: TaskFiles,
    role: str,
    call: ActionCall,
    decision: Permission,
    shown: Shown,
    wanted: WantedCall,
) -> Question:
    """Everything that a person needs to say yes or no, and no word of the model's choice but what it wants to
    do.
    """
    why = decision.assessment.reason if decision.assessment is not None else ""
    lines = [
        f"May {role} use {call.tool}?",
        "",
        *(f"  {line}" for line in _cut(files, shown, wanted).splitlines()),
        "",
    ]
    if wanted.content:
        lines.append(
            f"The repository declares it in .agentforge/tools/{call.tool}.yaml; your yes applies "
            "until that file changes."
        )
    lines.append(
        f"Risk: {decision.risk}{f' ({visible(why)})' if why else ''}. You are asked because: "
        f"{visible(decision.reason)}."
    )
    if shown.flagged:
        lines += [
            "",
            "Before this, it was shown text that reads like an instruction; the request may come from there:",
            *(f"  {one_line(redact(flag)[0])[:FLAG_CHARS]}" for flag in shown.flagged[-FLAGS_SHOWN:]),
        ]
    return Question("\n".join(lines), PERMISSION_OPTIONS, "", wanted)


def _cut(files: TaskFiles, shown: Shown, wanted: WantedCall) -> str:
    text = shown.text
    if len(text) <= shown.limit:
        return text
    place = files.root / "questions" / f"{wanted.digest[:16]}.txt"
    write_atomic(place, text.encode())
    half = shown.limit // 2
    name = place.relative_to(files.root.parent.parent.parent)
    return (
        f"{text[:half]}\n[… {len(text) - 2 * half} characters are cut here; the whole is in {name} "
        f"…]\n{text[-half:]}"
    )
