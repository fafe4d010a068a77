"""The criteria to abort of every decision in force, looked at: which have come true, which have not, and
which only a person can judge. One that came true reopens its debate.
"""

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Literal

from agentforge.activities.task_permissions import project_of, sandbox_name
from agentforge.app.checks.checking import CheckRequest, check
from agentforge.app.evidence.metrics import FIGURES, measure
from agentforge.app.setup.settings import read_own_settings
from agentforge.app.workflow.files import state_of
from agentforge.app.workflow.head_tests import run_head_test
from agentforge.app.workflow.phasing import Checkout, PhaseResult
from agentforge.core.errors import UserError
from agentforge.core.reply import Json
from agentforge.gates.debates.kill_switches import Detector, SwitchWatch, watch_of
from agentforge.languages.toolchains import find_toolchains, needs_here, readable, with_toolchains
from agentforge.phases import advance, debates
from agentforge.phases.advance import current_state
from agentforge.phases.knowledge import read_decisions, registry_path
from agentforge.phases.tree import WorkflowTree
from agentforge.sandbox.base import Confinement
from agentforge.sandbox.walls.ladder import choose
from agentforge.store.site import Site
from agentforge.store.user.consents import consent, consented
from agentforge.system.files import make_own_directory

WatchEnd = Literal["fired", "holds", "not_run", "person"]
SECONDS = 120
_NO_CONSENT = "nobody agreed to this command; `agentforge phase check --allow-commands` agrees to it as it is"


@dataclass(frozen=True, slots=True)
class WatchedSwitch:
    """A criterion, and how it stands."""

    decision: str
    debate_id: str
    watch: SwitchWatch
    end: WatchEnd
    detail: str = ""

    def record(self) -> dict[str, Json]:
        """The same as `--json` prints it."""
        switch = self.watch.switch
        return {
            "decision": self.decision,
            "debate_id": self.debate_id,
            "condition": switch.condition,
            "threshold": switch.threshold,
            "detection": switch.detection,
            "timeline": switch.timeline,
            "fallback": switch.fallback,
            "by": self.watch.by,
            "status": self.end,
            "detail": self.detail or None,
        }


@dataclass(frozen=True, slots=True)
class SwitchCheck:
    """What the watch of the criteria to abort found."""

    switches: tuple[WatchedSwitch, ...]
    reopened: PhaseResult | None = None
    problem: str = ""
    """Why no debate was reopened although one should be."""

    @property
    def fired(self) -> tuple[WatchedSwitch, ...]:
        """The criteria that are met: the debate of each is held again."""
        return tuple(each for each in self.switches if each.end == "fired")


def check_switches(checkout: Checkout, site: Site, *, agree: bool = False) -> SwitchCheck:
    """Look at every criterion; with `agree` the person agrees to the commands among them, as they are now.
    The debate of one that came true is reopened in the current phase.
    """
    tree = checkout.read()
    current_state(tree)
    found = []
    for decision, debate_id, watch in _watched(tree):
        if agree and watch.by == "command":
            make_own_directory(site.home.path)
            consent(site.home, project_of(site), watch.digest, checkout.clock())
        end, detail = _LOOK[watch.by](checkout, site, watch)
        found.append(WatchedSwitch(decision, debate_id, watch, end, detail))
    fired = tuple(dict.fromkeys(each.decision for each in found if each.end == "fired"))
    if not fired:
        return SwitchCheck(tuple(found))
    why = "; ".join(each.watch.switch.condition for each in found if each.end == "fired")
    try:
        reopened = checkout.apply(lambda tree: advance.reopen_debate(tree, fired, why))
    except UserError as error:
        return SwitchCheck(tuple(found), problem=str(error))
    return SwitchCheck(tuple(found), reopened)


def _watched(tree: WorkflowTree) -> list[tuple[str, str, SwitchWatch]]:
    """Every criterion of a decision that is in force."""
    found: list[tuple[str, str, SwitchWatch]] = []
    seen: set[str] = set()
    for decision in read_decisions(tree.get(registry_path("decisions.md")) or ""):
        debate_id = decision.debate_id
        if not decision.is_in_force or not debate_id or debate_id in seen:
            continue
        seen.add(debate_id)
        switches = debates.judge(tree, debate_id).synthesis.kill_switches
        found += [(decision.id, debate_id, watch_of(each)) for each in switches if each.is_filled]
    return found


def _date(checkout: Checkout, _site: Site, watch: SwitchWatch) -> tuple[WatchEnd, str]:
    try:
        day = date.fromisoformat(watch.subject)
    except ValueError:
        return "person", f"{watch.subject} is not a date"
    return ("fired" if checkout.clock().date() > day else "holds"), ""


def _file(checkout: Checkout, _site: Site, watch: SwitchWatch) -> tuple[WatchEnd, str]:
    path = PurePosixPath(watch.subject)
    if path.is_absolute() or ".." in path.parts:
        return "person", "the path is not one of this repository"
    try:
        return ("fired" if state_of(checkout.top, path.as_posix()) is not None else "holds"), ""
    except (UserError, OSError) as error:
        return "not_run", str(error)


def _check(_checkout: Checkout, site: Site, watch: SwitchWatch) -> tuple[WatchEnd, str]:
    outcome = check(site, CheckRequest())
    result = next((each for each in outcome.results if each.check.name == watch.subject), None)
    if result is None:
        return "not_run", f"there is no check {watch.subject}; `agentforge check --list` shows all"
    if result.status not in ("passed", "failed"):
        return "not_run", result.reason or str(result.status)
    return ("fired" if result.status == "failed" else "holds"), f"{result.found} found"


def _metric(_checkout: Checkout, site: Site, watch: SwitchWatch) -> tuple[WatchEnd, str]:
    if watch.subject not in FIGURES:
        return "not_run", f"there is no metric {watch.subject}; known are {', '.join(FIGURES)}"
    value = measure(site.home).all[watch.subject]
    if value is None:
        return "not_run", "there is nothing to measure yet"
    return ("fired" if value > watch.limit else "holds"), f"it is {value:g}"


def _test(_checkout: Checkout, site: Site, watch: SwitchWatch) -> tuple[WatchEnd, str]:
    """Run on the commit that is checked out, as a task of it would run it."""
    done = run_head_test(site, watch.subject)
    ends: Mapping[str, WatchEnd] = {"passed": "holds", "failed": "fired", "not_run": "not_run"}
    return ends[done.end], done.detail


def _command(checkout: Checkout, site: Site, watch: SwitchWatch) -> tuple[WatchEnd, str]:
    """In the sandbox, without network, on a checkout that it can only read; and only as it was agreed to."""
    if not consented(site.home, project_of(site), watch.digest):
        return "not_run", _NO_CONSENT
    try:
        words = tuple(shlex.split(watch.subject))
    except ValueError as error:
        return "not_run", f"the command cannot be read: {error}"
    _, own = read_own_settings(site.home.path / "config.yaml")
    walls = choose(sandbox_name(own.sandbox or "auto"), own.container)
    chains = find_toolchains(needs_here(checkout.top), os.environ, Path.home())
    env = with_toolchains({"PATH": "/usr/local/bin:/usr/bin:/bin"}, chains)
    confinement = Confinement(
        cwd=checkout.top, read=(checkout.top, *readable(chains)), env=env, timeout_s=SECONDS
    )
    try:
        done = walls.run(words, confinement)
    except OSError as error:
        return "not_run", f"it could not be started: {error.strerror}"
    if done.timed_out or done.beyond:
        return "not_run", done.beyond or f"it did not end within {SECONDS} s"
    return ("holds" if done.code == 0 else "fired"), f"it ended with {done.code}"


def _person(_checkout: Checkout, _site: Site, _watch: SwitchWatch) -> tuple[WatchEnd, str]:
    return "person", ""


_LOOK: Mapping[Detector, Callable[[Checkout, Site, SwitchWatch], tuple[WatchEnd, str]]] = {
    "date": _date,
    "file": _file,
    "check": _check,
    "metric": _metric,
    "test": _test,
    "command": _command,
    "person": _person,
}
