"""How far a task can go beyond its last stage: the rest of its line, or the pipeline that continues it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agentforge.catalog.debated import Debated
from agentforge.catalog.ends import Ends, legal_exits, required_from_outside
from agentforge.catalog.line import climb
from agentforge.catalog.load import Catalog, ResolvedPipeline
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import Pipeline, Stage

_BY_NAME = ("roles", "contracts", "prompts", "review_prompts", "tools")
"""What a task keeps by name: of two lines it keeps both."""


@dataclass(frozen=True, slots=True)
class Further:
    """A line that a task can go on with."""

    pipeline: str
    lane: str
    exits: tuple[str, ...]
    """The stages that it can go to, in order; the last is where the line ends."""


def further_lines(catalog: Catalog, pipeline: Pipeline) -> list[Further]:
    """The lines behind a task's last stage: the rest of its own first, then the pipeline that continues
    it.
    """
    found = []
    if pipeline.ends_early:
        found.append(_further(catalog, pipeline.name, pipeline.lane, pipeline))
    if pipeline.continues_with:
        found.append(_further(catalog, pipeline.continues_with, None, pipeline))
    return [line for line in found if line is not None and line.exits]


def targets(catalog: Catalog, pipeline: Pipeline) -> tuple[str, ...]:
    """The stages that a task can be extended to."""
    return tuple(dict.fromkeys(name for line in further_lines(catalog, pipeline) for name in line.exits))


def with_targets(resolved: ResolvedPipeline, catalog: Catalog) -> ResolvedPipeline:
    """What a task keeps, with the stages that it can be extended to."""
    found = [*targets(catalog, resolved.pipeline())]
    if not found:
        return resolved
    return ResolvedPipeline(
        {**resolved.value, "pipeline": {**resolved.value["pipeline"], "extends_to": found}}
    )


def extended(catalog: Catalog, kept: ResolvedPipeline, pipeline: Pipeline, target: str) -> ResolvedPipeline:
    """What a task keeps that goes on to `target`: its own stages as they are, and those behind them. A
    `UsageError` names the legal targets.
    """
    lines = further_lines(catalog, pipeline)
    line = next((each for each in lines if target in each.exits), None)
    if line is None:
        legal = list(dict.fromkeys(name for each in lines for name in each.exits))
        where = (
            f"It can be extended to {', '.join(legal)}."
            if legal
            else "Nothing comes after it; start a new task."
        )
        raise UsageError(
            f"A task of the pipeline {pipeline.name} that ends at {pipeline.exit_stage} cannot be extended "
            f"to {target}.",
            where,
        )
    rest = _resolve(catalog, line.pipeline, line.lane, pipeline, target)
    stages = [stage for stage in rest.value["pipeline"]["stages"] if stage["name"] in _left(rest, pipeline)]
    whole: dict[str, Any] = dict(kept.value)
    for key in _BY_NAME:
        if key in rest.value or key in whole:
            whole[key] = {**rest.value.get(key, {}), **whole.get(key, {})}
    whole["higher"] = []
    whole["pipeline"] = {**rest.value["pipeline"], "stages": stages}
    return ResolvedPipeline(whole)


def longer(pipeline: Pipeline, rest: Pipeline, further: tuple[str, ...]) -> Pipeline:
    """The stages that a task has, and those behind them, as one line."""
    return replace(
        rest,
        stages=(*pipeline.stages, *rest.stages),
        enters=pipeline.enters,
        passed_over=pipeline.passed_over,
        rises=None,
        extends_to=further,
    )


def _further(catalog: Catalog, name: str, lane: str | None, pipeline: Pipeline) -> Further | None:
    try:
        template: Mapping[str, Any] = catalog.document("pipelines", name)["pipeline"]
        first = climb(template, lane)[0]
        resolved = _resolve(catalog, name, first, pipeline, "")
    except UsageError:
        return None  # a broken file, or a mode that changes nothing: `pipelines validate` says which
    left = _left(resolved, pipeline)
    exits = legal_exits(catalog.stages_of(template, first))
    return Further(name, first, tuple(stage for stage in exits if stage in left))


def _resolve(
    catalog: Catalog, name: str, lane: str | None, pipeline: Pipeline, target: str
) -> ResolvedPipeline:
    template = catalog.document("pipelines", name)["pipeline"]
    given = frozenset(required_from_outside(template))
    # What is specified already is debated no more.
    debate: Debated = "named" if pipeline.contract_for("requirements") is None else "below"
    return catalog.resolve(name, lane, pipeline.mode, Ends(leave=target, given=given), debate)


def _left(resolved: ResolvedPipeline, pipeline: Pipeline) -> list[str]:
    """The stages of a line from the first on whose artifacts the task's own stages do not all make."""
    have = {(product.contract, product.phase) for item in pipeline.stages for product in item.products}
    stages = resolved.pipeline().stages
    first = next((at for at, stage in enumerate(stages) if _owes(stage, have)), len(stages))
    return [stage.name for stage in stages[first:]]


def _owes(stage: Stage, have: set[tuple[str, str]]) -> bool:
    return any((product.contract, product.phase) not in have for product in stage.products)
