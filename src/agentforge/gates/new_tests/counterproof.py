"""The counterproof: the new tests once more, each with a failure of ours at its end. One that is still
reported as passed cannot fail, or something in its process decides what is reported.

Tests and code share a process with what reports on them, and whatever that process says can be made up in it.
But a made-up pass looks the same here: what is wrong fails where it failed, and the same hand that hid it
hides ours. Only what reads the text of the tests can tell the two apart.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentforge.core.reply import Json
from agentforge.gates.flags import Flag
from agentforge.gates.runs.pristine import PristineRunner, result_of
from agentforge.languages.outcomes import GOOD, Outcome, TestRun
from agentforge.languages.symbols import decode
from agentforge.languages.tests import made_to_fail

MEDDLES = "looks into the process that it runs in"
"""What the flag of code says that could make up a report: then no old test is beyond doubt either."""
MOST_OLD = 50
"""Old tests that are asked then, at most; which, the tree decides."""


@dataclass(frozen=True, slots=True)
class Counterproof:
    """What the tests did that had to fail."""

    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    not_run: str = ""
    """Why nothing can be said."""

    @property
    def reasons(self) -> list[str]:
        """The tests that passed all the same, a sentence each; what was not seen to fail has not failed."""
        if self.not_run:
            return [f"the new tests did not run with a failure at their end: {self.not_run}"]
        return [
            f"{identity} passes even with a failure put at its end: it cannot fail, or something in its "
            "process changes what is reported; take that back"
            for identity, outcome in self.outcomes.items()
            if outcome in GOOD
        ]

    def to_json(self) -> dict[str, Json]:
        """As the record of the gate keeps it."""
        return {"counterproof": {"outcomes": {**self.outcomes}, "not_run": self.not_run}}


def counterproof(runner: PristineRunner, tree: str, ids: Sequence[str]) -> Counterproof:
    """Run these tests with a failure at the end of each. Those whose text the file does not have are left
    out. The run is no evidence of anything else, so it is not among the runner's.
    """
    git = runner.workspace.git
    entries: dict[str, tuple[str, str] | None] = {}
    asked: set[str] = set()
    modes = {entry.path: entry.mode for entry in git.ls_tree(tree)}
    for path in sorted({identity.partition("::")[0] for identity in ids} & modes.keys()):
        wanted = [identity for identity in ids if identity.partition("::")[0] == path]
        before = decode(git.read_blob(tree, path) or b"", path)
        text, found = made_to_fail(before, path, wanted)
        if not found and runner.language.declared:  # its language is known, and its runner is not
            text, found = runner.language.tests.made_to_fail(before, wanted)
        if found:
            entries[path], asked = (modes[path], git.hash_blob(text.encode())), asked | found
    if not asked:
        return Counterproof()
    run = replace(runner, runs=[]).run(git.overlay_tree(tree, entries), sorted(asked))
    if run.status != "ran":
        return Counterproof(not_run=run.reason)
    return Counterproof({identity: result_of(run, identity).outcome for identity in sorted(asked)})


def run_by_others(
    runner: PristineRunner, base: str, tree: str, new: Collection[str], run: TestRun
) -> list[str]:
    """Where a change edits a list of what is built and run: the old tests that no longer fail when their file
    does, and did on the base. Something else passes in their name.
    """
    changed = {change.path.rpartition("/")[2] for change in runner.workspace.git.diff_names(base, tree)}
    if not runner.language.declared or changed.isdisjoint(runner.language.projects.BUILD_FILES):
        return []
    found = counterproof(runner, tree, _old(tree, new, run))
    passing = [identity for identity, outcome in found.outcomes.items() if outcome in GOOD]
    before = counterproof(runner, base, passing).outcomes if passing else {}
    return [
        f"{identity} passes even where its file fails, and does not on the base: a list says now that "
        "something else runs in its name; put that back"
        for identity in passing
        if before.get(identity, "passed") not in GOOD
    ]


def in_doubt(tree: str, new: Collection[str], run: TestRun, flags: Sequence[Flag]) -> list[str]:
    """Which tests need it: the new ones, and old ones where the change meddles with its process."""
    if not any(MEDDLES in flag.text for flag in flags):
        return [*new]
    return [*new, *_old(tree, new, run)]


def _old(tree: str, new: Collection[str], run: TestRun) -> list[str]:
    old = sorted(
        identity
        for identity, result in run.results.items()
        if result.outcome == "passed" and "::" in identity and identity not in new
    )
    return random.Random(tree).sample(old, min(len(old), MOST_OLD))  # noqa: S311 - repeatable
