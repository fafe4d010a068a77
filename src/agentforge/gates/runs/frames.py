"""How the test runner was set up: as on the base, or the request asked for the difference."""

from collections.abc import Iterator

from agentforge.gates.change.shadows import is_named
from agentforge.gates.flags import Flag
from agentforge.languages.outcomes import TestRun

SETTINGS_FILE = "settings file"
FREE = "plugin of the tree "
"""What a tree brings along itself is judged by the outcomes of old tests, with it and without it."""
DECIDING = "deciding hooks of "
LOADED_BY = "loaded by"
OPTION = "option "


def set_up_otherwise(base: TestRun, run: TestRun, request: str, name: str) -> list[str]:
    """Why two runs of a project are not to be compared, one sentence each; `name` is the runner's."""
    reasons = [
        _sentence(name, what, before, after)
        for what, before, after in _differences(base, run)
        if not _is_asked_for(base, run, what, request)
    ]
    reasons += [
        f"{line}; {name} did not stop it there on the base: take back what does"
        for line in run.unvouched
        if line not in base.unvouched
    ]
    reasons += [
        f"{identity} is left out of the run, and was not on the base; take back what deselects it"
        for identity in sorted(set(run.deselected) & set(base.results) - set(base.deselected))
    ]
    if not base.rewired:
        reasons += [
            f"the function of {identity} was replaced before it was called; take back what replaces it"
            for identity in run.rewired
        ]
    return reasons


def asked_for(base: TestRun, run: TestRun, request: str) -> list[Flag]:
    """The differences that the words of the request allow: somebody is to look at them."""
    return [
        Flag(
            what,
            f"How the tests run was changed, as the request says: {what} is {_shown(after)}.",
            ruling=True,
        )
        for what, _, after in _differences(base, run)
        if _is_asked_for(base, run, what, request)
    ]


def _differences(base: TestRun, run: TestRun) -> Iterator[tuple[str, str | None, str | None]]:
    if not base.told or not run.told:  # of an older release, or no run at all
        return
    for what in sorted({*base.told, *run.told}):
        before, after = base.told.get(what), run.told.get(what)
        if before == after or what.startswith(FREE):
            continue
        if what.startswith(OPTION) and before is None:  # nobody but who brought it can ask for it
            continue
        if what.startswith(DECIDING) and after is None:
            continue
        if what == LOADED_BY and (not before or set(_words(after)) <= set(_words(before))):
            continue
        yield what, before, after


def _is_asked_for(base: TestRun, run: TestRun, what: str, request: str) -> bool:
    """Whether the request names the setting, or the file that it is in."""
    files = {told.get(SETTINGS_FILE, "") for told in (base.told, run.told)} - {""}
    if what.startswith(DECIDING):
        files = {what.removeprefix(DECIDING)}
    return is_named([*files, what.rpartition(" ")[2]], request)


def _sentence(name: str, what: str, before: str | None, after: str | None) -> str:
    if what.startswith(DECIDING):
        return (
            f"`{what.removeprefix(DECIDING)}` decides how tests end, by {after}; test without that, with a "
            "fixture for example"
        )
    was = "it is not there on the base" if before is None else f"on the base it is {_shown(before)}"
    now = "is not there any more" if after is None else f"is {_shown(after)}"
    return (
        f"{name} does not run as on the base: {what} {now}, and {was}; take back what changes it (it may "
        "change if the request names it)"
    )


def _shown(value: str | None) -> str:
    return f"`{value}`" if value else "empty"


def _words(value: str | None) -> list[str]:
    return (value or "").split(", ")
