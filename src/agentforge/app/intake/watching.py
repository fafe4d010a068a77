"""How closely a person wants to follow a task: where versions are presented, and what they approve."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentforge.catalog.load import Catalog, ResolvedPipeline
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import Pipeline
from agentforge.core.values import Oversight

USUALLY_ITERATED = "design"
"""The goal whose result is presented unless somebody says otherwise, to a person who is there."""


@dataclass(frozen=True, slots=True)
class Watching:
    """What a person says of it when a task is started."""

    iterate: bool = False
    """At every stage that can be iterated."""
    iterate_at: tuple[str, ...] = ()
    """At these."""
    no_iterate: bool = False
    approve: tuple[str, ...] = ()
    """Stages whose result they approve."""
    oversight: Oversight = "autonomous"
    is_there: bool = False
    """Whether they sit at a terminal and can be asked on the way."""

    def check(self, *, can_ask: bool) -> None:
        """Refuses what contradicts itself, before anything is read."""
        if self.no_iterate and (self.iterate or self.iterate_at):
            raise UsageError("--no-iterate contradicts --iterate and --iterate-at; leave one of them out.")
        asks = self.iterate or self.iterate_at or self.approve or self.oversight != "autonomous"
        if asks and not can_ask:
            raise UsageError("--non-interactive never asks, so nobody could approve anything; leave it out.")

    def named(self, catalog: Catalog) -> "Watching":
        """The same, with the stages under their own names."""
        at, approve = (tuple(map(catalog.stage_called, names)) for names in (self.iterate_at, self.approve))
        return replace(self, iterate_at=at, approve=approve)

    def finds(self, stages: Iterable[Mapping[str, Any]]) -> bool:
        """Whether a lane has the stages at which it is to be iterated."""
        able = {stage["name"] for stage in stages if stage.get("iterable")}
        wanted = {*self.iterate_at}
        return wanted <= able and (bool(able) or not self.iterate)

    def iterates(self, resolved: ResolvedPipeline) -> tuple[str, ...]:
        """The stages whose result is presented, version by version."""
        pipeline = resolved.pipeline()
        able = [stage.name for stage in pipeline.stages if stage.iterable]
        if self.no_iterate:
            return ()
        wanted = self.iterate_at
        if strange := [name for name in wanted if name not in able]:
            raise UsageError(_not_iterable(pipeline, strange[0], able))
        if self.iterate and not able:
            raise UsageError(_not_iterable(pipeline, "any stage", able))
        if self.iterate:
            return tuple(able)
        if wanted:
            return tuple(dict.fromkeys(wanted))
        usual = self.is_there and pipeline.goal == USUALLY_ITERATED
        kept: Sequence[Mapping[str, Any]] = resolved.value["pipeline"]["stages"]
        return tuple(each["name"] for each in kept if usual and each.get("iterate") and each["name"] in able)

    def approves(self, resolved: ResolvedPipeline) -> tuple[str, ...]:
        """The stages whose result is approved; one of the eight also where another stage makes its
        artifact.
        """
        pipeline = resolved.pipeline()
        return tuple(dict.fromkeys(_stage_for(pipeline, name) for name in self.approve))


def _stage_for(pipeline: Pipeline, name: str) -> str:
    for stage in pipeline.stages:
        if stage.name == name:
            return name
    for stage in reversed(pipeline.stages):
        if any(product.phase == name for product in stage.products):
            return stage.name
    legal = ", ".join(stage.name for stage in pipeline.stages)
    raise UsageError(
        f"A task of the pipeline {pipeline.name}, lane {pipeline.lane}, has no stage {name} to approve; it "
        f"has {legal}."
    )


def _not_iterable(pipeline: Pipeline, name: str, able: Sequence[str]) -> str:
    where = f"; possible is {', '.join(able)}" if able else ", and at no other stage of it"
    return (
        f"A task of the pipeline {pipeline.name}, lane {pipeline.lane}, cannot be iterated at {name}{where}."
    )
