"""One line of a template, turned into what a task keeps: stages with their panels, scaled by a mode."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

from agentforge.catalog.extends import Document
from agentforge.catalog.modes import Mode
from agentforge.catalog.policies import read_policy
from agentforge.catalog.roles import Role
from agentforge.catalog.summaries import template_text
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import ARBITER, LANES, PHASE_OF, GateName, Part
from agentforge.core.pipeline_json import stage_from_json

WHOLE = LANES[-1]
"""The lane of a template that has no others."""

USUAL_ARBITER = "reviewer"
"""Who decides between readers who disagree, when nobody is named."""

_ABOUT_WORDS: frozenset[GateName] = frozenset({"contracts", "review", "debate"})
"""Gates that judge what was written. Every other one judges a change: a stage with one of those makes it."""

READERS: tuple[Part, ...] = ("review", "security")
"""What somebody hands in who reads a result."""
HEARD: tuple[Part, ...] = ("argument",)
"""What somebody hands in who is heard before the work."""

Parts: TypeAlias = Callable[[str], Part | None]
"""What a contract is to the work."""

_NOT_RULES = frozenset({"prompt", "description", "purpose", "optional_reviewers"})


@dataclass(frozen=True, slots=True)
class Line:
    """One lane with its stages in full, and the roles of their work and their panels by name."""

    lane: str
    stages: tuple[Document, ...]
    roles: Mapping[str, Role]
    rises: Document | None = None
    ends: Mapping[str, Any] = field(default_factory=dict)
    """Where a task enters and leaves it, if not at its ends."""

    def pipeline(self, template: Mapping[str, Any], mode: Mode) -> Document:
        """The form that the rules read."""
        kept = {
            "name": template["name"],
            "lane": self.lane,
            "stages": [_for_rules(stage, mode) for stage in self.stages],
        }
        rises = {} if self.rises is None else {"rises": self.rises}
        settled = {"mode": mode.name, "writes": mode.writes and self.changes_files}
        goes_on = template.get("continuation", {})
        sums_up = template["exit"].get("summary_template")
        told = {
            "continues_with": goes_on.get("next_pipeline"),
            "continue_prompt": goes_on.get("prompt"),
            "summary": template_text(sums_up) if sums_up else None,
            "works_on": template.get("works_on"),
        }
        after = {key: value for key, value in told.items() if value}
        return {**kept, **rises, **settled, "goal": template["goal_type"], **self.ends, **after}

    @property
    def changes_files(self) -> bool:
        """Whether any of its stages is judged by what it changed."""
        return any(set(stage["gates"]) - _ABOUT_WORDS for stage in self.stages)

    def contracts(self) -> Iterator[str]:
        """Every contract that its stages and panels name; one may come twice."""
        for stage in self.stages:
            yield from (item["contract"] for item in stage["produces"])
        for stage in self.stages:
            yield from stage.get("requires", [])
            yield from (reviewer["contract"] for reviewer in _panel(stage).values())

    def prompts(self) -> dict[str, str]:
        """What each role is told, by stage."""
        return {
            stage["name"]: _for_this(str(stage.get("prompt", "")), stage)
            for stage in self.stages
            if stage["role"] is not None
        }

    def review_prompts(self) -> dict[str, dict[str, str]]:
        """What each reviewer is told, by stage and reviewer."""
        return {
            stage["name"]: {
                name: _for_this(_review_prompt(name, reviewer), stage) for name, reviewer in panel.items()
            }
            for stage in self.stages
            if (panel := _panel(stage))
        }


def _for_this(prompt: str, stage: Document) -> str:
    """What somebody is told to do in a stage, and what that is for in this pipeline."""
    purpose = " ".join(str(stage.get("purpose") or "").split())
    return f"{prompt.rstrip()}\n\nIn this task: {purpose}\n" if purpose else prompt


def entries_of(template: Mapping[str, Any], lane: str) -> Sequence[Mapping[str, Any]]:
    """The entries of a lane, as written."""
    found: Sequence[Mapping[str, Any]] = (
        template["stages"] if "stages" in template else template["lanes"][lane]["stages"]
    )
    return found


def climb(template: Mapping[str, Any], lane: str | None) -> list[str]:
    """The lane to start in, and those that a task may rise to from there, in order."""
    name, lanes = template["name"], template.get("lanes", {})
    if bool(lanes) == ("stages" in template):
        raise UsageError(
            f"The pipeline {name} has {'both' if lanes else 'neither'} `stages` and `lanes`; it needs "
            "one of them."
        )
    if not lanes:
        if lane not in {None, WHOLE}:
            raise UsageError(f"The pipeline {name} has no lane {lane}; it has none.", "Leave the lane out.")
        return [WHOLE]
    if lane is not None and lane not in lanes:
        raise UsageError(
            f"The pipeline {name} has no lane {lane}; its lanes are {', '.join(lanes)}.",
            f"`agentforge pipelines show {name}` says what each does.",
        )
    way = [lane or next((known for known in lanes if known == WHOLE), list(lanes)[-1])]
    while (above := lanes[way[-1]].get("rises")) is not None:
        if above["to"] not in lanes:
            raise UsageError(
                f"The lane {way[-1]} of {name} rises to {above['to']}, which it does not have.",
                f"It has {', '.join(lanes)}.",
            )
        if above["to"] in way:
            raise UsageError(f"The lanes of {name} rise in a circle: {' -> '.join([*way, above['to']])}.")
        way.append(above["to"])
    return way


def with_panel(stage: Document, roles: Mapping[str, Role], source: str, parts: Parts) -> Document:
    """A stage whose products say what part they are, whose readers are told in full, and whose last gate
    hears them. `roles` has every role it names.
    """
    named: list[str] = stage.get("reviewers", [])
    arbiter = arbiter_of(stage)
    whole = {**stage, "produces": [{**item, "part": parts(item["contract"])} for item in stage["produces"]]}
    if (author := stage["role"]) is not None:
        whole |= {"role_version": roles[author].version, "tier": roles[author].tier}
        if roles[author].context_tokens:
            whole.setdefault("context_tokens", roles[author].context_tokens)
    whole.pop("arbiter", None)
    if left := [name for name in stage.get("optional_reviewers", ()) if name not in named]:
        whole["left_out"] = left
    if named:
        whole["reviewers"] = [_reviewer(roles[name], source, parts) for name in named]
        whole["gates"] = stage["gates"] if "review" in stage["gates"] else [*stage["gates"], "review"]
    if arbiter is not None:
        whole["arbiter"] = {**_reviewer(roles[arbiter], source, parts), "tier": "reasoning"}
    if heard := stage.get("debaters", []):
        whole["debaters"] = [_reviewer(roles[name], source, parts, "a debater", HEARD) for name in heard]
    return whole


def with_added(stages: Sequence[Document], added: Document, parts: Parts) -> list[Document]:
    """The stages of a lane with one more behind the last that makes the change. It is given the same parts of
    the work under the names that this lane has for them. Where the lane ends with the change, or has the
    stage already, it stays as it is.
    """
    makes = [at for at, stage in enumerate(stages) if _has_part(stage, "change", parts)]
    if not makes or makes[-1] + 1 == len(stages) or any(stage["name"] == added["name"] for stage in stages):
        return [*stages]
    before = stages[: makes[-1] + 1]
    made = {parts(item["contract"]): item["contract"] for stage in before for item in stage["produces"]}
    wanted = [parts(contract) for contract in added.get("requires", [])]
    given = {**added, "requires": [made[part] for part in wanted if part is not None and part in made]}
    return [*before, given, *stages[len(before) :]]


def passed_on(stages: Sequence[Document], parts: Parts) -> list[Document]:
    """The stages, where what a role found out is given to whoever works next if no later stage asks for it:
    nobody's work is lost.
    """
    found = [*stages]
    for at, stage in enumerate(stages):
        made = [item["contract"] for item in stage["produces"] if parts(item["contract"]) in PHASE_OF]
        wanted = {name for later in stages[at + 1 :] for name in later.get("requires", ())}
        after = next((place for place in range(at + 1, len(stages)) if found[place]["role"]), None)
        if stage["role"] is not None and made and after is not None and wanted.isdisjoint(made):
            found[after] = {**found[after], "requires": [*found[after].get("requires", []), *made]}
    return found


def _has_part(stage: Document, part: Part, parts: Parts) -> bool:
    return any(parts(item["contract"]) == part for item in stage["produces"])


def roles_named(stage: Document) -> list[str]:
    """Every role that a stage asks, readers included."""
    named = [stage["role"], *stage.get("reviewers", []), arbiter_of(stage), *stage.get("debaters", [])]
    return [name for name in dict.fromkeys(named) if name is not None]


def arbiter_of(stage: Document) -> str | None:
    """Who decides when the readers of a stage disagree; one reader alone cannot."""
    if len(stage.get("reviewers", [])) < 2:
        return None
    return str(stage.get("arbiter") or USUAL_ARBITER)


def read_only_problem(line: Line, pipeline: str, mode: Mode) -> UsageError | None:
    """Why a mode that changes nothing cannot run this line."""
    writing = [stage["name"] for stage in line.stages if set(stage["gates"]) - _ABOUT_WORDS]
    if mode.writes or not writing:
        return None
    instead = (
        f"Use the pipeline {mode.pipeline} with it, or another mode."
        if mode.pipeline
        else "Use another mode."
    )
    return UsageError(
        f"The mode {mode.name} changes nothing, and the stage {writing[0]} of the pipeline {pipeline} does.",
        instead,
    )


def _for_rules(stage: Document, mode: Mode) -> Document:
    kept = {key: value for key, value in stage.items() if key not in _NOT_RULES}
    return (
        kept if stage["role"] is None else {**kept, "max_steps": mode.scaled(stage_from_json(kept).max_steps)}
    )


def _reviewer(
    role: Role, source: str, parts: Parts, what: str = "a reviewer", among: Sequence[Part] = READERS
) -> Document:
    contract = next((name for name in role.outputs if parts(name) in among), None)
    if contract is None:
        known = " or ".join(f"a contract of the part {part}" for part in among)
        raise UsageError(
            f"{source}: {role.name} cannot be {what}: it hands in {', '.join(role.outputs)}, and not {known}."
        )
    kept = {"role": role.name, "contract": contract, "part": parts(contract)}
    return {**kept, "version": role.version, "tier": role.tier}


def _panel(stage: Document) -> dict[str, Document]:
    """Those beside the worker of a stage, by the names that the journal gives their runs."""
    beside = [*stage.get("reviewers", []), *stage.get("debaters", [])]
    panel = {reviewer["role"]: reviewer for reviewer in beside}
    return panel | ({ARBITER: stage["arbiter"]} if "arbiter" in stage else {})


def _review_prompt(name: str, reviewer: Document) -> str:
    texts = _review_texts()
    own = texts[reviewer["part"]].replace("{contract}", reviewer["contract"])
    return f"{texts[ARBITER]}\n{own}" if name == ARBITER else own


@cache
def _review_texts() -> Mapping[str, str]:
    return dict(read_policy("review_prompts"))
