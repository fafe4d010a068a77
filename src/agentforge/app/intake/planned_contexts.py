"""What the first step of a request would be shown, before it is a task: assembled in a scratch directory. No
model is asked, and nothing is written to the repository.
"""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agentforge.activities.assemble import assemble_step
from agentforge.activities.world import World
from agentforge.app.intake.starting import EMPTY, StartOptions, choose_line
from agentforge.app.models.answering import Answering
from agentforge.app.record.contexts import TOOLS, ContextReport, sent_blocks
from agentforge.app.setup.settings import read_settings
from agentforge.catalog.load import Catalog, ResolvedPipeline
from agentforge.catalog.modes import USUAL, mode_named
from agentforge.context.blocks import LASTING, kind_of
from agentforge.core.decide import decide
from agentforge.core.effects import Prepare
from agentforge.core.errors import UsageError
from agentforge.core.evolve import evolve
from agentforge.core.inputs import Create, Input, Prepared
from agentforge.core.pending import at_work, pending
from agentforge.core.spec import TaskSpec
from agentforge.core.state import State
from agentforge.sandbox.base import Confinement, SandboxName
from agentforge.sandbox.worktree import Workspace
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.pack import Pack
from agentforge.system.processes import Completed
from agentforge.system.secrets.redact import redact


class NothingRuns:
    """Walls for who only looks. Running anything behind them is a programming error."""

    name: SandboxName = "none"

    # the port's own names
    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:  # noqa: ARG002 - the port
        """Never called."""
        raise AssertionError("nothing is run here")

    def guarantee(self) -> dict[str, str]:
        """Never asked for."""
        return {}


def planned_context(site: Site, options: StartOptions) -> ContextReport:
    """The context of the first step that a request would have. It spends nothing and leaves nothing."""
    if not options.request.strip():
        raise UsageError("The request is empty.", EMPTY)
    with tempfile.TemporaryDirectory(prefix="agentforge-context-") as name:
        return _planned(site, replace(options, request=redact(options.request)[0]), Path(name))


def _planned(site: Site, options: StartOptions, scratch: Path) -> ContextReport:
    git = site.git
    base = git.resolve(options.base) if options.base else git.head()
    settings = read_settings(git, base, model=options.model, sandbox=None, budget_usd=None)
    mode = mode_named(options.mode or str(settings.project.get("mode") or USUAL))
    tree = git.tree_of(base)
    catalog = Catalog.packaged().with_overrides(settings.overrides)
    resolved, reasons, _ = choose_line(site, options, mode, catalog, tree)
    files = TaskFiles(scratch / "task-dry-run")
    workspace = Workspace(git, scratch / "trees", files.task_id)
    workspace.look_at(tree)
    with Pack(files.pack) as pack:
        catalogue = pack.put(json.dumps(resolved.to_json(), ensure_ascii=False).encode())
        spec = TaskSpec(
            files.task_id,
            options.request,
            base,
            tree,
            catalogue=catalogue,
            pipeline=resolved.pipeline(),
            triage=reasons,
            marker="0123456789abcdef",
        )
        world = World(
            files=files,
            pack=pack,
            workspace=workspace,
            sandbox=NothingRuns(),
            models=Answering.of(site.home, settings).router(),
            catalogue=ResolvedPipeline.from_json(resolved.to_json()),
            settings=settings.project,
            cache=scratch / "environments",
            created_at="",
            record=lambda _key, _input: (),
            head=lambda: "",
        )
        return _first(world, _entered(spec))


def _entered(spec: TaskSpec) -> State:
    """The task as it would stand when its first stage begins."""
    state = _after(State(), Create(spec))
    owed = next(effect for effect in pending(state) if isinstance(effect, Prepare))
    return _after(state, Prepared(spec.base_tree, ()), owed.key)


def _after(state: State, given: Input, key: str = "") -> State:
    for event in decide(state, given, key).events:
        state = evolve(state, event)
    return state


def _first(world: World, state: State) -> ContextReport:
    # Not what is owed now: a stage that needs the environment waits for the baseline, which nobody measures
    # here.
    run = next((run for run in at_work(state) if run.point == "assemble"), None)
    if run is None:
        raise UsageError(
            f"The first stage of lane {state.pipeline.lane} calls no model, so it has no context."
        )
    seen = state.seen_by(run.id)
    made = assemble_step(world, seen).context
    blocks = []
    lasting = True
    for block in sent_blocks(world.pack, made.ref):
        lasting = lasting and (block.name.startswith(f"{TOOLS}: ") or kind_of(block.name).stays in LASTING)
        blocks.append(replace(block, reused=lasting))
    return ContextReport(
        task="",
        step=1,
        stage=seen.stage.name,
        role=seen.stage.role or "",
        seat="",
        lane=state.pipeline.lane,
        reasons=state.triage,
        cap=seen.stage.context_tokens,
        blocks=tuple(blocks),
        dropped=made.dropped,
        flagged=made.flagged,
    )
