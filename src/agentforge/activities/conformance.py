"""The conformance checks on the tree of a task: after an edit those of the touched files, at the end of a
phase all of them; compared with the base, by the rules of the base.

A role cannot loosen what judges it: settings, exemptions and what the project's tools are told are read from
the base commit, whatever the role wrote since.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from agentforge.activities.world import World
from agentforge.catalog.checks import Enforcement, own_checks
from agentforge.catalog.project_checks import ProjectCheck, read_project_checks
from agentforge.core.reply import Json
from agentforge.core.state import RunView, State
from agentforge.core.values import VIOLATION, CodeViolation
from agentforge.gates.conformance.confined import NO_CONSENT, confined_answer
from agentforge.gates.conformance.contents import content, examined, readings_of, rules_in, tree_contents
from agentforge.gates.conformance.declared import ProjectRules, declared
from agentforge.gates.conformance.engine import CheckReport, CheckScope, examine
from agentforge.gates.conformance.exemptions import EXEMPTIONS_FILE, Exemption, open_on, read_exemptions
from agentforge.gates.conformance.findings import CodeFinding
from agentforge.gates.conformance.project_rules import CommandAnswer, Source
from agentforge.gates.conformance.weighing import Weighed, weighed

IN_QUALITY = frozenset({"max-complexity", "no-duplicate-code"})
"""Checks of the quality gate, which weighs them against the stage's own beginning, too."""
IMPORTS = "imports-resolve"
MAX_NAMED = 10


@dataclass(frozen=True, slots=True)
class TreeConformance:
    """What the checks say of a tree, compared with the base."""

    report: CheckReport
    weighed: Weighed

    @property
    def ran(self) -> bool:
        """Whether any check looked at any file."""
        return bool(self.report.ran)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What has to be settled, a line each."""
        return tuple(_line(each) for each in self.weighed.blocking)

    def violations(self) -> tuple[CodeViolation, ...]:
        """What has to be settled, in the shape that roles are shown."""
        return tuple(
            CodeViolation(
                each.check, each.contract, each.severity, each.path, each.line, each.message, each.fix_hint
            )
            for each in self.weighed.blocking[:MAX_NAMED]
        )

    def to_json(self) -> dict[str, Json]:
        """For the record of a gate."""
        ends: dict[str, list[Json]] = {}
        for each in self.report.results:
            ends.setdefault(each.status, []).append(each.check.name)
        # A check with old findings, or with advice, found nothing that counts.
        failed = dict.fromkeys(each.check for each in self.weighed.blocking)
        passed = [each.check.name for each in self.report.ran if each.check.name not in failed]
        return {
            "passed": [*passed],
            "failed": [*failed],
            **{name: ends.get(name, []) for name in ("not_configured", "not_available", "not_run")},
            **({"unread": [*self.report.unread[:MAX_NAMED]]} if self.report.unread else {}),
            "violations": [each.to_json() for each in self.weighed.blocking[:MAX_NAMED]],
            "exempt": [each.identity for each in self.weighed.exempt],
            "advice": len(self.weighed.advice),
        }


def tree_conformance(
    world: World, state: State, tree: str, paths: Sequence[str], enforcement: Enforcement | None
) -> TreeConformance:
    """What the checks of that moment find in these files of a tree that the base did not have."""
    rules = world.once("rules", state.base_tree, make=lambda: _rules(world, state))
    if isinstance(state, RunView) and state.stage.proves_red and not state.stage.makes("change"):
        # Its tests import what only the next stage creates.
        rules = replace(rules, checks={name: each for name, each in rules.checks.items() if name != IMPORTS})
    exemptions = world.once("exemptions", state.base_tree, make=lambda: _exemptions(world, state))
    kept = world.kept_readings

    def report(of: str, wanted: frozenset[str]) -> CheckReport:
        contents = tree_contents(world.workspace.git, of)

        def load(path: str) -> bytes | None:
            return content(world.workspace.git, contents[path])

        source = Source(contents, load, kept, partial(_run, world, state, of))
        scope = CheckScope(wanted & contents.keys(), enforcement, world.is_test(state), source=source)
        return examine(readings_of(contents, load, kept), rules, scope)

    before = world.once(
        "conformance",
        state.base_tree,
        str(enforcement),
        make=lambda: (
            report(state.base_tree, frozenset(tree_contents(world.workspace.git, state.base_tree))).findings
        ),
    )
    after = report(tree, frozenset(paths))
    today = datetime.now(UTC).date()
    leave = open_on(exemptions, today)
    result = weighed(
        after,
        before=before,
        exempted=[each.identity for each in after.findings if any(one.covers(each) for one in leave)],
        strict=rules.strict,
    )
    return TreeConformance(after, result)


@dataclass(frozen=True, slots=True)
class NamedViolation:
    """The violation that a task is to settle: found on the base, and gone at the end."""

    identity: str
    found: CodeFinding | None
    """As the base has it; None: it is not reproduced there."""
    still: tuple[CodeFinding, ...]
    """What its check finds in the file now, where that is no less than before."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not settled."""
        if self.found is None:
            return (f"{self.identity} is not found on the base, so nothing shows that it was settled",)
        where = f"{self.found.check} is not clean in {self.found.path}"
        return tuple(f"{self.identity} is still there: {where}: {_line(each)}" for each in self.still)

    def to_json(self) -> dict[str, Json]:
        """For the record of a gate."""
        if self.found is None:
            return {"id": self.identity}
        return {
            "id": self.identity,
            "check_id": self.found.check,
            "file": self.found.path,
            "found_on_base": True,
            "found_now": bool(self.still),
        }


def named_violation(world: World, state: RunView) -> NamedViolation | None:
    """The violation that the request of a `fix` names, looked for on the base and in the tree; None where the
    task is about something else.
    """
    named = VIOLATION.search(state.request) if state.pipeline.goal == "fix" else None
    if named is None:
        return None
    rules = _all_rules(world, state)
    before = whole_report(world, state, state.base_tree, rules)
    found = next((each for each in before.findings if each.identity == named[0]), None)
    if found is None:
        return NamedViolation(named[0], None, ())
    now = [
        each
        for each in whole_report(world, state, state.tree, rules).findings
        if (each.check, each.path) == (found.check, found.path)
    ]
    then = [each for each in before.findings if (each.check, each.path) == (found.check, found.path)]
    mine = [each for each in now if each.identity == found.identity]
    return NamedViolation(named[0], found, tuple(mine or (now if len(now) >= len(then) else ())))


def whole_report(world: World, state: State, tree: str, rules: ProjectRules) -> CheckReport:
    """Every check on every file of a tree."""
    git = world.workspace.git
    contents = tree_contents(git, tree)
    return examined(git, contents, rules, world.is_test(state), world.kept_readings)


def project_limit(world: World, state: State, check: str) -> int | None:
    """The limit of a check that the project sets itself, by the rules of the base; None where it has turned
    the check off, or leaves the limit to us.
    """
    found = world.once("all rules", state.base_tree, make=lambda: _all_rules(world, state)).checks.get(check)
    usual = own_checks()[check].limit if check in own_checks() else None
    return found.limit if found is not None and found.limit != usual else None


def _all_rules(world: World, state: State) -> ProjectRules:
    git = world.workspace.git
    own = read_project_checks(rules_in(git, state.base_tree))
    return declared(world.settings, lambda name: git.read_blob(state.base_tree, name), own)


def _rules(world: World, state: State) -> ProjectRules:
    rules = _all_rules(world, state)
    kept = {name: check for name, check in rules.checks.items() if name not in IN_QUALITY}
    return replace(rules, checks=kept)


def _run(world: World, state: State, tree: str, rule: ProjectCheck) -> CommandAnswer:
    """A command of the project on a checkout of a tree, behind the walls, if a person has agreed to it."""
    if not world.agreed(rule.digest):
        return "", NO_CONSENT
    place = world.workspace.pristine(tree, state.base_commit)
    env = world.environment(state)
    return confined_answer(
        world.sandbox, rule, place, env.readable, world.language(state).projects.run_env(env, place)
    )


def _exemptions(world: World, state: State) -> list[Exemption]:
    data = world.workspace.git.read_blob(state.base_tree, EXEMPTIONS_FILE)
    return read_exemptions((data or b"").decode("utf-8", "replace"))


def _violation(each: CodeFinding) -> CodeViolation:
    place = each.path, each.line
    return CodeViolation(each.check, each.contract, each.severity, *place, each.message, each.fix_hint)


def _line(each: CodeFinding) -> str:
    return f"{each.path}:{each.line}: {each.check}: {each.message}. {each.fix_hint}"
