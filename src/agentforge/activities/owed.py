"""What a role is asked to hand in, and what the engine writes without asking: the same answer for what is
offered, for what is told and for when a stage is done.
"""

from collections.abc import Collection
from dataclasses import dataclass

from agentforge.activities.kinds import owes_failing_test
from agentforge.activities.world import World
from agentforge.catalog.contracts import Contract
from agentforge.catalog.skeleton import may_be_left_out, offered_schema
from agentforge.context.named import TreeFacts
from agentforge.core.pipeline import Product
from agentforge.core.reply import Json
from agentforge.core.state import RunView
from agentforge.gates.finals import TARGET_CHARS
from agentforge.gates.rules.subject import Subject
from agentforge.gates.rules.vague import vague_request_questioned
from agentforge.sizing.triage import triage
from agentforge.tools.base import ToolSpec
from agentforge.tools.run.running import submit_name, submit_tool


@dataclass(frozen=True, slots=True)
class OwedDocuments:
    """The artifacts of a stage, by who writes them."""

    must: tuple[Contract, ...]
    """The role, or the stage is not done."""
    may: tuple[Contract, ...]
    """The role, if it has something to say; else the engine."""
    rest: tuple[Contract, ...]
    """The engine; whoever hands one in all the same is heard."""

    def tools(self) -> tuple[ToolSpec, ...]:
        """One tool for each artifact that a role is asked for."""
        asked = (*self.must, *self.may)
        return tuple(
            submit_tool(
                contract.name,
                " ".join(contract.description.split()),
                offered_schema(contract, alone=len(asked) == 1),
            )
            for contract in asked
        )

    def told(self, handed_in: Collection[str] = ()) -> str:
        """What a role is told of it at each step. What it `handed_in` counts until it hands in another."""
        if not self.must:
            return ""
        had = tuple(contract for contract in self.must if contract.name in handed_in)
        missing = tuple(contract for contract in self.must if contract not in had)
        lines = []
        if had:
            lines.append(f"Handed in, and kept unless you change it: {_listed(had)}.")
        if missing:
            lines.append(
                f"Hand in {_listed(missing)}. The stage is done with the reply that hands in the last."
            )
        else:
            lines.append(
                "Nothing is missing. The stage is judged again after a reply that hands in one of them "
                f"again, at least `{submit_name(had[-1].name)}`; the keys that change are enough."
            )
        if self.may:
            lines.append(f"Only if you have something to say in it: {_listed(self.may)}.")
        return "\n".join(lines)


def owed_by(world: World, state: RunView) -> OwedDocuments:
    """What the stage of this run owes, by who writes it."""
    stage = state.stage
    asks = world.once("vague", make=lambda: is_vague(world, state)) if len(stage.products) > 1 else False
    must, may, rest = [], [], []
    for product in stage.products:
        contract = world.catalogue.contract(product.contract)
        if _is_needed(state, contract, product, asks=asks):
            must.append(contract)
        elif product.derived and not (asks and product.part == "questions"):
            rest.append(contract)
        else:
            may.append(contract)
    return OwedDocuments(tuple(must), tuple(may), tuple(rest))


def _is_needed(state: RunView, contract: Contract, product: Product, *, asks: bool) -> bool:
    if product.part == "request" and len(state.stage.products) > 1:
        return asks
    if product.part == "tests" and len(state.stage.products) > 1:
        return owes_failing_test(state)
    return not may_be_left_out(contract, state.stage.products)


def is_vague(world: World, state: RunView) -> bool:
    """Whether the request names no place and no result: then its intake must ask, and nobody derives it."""
    git = world.workspace.git
    files = frozenset(entry.path for entry in git.ls_tree(state.base_tree))

    def read(path: str) -> str | None:
        blob = git.read_blob(state.base_tree, path)
        return None if blob is None else blob.decode("utf-8", "replace")

    asked = Subject({}, "request", request=state.request, files=files, read=read)
    return bool(vague_request_questioned(asked))


def derived(product: Product, state: RunView) -> dict[str, Json]:
    """An artifact that nobody wrote, as far as the engine can say it."""
    if product.part != "request":
        return {"derived": True}
    action = triage(state.request, TreeFacts()).action
    target = " ".join(state.request.split())[:TARGET_CHARS]
    intent: dict[str, Json] = {"action": action, "target": target, "scope": "module"}
    return {"extracted_intent": intent, "derived": True}


def _listed(contracts: tuple[Contract, ...]) -> str:
    return ", ".join(f"`{submit_name(contract.name)}`" for contract in contracts)
