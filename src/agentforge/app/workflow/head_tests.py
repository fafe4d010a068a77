"""A test of the repository, run without a task: on a pristine checkout of the commit that is checked out, in
the sandbox and the environment that a task of the same commit has.
"""

import contextlib
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agentforge.activities.environments import built_environment
from agentforge.activities.task_permissions import (
    WEAK_ADVICE,
    WEAK_CONSENT,
    WEAK_QUESTION,
    project_of,
    sandbox_name,
)
from agentforge.app.setup.settings import Own, read_own_settings, read_project_settings
from agentforge.core.errors import PolicyError, Unusable, UserError
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.joined import joined_language
from agentforge.languages.outcomes import GOOD, TestRun
from agentforge.languages.repository import Project, find_projects, joined_environment, touched
from agentforge.sandbox.base import Sandbox, is_weak
from agentforge.sandbox.walls.ladder import choose
from agentforge.sandbox.worktree import Workspace
from agentforge.store.site import Site
from agentforge.store.user.consents import consented
from agentforge.system.holds import Hold

_NAME = "head"
"""Of the place where it runs; no task is called so."""
_SECONDS = 900
_RED = ("failed", "error")


@dataclass(frozen=True, slots=True)
class HeadTest:
    """How one test did on the commit that is checked out."""

    end: Literal["passed", "failed", "not_run"]
    detail: str


def run_head_test(site: Site, identity: str, progress: Callable[[str], None] = lambda _: None) -> HeadTest:
    """Run one test, by its id. One that could not run has not passed; then the line that would run it is
    said.
    """
    try:
        commit = site.git.head()
        tree = site.git.tree_of(commit)
        paths = [entry.path for entry in site.git.ls_tree(tree) if entry.kind == "blob"]
        path = identity.partition("::")[0]
        if path not in paths:
            return HeadTest("not_run", f"{path} is not a file of the commit that is checked out")
        settings = read_project_settings(site.git, commit)
        projects = find_projects(lambda each: site.git.read_blob(tree, each), paths, settings)
        project = (touched(projects, (path,)) or projects)[0]
    except UserError as error:
        return HeadTest("not_run", str(error))
    by_hand = f"by hand: `{shlex.join((*project.plan.test_command, project.own(identity)))}`"
    progress(f"running {identity} at {commit[:12]}")
    try:
        _, own = read_own_settings(site.home.path / "config.yaml")
        run = _run(site, (commit, tree), projects, project, identity, own)
    except UserError as error:
        return HeadTest("not_run", f"{error.sentence.rstrip('.')}; {by_hand}")
    return _read(run, identity, by_hand)


def _run(  # what is run, where, and by whose settings
    site: Site, at: tuple[str, str], projects: tuple[Project, ...], project: Project, identity: str, own: Own
) -> TestRun:
    commit, tree = at
    walls = _walls(site, own)
    place = site.home.trees(site.git.top, f"{_NAME}-{os.getpid()}").root
    workspace = Workspace(site.git, place, _NAME)
    with Hold(place):
        try:
            env = built_environment(
                workspace,
                project,
                tree,
                commit,
                walls,
                cache=site.home.environments(site.git.top),
                network=own.network,
                index_passwords=own.index_passwords,
            )
            runner = PristineRunner(
                workspace,
                walls,
                joined_environment({project.name: env}, projects),
                commit,
                project.plan.test_command,
                place / "scratch",
                _SECONDS,
                lambda _: True,
                joined_language(projects),
            )
            return runner.run(tree, (identity,))
        finally:
            workspace.remove()
            with contextlib.suppress(Unusable):  # another command that looks at the same time was quicker
                for ref, commit_of in site.git.refs(f"{workspace.ref}/").items():
                    site.git.delete_ref(ref, commit_of)


def _walls(site: Site, own: Own) -> Sandbox:
    walls = choose(sandbox_name(own.sandbox or "auto"), own.container)
    if is_weak(walls) and not own.weak and not consented(site.home, project_of(site), WEAK_CONSENT):
        raise PolicyError(WEAK_QUESTION, WEAK_ADVICE)
    return walls


def _read(run: TestRun, identity: str, by_hand: str) -> HeadTest:
    if run.status != "ran":
        return HeadTest("not_run", f"{run.reason.rstrip('.')}; {by_hand}")
    found = [each for each in run.results.values() if each.id.partition("[")[0] == identity.partition("[")[0]]
    found = [each for each in found if each.id == identity] or found
    red = next((each for each in found if each.outcome in _RED), None)
    if red is not None:
        return HeadTest("failed", f"{red.outcome}: {red.message}".rstrip(": "))
    if found and all(each.outcome in GOOD for each in found):
        return HeadTest("passed", "it passes")
    why = found[0].message or found[0].outcome if found else "no such test"
    return HeadTest("not_run", f"{why}; {by_hand}")
