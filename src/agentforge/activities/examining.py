"""The examiner's two sides: what it is shown, which is all that it knows of the work, and how its checks are
judged.
"""

from dataclasses import replace
from functools import partial

from agentforge.activities.world import World, document_refs
from agentforge.context.assemble import StepView
from agentforge.core.examining import is_about_checks
from agentforge.core.pipeline import Stage
from agentforge.core.state import RunView, State
from agentforge.core.values import ArtifactRef
from agentforge.gates.change.documents import objects, texts
from agentforge.gates.new_tests.amendments import amended
from agentforge.gates.new_tests.examined import ExaminedCase, judge_examined, place_of_checks
from agentforge.gates.verdict import Verdict
from agentforge.languages.interface import public_names
from agentforge.languages.symbols import decode
from agentforge.languages.table import is_code
from agentforge.system import strict_yaml
from agentforge.system.secrets.redact import redact

MAX_FILES = 20
MAX_NAMES = 200


def is_blind(stage: Stage) -> bool:
    """Whether whoever works in a stage may see neither tests nor change."""
    return stage.makes("examination")


def blind(world: World, state: RunView, view: StepView) -> StepView:
    """A step as an examiner sees it: what was asked and promised, how the result is called, and its own last
    words. `view` holds nothing of tests or change: this adds what may be known of them.
    """
    documents, refs = world.documents(state), document_refs(state)
    parts = world.by_part(documents)
    promised = amended(parts.get("requirements", {}), parts.get("tests", {}))
    return replace(
        view,
        artifacts=tuple(
            (name, world.once("yaml", refs[name], make=partial(strict_yaml.dump, documents[name])))
            for name in (*state.stage.requires, *(product.contract for product in state.stage.products))
            if name in documents
        ),
        success_criteria=tuple(
            line for item in objects(promised, "requirements") for line in texts(item, "acceptance_criteria")
        ),
        facts=signatures(world, state),
    )


def shown_answers(state: State) -> tuple[tuple[str, str], ...]:
    """What persons said, for the roles of the work. A yes or no to one call is told once, with the call; what
    is said of an examiner's check goes to nobody else, unless it sends the work back.
    """
    return tuple(
        (item.question.text, item.answer)
        for item in state.escalations
        if item.answer is not None and item.kind != "permission" and not is_about_checks(item)
    )


def signatures(world: World, state: RunView) -> str:
    """How the files that the specification names are called now; of a specification that names none, those
    that changed. No line of any body is among it, and nothing of tests.
    """
    git, is_test = world.workspace.git, world.is_test(state)
    promised = world.parts(state).get("requirements", {})
    named = [*texts(promised, "files_to_modify"), *texts(promised, "files_to_create")]
    changed = [change.path for change in git.diff_names(state.base_tree, state.tree) if change.status != "D"]
    lines = [f"Modules are imported from: {', '.join(world.plan(state).import_roots)}."]
    for paths in (named, changed):
        wanted = [path for path in dict.fromkeys(paths) if is_code(path) and not is_test(path)]
        found = [line for path in wanted[:MAX_FILES] for line in _of_file(world, state, path)]
        if found:
            return redact("\n".join((*lines, "What is there now, by file:", *found[:MAX_NAMES])))[0]
    return lines[0]


def _of_file(world: World, state: RunView, path: str) -> list[str]:
    data = world.workspace.git.read_blob(state.tree, path)
    names = public_names(decode(data, path), path) if data is not None else {}
    shown = [
        f"- {name}" if called in (name, name.rpartition(".")[2]) else f"- {name}: {called}"
        for name, called in names.items()
    ]
    return [f"{path}:", *shown] if shown else []


def judge_checks(world: World, state: RunView) -> tuple[Verdict, tuple[ArtifactRef, ...]]:
    """The gate `examined`. The tree that was run is kept for whoever verifies; the branch never has it."""
    world.progress("running the held-out checks")
    documents = world.parts(state)
    case = ExaminedCase(
        state.base_tree,
        state.tree,
        documents.get("examination", {}),
        documents.get("requirements", {}),
        place_of_checks(world.language(state), world.plan(state).test_paths),
        state.escalations,
    )
    verdict = judge_examined(world.pristine_runner(state), case, owed=not state.run.skipped)
    if isinstance(tree := verdict.record.get("examined_tree"), str):
        world.workspace.keep(tree)
    return verdict, ()
