"""Claude Code: where our plugin for it lies, and its parts as files and hooks of one workspace.

A person who has `claude` installs the plugin itself. A workspace that must work by itself, such as the fresh
worktree of a session of AO, gets the same commands, agents, skill and hooks below `.claude`, and entries in
`.claude/settings.json` that name them relative to the project, so that they may be committed.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.system.json_text import Way, with_added, without

MARKETPLACE = Path(__file__).parent / "claude-plugin"
"""What `claude plugin marketplace add` takes."""
PLUGIN = MARKETPLACE / "forge"
SETTINGS = ".claude/settings.json"
HOOK = ".claude/hooks/forge.sh"
_HOOK_IN_PLUGIN = "${CLAUDE_PLUGIN_ROOT}/hooks/forge.sh"
_HOOK_IN_PROJECT = f"${{CLAUDE_PROJECT_DIR}}/{HOOK}"


def workspace_files() -> dict[str, bytes]:
    """The files that a workspace gets, by their paths in it."""
    found = {HOOK: (PLUGIN / "hooks/forge.sh").read_bytes()}
    for path in sorted((PLUGIN / "commands").glob("*.md")):
        found[f".claude/commands/forge/{path.name}"] = path.read_bytes()
    for path in sorted((PLUGIN / "agents").glob("*.md")):
        found[f".claude/agents/{path.name}"] = path.read_bytes()
    for path in sorted((PLUGIN / "skills").glob("*/SKILL.md")):
        found[f".claude/skills/{path.parent.name}/SKILL.md"] = path.read_bytes()
    return found


def workspace_hooks() -> dict[str, Json]:
    """The entry of each event, as the settings of a workspace have it."""
    text = (PLUGIN / "hooks/hooks.json").read_text(encoding="utf-8")
    hooks = json.loads(text.replace(_HOOK_IN_PLUGIN, _HOOK_IN_PROJECT))["hooks"]
    return {event: entries[0] for event, entries in hooks.items()}


def with_hooks(text: str) -> tuple[str, list[str]]:
    """The settings with our hooks added where they are not, and the ways to what had to be made for them.
    Nothing else in the text changes. Settings that have another shape than Claude Code reads are refused.
    """
    made: list[str] = []
    settings = read_settings(text)
    if "hooks" not in settings:
        text, made = with_added(text, (), {}, "hooks"), ["hooks"]
    for event, entry in workspace_hooks().items():
        listed = _events(read_settings(text)).get(event)
        if listed is None:
            text = with_added(text, ("hooks",), [entry], event)
            made.append(f"hooks/{event}")
        elif not any(_is_ours(hook) for each in listed for hook in _inner(each)):
            text = with_added(text, ("hooks", event), entry)
    return text, made


def without_hooks(text: str, made: list[str]) -> str:
    """The settings without our hooks; what was made for them goes, too, if nobody else has put anything
    there.
    """
    for event, entries in _events(read_settings(text)).items():
        for at in reversed(range(len(entries))):
            text = _without_ours(text, ("hooks", event, at), entries[at])
    for way in reversed([each.split("/") for each in made]):
        if _at(read_settings(text), way) in ([], {}):
            text = without(text, way)
    return text


def _without_ours(text: str, way: Way, entry: Json) -> str:
    hooks = _inner(entry)
    ours = [at for at, hook in enumerate(hooks) if _is_ours(hook)]
    if ours and len(ours) == len(hooks):
        return without(text, way)
    for at in reversed(ours):
        text = without(text, (*way, "hooks", at))
    return text


def read_settings(text: str) -> dict[str, Json]:
    """The settings, or a sentence about why they are none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise _refusal(f"is not JSON{where}") from error
    if not isinstance(found, dict):
        raise _refusal("is not a JSON object")
    _events(found)
    return found


def _events(settings: Mapping[str, Json]) -> dict[str, list[Json]]:
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise _refusal("has `hooks` that are not an object")
    found: dict[str, list[Json]] = {}
    for event, entries in hooks.items():
        if not isinstance(entries, list):
            raise _refusal(f"has `hooks.{event}` that is not a list")
        found[event] = entries
    return found


def _inner(entry: Json) -> list[Json]:
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(hook: Json) -> bool:
    """Whether a hook calls our script, however it is written."""
    if not isinstance(hook, dict):
        return False
    args = hook.get("args")
    words = [hook.get("command"), *(args if isinstance(args, list) else [])]
    return any(isinstance(word, str) and HOOK in word for word in words)


def _at(value: Json, way: list[str]) -> Json:
    for name in way:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _refusal(problem: str) -> UsageError:
    return UsageError(
        f"{SETTINGS} {problem}, so nothing was changed.", "Correct the file, and repeat the command."
    )
