"""The catalogue: packaged files, a project's overrides of them, and a pipeline resolved into one value.

Files are read when they are needed. A resolved lane is complete: a task keeps it, and needs no catalogue any more.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from agentforge.catalog.contracts import Contract, compile_contract, problems
from agentforge.catalog.extends import KINDS, PACKAGED, Document, Kind, extended, merged
from agentforge.catalog.roles import Role, role_from_json
from agentforge.catalog.rules import CATALOG_RULES, lane_problems
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import Pipeline, Stage, pipeline_from_json
from agentforge.core.reply import Json
from agentforge.system import strict_yaml

META: Mapping[Kind, str] = {"agents": "agent_definition", "pipelines": "pipeline_template", "stages": "stage_definition"}
"""The contract that files of a kind are valid under. Contracts themselves are checked by the dialect."""

OWN_CONTRACTS = frozenset({*META.values(), "settings"})
"""Contracts about our own files; a project cannot replace them."""

_OVERRIDE = re.compile(rf"\.agentforge/({'|'.join(KINDS)})/(.+)")
_FILE = re.compile(r"([a-z][a-z0-9_]*)\.yaml")
_ENTRY_KEYS = frozenset({"required", "default_exit", "purpose"})
"""What a lane says about a stage, beside what it changes in the stage's definition."""
_NOT_RULES = frozenset({"prompt", "description"})


@dataclass(frozen=True, slots=True)
class Resolved:
    """One lane of one pipeline with every role, contract and prompt it uses."""

    value: Mapping[str, Any]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The copy a task was started with."""
        return cls(value)

    def to_json(self) -> dict[str, Json]:
        """What to keep: `{"pipeline", "roles", "contracts", "prompts"}`."""
        return dict(self.value)

    def pipeline(self) -> Pipeline:
        """The stages, for the rules."""
        return pipeline_from_json(self.value["pipeline"])

    def role(self, name: str) -> Role:
        """A role of this lane."""
        return role_from_json(self.value["roles"][name])

    def contract(self, name: str) -> Contract:
        """A contract of this lane, compiled."""
        return compile_contract(self.value["contracts"][name], f"contract {name}")

    def prompt(self, stage: str) -> str:
        """What the role is told in a stage; empty where no model is asked."""
        return str(self.value["prompts"].get(stage, ""))

    def contracts_of(self, stage: Stage) -> tuple[Contract, ...]:
        """The contracts that a stage owes, in order."""
        return tuple(self.contract(product.contract) for product in stage.products)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything by kind and name; a project's file stands before the packaged one of the same name."""

    root: Path
    overrides: Mapping[tuple[Kind, str], str] = field(default_factory=dict)
    """The text of each project file."""
    _read: dict[tuple[Kind, str], Document] = field(default_factory=dict, repr=False, compare=False)
    """Files seen already: reading one twice gives the same."""

    @classmethod
    def packaged(cls) -> Self:
        """What comes with AgentForge."""
        return cls(Path(__file__).parent)

    def with_overrides(self, files: Mapping[str, str]) -> Self:
        """With the files of a project, by repository-relative path; those of other folders are ignored."""
        found: dict[tuple[Kind, str], str] = {}
        for path, text in files.items():
            if (place := _OVERRIDE.fullmatch(path)) is None:
                continue
            if (name := _FILE.fullmatch(place[2])) is None:
                raise UsageError(f"{path}: a file here is named in lower case with underscores, and ends in .yaml.")
            kind = next(kind for kind in KINDS if kind == place[1])
            if kind == "contracts" and name[1] in OWN_CONTRACTS:
                raise UsageError(f"{path}: this contract is about AgentForge's own files and cannot be replaced.", "Remove the file.")
            found[kind, name[1]] = text
        return replace(self, overrides=found, _read={})

    def names(self, kind: Kind) -> frozenset[str]:
        """Which files of a kind there are."""
        packaged = {path.stem for path in (self.root / kind).glob("*.yaml")}
        return frozenset(packaged | {name for of, name in self.overrides if of == kind})

    def document(self, kind: Kind, name: str) -> Document:
        """A file with what it extends, valid under its meta-contract; else a `UsageError` that names it."""
        if (kind, name) not in self._read:
            source = self._source(kind, name)
            reference = name if (kind, name) in self.overrides else PACKAGED + name
            document = extended(reference, lambda wanted: self._file(kind, wanted, source), kind, source)
            self._validate(kind, name, document, source)
            self._read[kind, name] = document
        return self._read[kind, name]

    def contract(self, name: str) -> Contract:
        """A contract by name."""
        return compile_contract(self.document("contracts", name), self._source("contracts", name))

    def role(self, name: str) -> Role:
        """A role by name."""
        return role_from_json(self.document("agents", name))

    def resolve(self, pipeline: str, lane: str) -> Resolved:
        """One lane of a pipeline, checked as a whole."""
        source = self._source("pipelines", pipeline)
        template = self.document("pipelines", pipeline)["pipeline"]
        lanes = template.get("lanes", {})
        if lane not in lanes:
            ways = f"its lanes are {', '.join(lanes)}" if lanes else "it has none"
            raise UsageError(f"The pipeline {pipeline} has no lane {lane}; {ways}.")
        stages = [self._stage(entry, f"{source}: lane {lane}: {entry['name']}") for entry in lanes[lane]["stages"]]
        kept = {"name": pipeline, "lane": lane, "stages": [_without(stage, _NOT_RULES) for stage in stages]}
        roles = {stage["role"]: self.document("agents", stage["role"]) for stage in stages if stage["role"] is not None}
        resolved = Resolved(
            {
                "pipeline": kept,
                "roles": roles,
                "contracts": {name: self.document("contracts", name) for name in _contracts_in(stages)},
                "prompts": {stage["name"]: stage.get("prompt", "") for stage in stages if stage["role"] is not None},
            }
        )
        wrong = list(lane_problems(resolved.pipeline(), {name: role_from_json(role) for name, role in roles.items()}))
        wrong += _exit_problems(template, lane, stages)
        if wrong:
            raise UsageError(f"{source}: lane {lane}: {wrong[0]}.")
        return resolved

    def _stage(self, entry: Mapping[str, Any], source: str) -> Document:
        base = self.document("stages", entry["name"])
        stage = merged(base, _without(entry, _ENTRY_KEYS), source)
        self._validate("stages", entry["name"], stage, source)
        return stage

    def _validate(self, kind: Kind, name: str, document: Document, source: str) -> None:
        if kind == "contracts":
            own_name: object = compile_contract(document, source).name
        else:
            meta = compile_contract(_parse(self.root / "contracts" / f"{META[kind]}.yaml"), META[kind])
            wrong = problems(meta, document, final=True)
            for rule in () if wrong else meta.rules:
                wrong += CATALOG_RULES[rule](kind, document, self.names)
            if wrong:
                raise UsageError(f"{source}: {wrong[0]}.", f"{len(wrong) - 1} more like this." if len(wrong) > 1 else "")
            own_name = _own_name(kind, document)
        if own_name != name:
            raise UsageError(f"{source}: calls itself {own_name!r}; a file is named after what it holds.")

    def _file(self, kind: Kind, reference: str, source: str) -> Document:
        """A file as written: a bare name is the project's, a prefixed one is packaged."""
        name = reference.removeprefix(PACKAGED)
        if reference == name and (kind, name) in self.overrides:
            found: object = strict_yaml.load(self.overrides[kind, name], f".agentforge/{kind}/{name}.yaml")
        elif reference != name and _FILE.fullmatch(f"{name}.yaml") and (path := self.root / kind / f"{name}.yaml").is_file():
            found = _parse(path)
        else:
            known = sorted(self.names(kind))
            raise UsageError(f"{source}: there is no {kind} file `{reference}`; there are {', '.join(known)}.")
        if not isinstance(found, dict):
            raise UsageError(f"{source}: holds no mapping.")
        return found

    def _source(self, kind: Kind, name: str) -> str:
        return f"{'.agentforge' if (kind, name) in self.overrides else 'catalog'}/{kind}/{name}.yaml"


def _parse(path: Path) -> object:
    return strict_yaml.load(path.read_text(encoding="utf-8"), f"catalog/{path.parent.name}/{path.name}")


def _own_name(kind: Kind, document: Document) -> object:
    match kind:
        case "agents":
            return document["agent"]["role"]
        case "pipelines":
            return document["pipeline"]["name"]
        case "stages":
            return document["name"]
        case "contracts":
            return document["contract"]


def _contracts_in(stages: list[Document]) -> list[str]:
    owed = [item["contract"] for stage in stages for item in stage["produces"]]
    return list(dict.fromkeys([*owed, *(name for stage in stages for name in stage.get("requires", []))]))


def _exit_problems(template: Mapping[str, Any], lane: str, stages: list[Document]) -> list[str]:
    wrong = [f"{stage['name']} has a role and no prompt" for stage in stages if stage["role"] is not None and not stage.get("prompt")]
    exits = [entry["name"] for entry in template["lanes"][lane]["stages"] if entry.get("default_exit")]
    end = template["exit"]
    if exits != [stages[-1]["name"]] or end["stage"] != stages[-1]["name"]:
        wrong.append("its last stage, and no other, is the `default_exit`, and `exit.stage` names it")
    elif end["deliverable"] not in [item["contract"] for item in stages[-1]["produces"]]:
        wrong.append(f"its last stage does not produce the deliverable {end['deliverable']}")
    return wrong


def _without(document: Mapping[str, Any], keys: frozenset[str]) -> Document:
    return {key: value for key, value in document.items() if key not in keys}
