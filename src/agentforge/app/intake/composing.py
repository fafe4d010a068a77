"""Building on an earlier task: what it made is taken in again, if the code that it is about is as it was."""

from collections.abc import Mapping
from dataclasses import replace

from agentforge.app.intake.importing import ExternalInput
from agentforge.core.errors import Unusable, UsageError
from agentforge.core.pipeline import Part
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.statuses import spell_status
from agentforge.gates.change.documents import texts
from agentforge.store.site import Site
from agentforge.store.task import artifacts
from agentforge.store.task.journal import Journal
from agentforge.store.task.views import final_name
from agentforge.store.user.index import Index

SHOWN = 5
_OF_A_SUITE = ("test_files", "supersedes", "amends")
"""What somebody wrote in a suite; the rest was measured, and is measured again."""
_AS_A_FILE = "Hand in its specification as a file, with --spec: it is then checked against this repository."


def from_task(site: Site, name: str, base: str) -> list[ExternalInput]:
    """The specification of a completed task, and its tests if it ends with them."""
    journal = _journal(site, name)
    state = journal.state
    if state.status != "completed":
        raise UsageError(
            f"{state.task_id} {spell_status(state.status)}, so nothing of it is final yet.",
            f"`agentforge continue {state.task_id}` resumes it.",
        )
    _check_code_is_here(site, state)
    specification = _input(journal, "requirements")
    if specification is None:
        made = sorted({ref.contract for item in state.accepted for ref in item.finals})
        raise UsageError(
            f"{state.task_id} made no specification; it made {', '.join(made) or 'nothing'}.",
            "`agentforge design …` makes one.",
        )
    tree = site.git.tree_of(base)
    check_fresh(site, state, specification.document, base)
    tests = _input(journal, "tests") if state.artifact_for("change") is None else None
    return [specification] if tests is None else [specification, _with_tree(site, state, tests, tree)]


def _check_code_is_here(site: Site, state: State) -> None:
    """Refuses a record that was copied here: what it is about must be in this repository."""
    for name in (state.base_tree, state.tree):
        if site.git.find(f"{name}^{{tree}}") is None:
            raise UsageError(
                f"{state.task_id} is about code that this repository does not have.",
                _AS_A_FILE,
            )


def check_fresh(site: Site, state: State, specification: Mapping[str, Json], base: str) -> None:
    """Refuses a specification that is about code which has changed since, and says what to do."""
    tree = site.git.tree_of(base)
    cited, promised = (set(texts(specification, key)) for key in ("files_to_modify", "files_to_create"))
    changed = {change.path for change in site.git.diff_names(state.base_tree, tree)}
    there = {entry.path for entry in site.git.ls_tree(tree)}
    stale = [f"{path} has changed" for path in sorted(cited & changed)]
    stale += [f"{path} exists now" for path in sorted(promised & there)]
    if stale:
        more = f" and {len(stale) - SHOWN} more" if len(stale) > SHOWN else ""
        raise UsageError(
            f"What {state.task_id} specified is out of date at {base[:12]}: "
            f"{', '.join(stale[:SHOWN])}{more}.",
            f"Design it again, or build it on the code it is about: --base {state.base_commit[:12]}.",
        )


def _journal(site: Site, name: str) -> Journal:
    try:
        return site.read(site.find(name))
    except UsageError:
        with Index(site.home.task_index, lambda _: None) as index:
            elsewhere = [row for row in index.rows() if row.task_id == name and row.repo != str(site.git.top)]
        if not elsewhere:
            raise
        raise UsageError(
            f"{name} is a task of another repository, {elsewhere[0].repo}, and is about the code there.",
            _AS_A_FILE,
        ) from None


def _input(journal: Journal, part: Part) -> ExternalInput | None:
    ref = journal.state.artifact_for(part)
    if ref is None:
        return None
    try:
        document = artifacts.read(journal.files, ref)
    except Unusable as error:
        raise UsageError(error.sentence, error.next_step) from None
    task = journal.state.task_id
    return ExternalInput(part, document, "task_reference", f"{task}/{final_name(ref)}", task)


def _with_tree(site: Site, state: State, tests: ExternalInput, tree: str) -> ExternalInput:
    """The tests with the base's tree that has their files."""
    changed = {change.path for change in site.git.diff_names(state.base_tree, state.tree)}
    entries = {entry.path: (entry.mode, entry.oid) for entry in site.git.ls_tree(state.tree)}
    overlaid = site.git.overlay_tree(tree, {path: entries.get(path) for path in changed})
    written = {key: value for key, value in tests.document.items() if key in _OF_A_SUITE}
    return replace(tests, document=written, tree=overlaid)
