"""Replies in the spelling of other programs, brought into ours where nothing is guessed: what calls a tool by
a name and gives it arguments means the same, whatever the two keys are called.
"""

from collections.abc import Iterable

from agentforge.core.reply import Json
from agentforge.models.reply.json_text import BadJson, read_whole

_OWN = frozenset({"thought", "notes", "actions", "artifacts", "signal", "summary"})
_LISTS = ("actions", "tool_calls", "toolCalls", "calls", "function_calls")
_NAMES = ("name", "action", "tool", "tool_name", "toolName", "function")
_ARGUMENTS = ("args", "arguments", "parameters", "params", "input", "tool_input", "kwargs")
_BESIDE = frozenset({"type", "id", "index", "call_id", "tool_call_id", "thought", "reason", "description"})
"""What may stand beside a name and its arguments without being one of them."""
_SPOKEN = {
    "thought": ("thinking", "reasoning", "analysis", "thoughts"),
    "actions": _LISTS[1:],
}
"""Other names of our own keys, where ours is not there."""
_SUCCESS = frozenset({"done", "complete", "completed", "finished", "ok", "succeeded"})


def usual_shape(value: Json) -> Json:
    """The same reply as `reply_from_json` reads it. What is in no known spelling stays as it is, for that to
    judge.
    """
    if isinstance(value, list):
        return {"actions": [_action(item) for item in value]} if value and all(map(is_call, value)) else value
    if not isinstance(value, dict):
        return value
    if is_call(value):
        return {"actions": [_action(value)]}
    found = _renamed(value)
    if isinstance(actions := found.get("actions"), list):
        found["actions"] = [_action(item) for item in actions]
    elif is_call(actions):
        found["actions"] = [_action(actions)]
    if isinstance(signal := found.get("signal"), str) and signal.strip().lower() in _SUCCESS:
        found["signal"] = "success"
    if found.get("signal") == "":
        del found["signal"]
    return _documents(found)


def one_reply(values: Iterable[Json]) -> Json:
    """Calls that were written one after the other, as one reply; None where they are anything else: of two
    whole replies nobody knows whether the second corrects the first.
    """
    found = list(values)
    if found and all(part == found[0] for part in found):
        return found[0]
    return found if all(map(is_call, found)) else None


def is_call(value: Json) -> bool:
    """Whether this is one call of a tool, in any spelling that has a name and arguments apart."""
    if not isinstance(value, dict) or set(value) & (_OWN - {"thought"}):
        return False
    if isinstance(inner := value.get("function"), dict):
        return _name_of(inner) is not None and set(value) <= _BESIDE | {"function"}
    return _name_of(value) is not None


def _name_of(value: dict[str, Json]) -> str | None:
    names = [key for key in _NAMES if isinstance(value.get(key), str)]
    return names[0] if names else None


def _action(item: Json) -> Json:
    if not isinstance(item, dict) or ("name" in item and set(item) <= {"name", "args"}):
        return item
    if isinstance(inner := item.get("function"), dict) and set(item) <= _BESIDE | {"function"}:
        return _action({key: part for key, part in inner.items() if key != "type"})
    if (name := _name_of(item)) is None:
        return _keyed(item)
    rest = {key: part for key, part in item.items() if key != name}
    apart = [key for key in _ARGUMENTS if key in rest]
    if len(apart) == 1 and set(rest) - set(apart) <= _BESIDE:
        arguments = _object(rest[apart[0]])
        return {"name": item[name], "args": arguments} if isinstance(arguments, dict) else item
    if apart:
        return item
    return {"name": item[name], "args": {key: part for key, part in rest.items() if key != "type"}}


def _keyed(item: dict[str, Json]) -> Json:
    """`{"edit_file": {…}}`: the one key is the tool."""
    if len(item) == 1:
        ((name, arguments),) = item.items()
        if isinstance(arguments, dict):
            return {"name": name, "args": arguments}
    return item


def _object(value: Json) -> Json:
    """Arguments that were written as the text of a JSON object, as some wires have them."""
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            return read_whole(value) if value.strip() else {}
        except BadJson:
            return value
    return value


def _renamed(value: dict[str, Json]) -> dict[str, Json]:
    found = dict(value)
    for own, others in _SPOKEN.items():
        there = [key for key in others if key in found]
        wanted: type = str if own == "thought" else list
        if own not in found and len(there) == 1 and isinstance(found[there[0]], wanted):
            found[own] = found.pop(there[0])
    return found


def _documents(found: dict[str, Json]) -> Json:
    """An object under a name that is none of ours is a call by that name: `{"review": {…}}` hands it in. Who
    has no such tool says so.
    """
    named = [key for key, part in found.items() if key not in _OWN and isinstance(part, dict)]
    actions = found.get("actions", [])
    if not named or not isinstance(actions, list):
        return found
    calls: list[Json] = [{"name": key, "args": found.pop(key)} for key in named]
    return {**found, "actions": [*actions, *calls]}
