"""A resolved pipeline with everything it names: what a task keeps, and reads instead of the catalogue."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from agentforge.catalog.contracts import Contract, compile_contract
from agentforge.catalog.roles import Role, role_from_json
from agentforge.core.pipeline import Part, Pipeline, Stage, part_of
from agentforge.core.pipeline_json import pipeline_from_json
from agentforge.core.reply import Json


@dataclass(frozen=True, slots=True)
class ResolvedPipeline:
    """One lane of one pipeline with every role, contract and prompt it uses."""

    value: Mapping[str, Any]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The copy a task was started with."""
        return cls(value)

    def to_json(self) -> dict[str, Json]:
        """What to keep: `{"pipeline", "higher", "roles", "contracts", "prompts", "review_prompts",
        "wording"}`, and `tools` if there are any.
        """
        return dict(self.value)

    def pipeline(self) -> Pipeline:
        """The stages in the form that the rules of the core read."""
        return pipeline_from_json(self.value["pipeline"])

    def higher(self) -> tuple[Pipeline, ...]:
        """The lanes that the task may rise to, in order."""
        return tuple(pipeline_from_json(value) for value in self.value.get("higher", ()))

    def role(self, name: str) -> Role:
        """A role of this lane."""
        return role_from_json(self.value["roles"][name])

    def contract(self, name: str) -> Contract:
        """A contract of this lane, compiled."""
        return _compiled(json.dumps(self.value["contracts"][name]), f"contract {name}")

    def part(self, name: str) -> Part | None:
        """What a contract of this lane is to the work."""
        return part_of(name, self.value["contracts"].get(name, {}).get("part"))

    def prompt(self, stage: str) -> str:
        """What the role is told in a stage; empty where no model is asked."""
        return str(self.value["prompts"].get(stage, ""))

    def review_prompt(self, stage: str, reviewer: str) -> str:
        """What a reader of a stage's result is told; `reviewer` is a role's name, or `arbiter`."""
        return str(self.value.get("review_prompts", {}).get(stage, {}).get(reviewer, ""))

    def wording(self) -> Mapping[str, Any]:
        """What every role is told beside its definition and its stage; empty in tasks of older releases."""
        found: Mapping[str, Any] = self.value.get("wording", {})
        return found

    def tools(self) -> Mapping[str, Mapping[str, Json]]:
        """The tools that the project declares and a role of this lane may use, by name."""
        found: Mapping[str, Mapping[str, Json]] = self.value.get("tools", {})
        return found

    def contracts_of(self, stage: Stage) -> tuple[Contract, ...]:
        """The contracts that a stage owes, in order."""
        return tuple(self.contract(product.contract) for product in stage.products)


@lru_cache(maxsize=256)  # every step asks for those of its stage
def _compiled(document: str, source: str) -> Contract:
    return compile_contract(json.loads(document), source)
