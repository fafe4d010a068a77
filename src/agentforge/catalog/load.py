"""The catalogue: packaged files, a project's overrides of them, and a pipeline resolved into one value.

Files are read when they are needed. A resolved lane is complete: a task keeps it, and needs no catalogue any
more.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from agentforge.catalog.completed import WholeFile, completed
from agentforge.catalog.contracts import Contract, compile_contract, problems
from agentforge.catalog.debated import STAGES, Debated, with_debate
from agentforge.catalog.demands import lost, lost_proof, too_free
from agentforge.catalog.dialect import without_effect
from agentforge.catalog.ends import Ends, cut, required_from_outside, shown_what_is_required
from agentforge.catalog.extends import KINDS, PACKAGED, Document, Kind, Written, built, merged
from agentforge.catalog.faults import placed
from agentforge.catalog.line import (
    Line,
    climb,
    entries_of,
    passed_on,
    read_only_problem,
    roles_named,
    with_added,
    with_panel,
)
from agentforge.catalog.modes import USUAL, mode_named
from agentforge.catalog.orchestration import Orchestration, read_orchestration
from agentforge.catalog.own_tools import tool_problems
from agentforge.catalog.policies import POLICIES
from agentforge.catalog.prompts import packaged_wording
from agentforge.catalog.resolved import ResolvedPipeline as ResolvedPipeline  # noqa: PLC0414 - who resolves takes both from here
from agentforge.catalog.roles import Role, outputs_of, role_from_json
from agentforge.catalog.rules import (
    CATALOG_RULES,
    condition_problems,
    ends_problems,
    idle_readers,
    known_names,
    lane_problems,
    rise_problem,
    summary_problems,
    undeclared_tools,
    unjudged_rules,
    with_rules_of_roles,
    without_undeclared_tools,
)
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import ENTRY, Part, part_of
from agentforge.core.pipeline_json import pipeline_from_json
from agentforge.system import strict_yaml
from agentforge.system.yaml_places import places

META: Mapping[Kind, str] = {
    "agents": "agent_definition",
    "pipelines": "pipeline_template",
    "stages": "stage_definition",
    "tools": "tool_definition",
}
"""The contract that files of a kind are valid under. Contracts themselves are checked by the dialect."""

DOCUMENTS: Mapping[str, str] = {
    "repositories": "repositories",
    "feedback": "iteration_feedback",
    "iteration_context": "iteration_context",
}
"""Files beside the catalogue that have a contract, by the key that they begin with."""

OWN_CONTRACTS = frozenset(
    {
        *META.values(),
        "settings",
        "user_settings",
        "check_definition",
        "document_checks",
        "project_check",
        "stage_config",
        *DOCUMENTS.values(),
        *(f"{name}_policy" for name in POLICIES),
    }
)
"""Contracts about our own files. A project cannot replace them; it can only ask more of its roles, stages,
pipelines and tools.
"""

WHOLE_LINE = Ends()
"""From the first stage to the last, with nothing handed in."""

_OVERRIDE = re.compile(rf"\.agentforge/({'|'.join(KINDS)})/(.+)")
_FILE = re.compile(r"([a-z][a-z0-9_]*)\.yaml")
_ENTRY_KEYS = frozenset({"required", "default_exit", "purpose", "iterate", "iterate_prompt"})
"""What a lane says about a stage, beside what it changes in the stage's definition."""
_KEPT_KEYS = _ENTRY_KEYS - {"required", "default_exit"}
"""Those of them that whoever works or reads there is told."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything by kind and name; a project's file stands before the packaged one of the same name."""

    root: Path
    overrides: Mapping[tuple[Kind, str], str] = field(default_factory=dict)
    """The text of each project file."""
    orchestration: Orchestration = field(default_factory=Orchestration)
    """Who works in which stage, where the project says so."""
    _read: dict[tuple[Kind, str], Document] = field(default_factory=dict, repr=False, compare=False)
    """Files seen already: reading one twice gives the same."""

    @classmethod
    def packaged(cls) -> "Catalog":
        """The catalogue that is part of the installed package, without a project's own files. Each of its
        files is read once.
        """
        return _packaged(Path(__file__).parent)

    def with_overrides(self, files: Mapping[str, str]) -> Self:
        """With the files of a project, by repository-relative path; those of other folders are ignored."""
        found: dict[tuple[Kind, str], str] = {}
        said = {path: text for path, text in files.items() if not says_nothing(text)}
        if not said and not self.overrides:
            return self
        for path, text in said.items():
            if (place := _OVERRIDE.fullmatch(path)) is None:
                continue
            if (name := _FILE.fullmatch(place[2])) is None:
                raise UsageError(
                    f"{path}: a file here is named in lower case with underscores, and ends in .yaml."
                )
            kind = next(kind for kind in KINDS if kind == place[1])
            if kind == "contracts" and name[1] in OWN_CONTRACTS - {*META.values()}:
                raise UsageError(
                    f"{path}: this contract is about AgentForge's own files and cannot be replaced.",
                    "Remove the file.",
                )
            found[kind, name[1]] = text
        catalog = replace(self, overrides=found, _read={})
        return replace(
            catalog, orchestration=read_orchestration(said, self.contract("stage_config"), catalog.names)
        )

    def names(self, kind: Kind) -> frozenset[str]:
        """Which files of a kind there are."""
        return _shipped(self.root, kind) | {name for of, name in self.overrides if of == kind}

    def document(self, kind: Kind, name: str) -> Document:
        """A file with what it extends, valid under its meta-contract; else a `UsageError` that names it."""
        if (kind, name) not in self._read:
            try:
                self._read[kind, name] = self._whole(kind, name)
            except UsageError as error:
                raise placed(error, self._texts(kind, name)) from None
        return self._read[kind, name]

    def faults(self, kind: Kind, name: str) -> list[str]:
        """Everything that is wrong with a project's file, each with its line and key; `document` stops at the
        first.
        """
        try:
            self.document(kind, name)
        except UsageError as first:
            if kind == "contracts" or "more like this" not in first.next_step:
                return [str(first)]
            source, texts = self._source(kind, name), self._texts(kind, name)
            wrong = self._wrong(kind, self._complete(kind, name, self._built(kind, name)).document, own=True)
            return [placed(UsageError(f"{source}: {each}."), texts).sentence for each in wrong]
        return []

    def kept(self, kind: Kind, name: str) -> tuple[str, ...]:
        """What a project's valid file leaves to the packaged one whose place it takes."""
        return self._complete(kind, name, self._built(kind, name)).kept

    def warnings(self, kind: Kind, name: str) -> list[str]:
        """What a project's valid file says to no effect, each with its line and key."""
        if kind == "contracts" or (kind, name) not in self.overrides:
            return []
        document, texts = self.document(kind, name), self._texts(kind, name)
        schema: Any = _meta(self.root, kind).document["schema"]
        idle = [f"{key}: has no effect yet" for key in without_effect(schema, document)]
        if kind == "agents":
            idle += [
                f"{name} is offered to nobody until .agentforge/tools/{name}.yaml declares it"
                for name in undeclared_tools(self._built(kind, name), self.names)
            ]
            idle += idle_readers(document, [self.document("stages", each) for each in self.names("stages")])
        own = {part for text in texts.values() for place in places(text) for part in place.path}
        source = self._source(kind, name)
        return [
            placed(UsageError(f"{source}: {line}."), texts).sentence
            for line in idle
            if "offered" in line
            or line.partition(":")[0].rpartition(".")[2] in own  # a base speaks for itself
        ]

    def contract(self, name: str) -> Contract:
        """The contract of this name; a `UsageError` where there is none."""
        return compile_contract(self.document("contracts", name), self._source("contracts", name))

    def role(self, name: str) -> Role:
        """The role of this name; a `UsageError` where there is none."""
        return role_from_json(self.document("agents", name))

    def resolve(
        self,
        pipeline: str,
        lane: str | None = None,
        mode: str = USUAL,
        ends: Ends = WHOLE_LINE,
        debate: Debated = "named",
    ) -> ResolvedPipeline:
        """One lane of a pipeline, with those it can rise to, checked as a whole, and cut to the ends that a
        person named. Without a lane it is the whole line.
        """
        way = mode_named(mode)
        template = self.document("pipelines", pipeline)["pipeline"]
        try:
            first, *above = climb(template, lane)
            lines = [
                self._line(template, first, way.adds, ends, debate),
                *(self._line(template, name, way.adds, ends, "below") for name in above),
            ]
        except UsageError as error:
            raise placed(error, self._texts("pipelines", pipeline)) from None
        for line in lines:
            if refused := read_only_problem(line, pipeline, way):
                raise refused
        own, *higher = (line.pipeline(template, way) for line in lines)
        for below, over in pairwise(map(pipeline_from_json, (own, *higher))):
            if wrong := rise_problem(below, over):
                raise placed(
                    UsageError(f"{self._source('pipelines', pipeline)}: {wrong}."),
                    self._texts("pipelines", pipeline),
                )
        reviews: dict[str, dict[str, str]] = {}
        for line in lines:
            for stage, texts in line.review_prompts().items():
                reviews.setdefault(stage, {}).update(texts)
        resolved = {
            "pipeline": own,
            "higher": higher,
            "roles": {name: self.document("agents", name) for line in lines for name in line.roles},
            "contracts": {
                name: with_rules_of_roles(self.document("contracts", name), lines)
                for line in lines
                for name in line.contracts()
            },
            "prompts": {stage: text for line in lines for stage, text in line.prompts().items()},
            "review_prompts": reviews,
            "wording": dict(packaged_wording()),
        }
        tools = {
            name
            for line in lines
            for role in line.roles.values()
            for name in role.allowed
            if ("tools", name) in self.overrides
        }
        if tools:  # a task without such tools keeps what it always kept
            resolved["tools"] = {name: self.document("tools", name)["tool"] for name in sorted(tools)}
        return ResolvedPipeline(resolved)

    def stage_called(self, name: str) -> str:
        """The name of the stage that a person means: its own, or another word for it."""
        known = self.names("stages")
        if name in known:
            return name
        found = (each for each in sorted(known) if self.document("stages", each).get("alias") == name)
        return next(found, name)

    def stages_of(self, template: Mapping[str, Any], lane: str) -> list[Document]:
        """The stages of a lane, with what the lane changes in their definitions."""
        source = f"{self._source('pipelines', template['name'])}: lane {lane}"
        return [self._stage(entry, f"{source}: {entry['name']}") for entry in entries_of(template, lane)]

    def _line(
        self,
        template: Mapping[str, Any],
        lane: str,
        adds: str | None = None,
        ends: Ends = WHOLE_LINE,
        debate: Debated = "named",
    ) -> Line:
        """One lane with everything its stages name, or a `UsageError` that says what cannot work."""
        source = f"{self._source('pipelines', template['name'])}: lane {lane}"
        own = self.stages_of(template, lane)
        usual = Ends(given=frozenset(required_from_outside(template)))
        line = self._cut(template, lane, own, usual, adds)
        pipeline = pipeline_from_json(line.pipeline(template, mode_named(USUAL)))
        wrong = [
            *lane_problems(pipeline, line.roles),
            *ends_problems(template["exit"], entries_of(template, lane), own),
        ]
        wrong = wrong or self._lost_proof(template["name"], lane, own) or self._unjudged(line)
        if wrong:
            raise UsageError(f"{source}: {wrong[0]}.")
        whole = ends in (usual, WHOLE_LINE)
        if whole and debate == "named":
            return line
        return self._cut(template, lane, own, usual if whole else ends, adds, debate)

    def _unjudged(self, line: Line) -> list[str]:
        rules = {name: self.document("contracts", name).get("validation") or [] for name in line.contracts()}
        own = frozenset(name for kind, name in self.overrides if kind == "agents")
        return [*unjudged_rules(line, rules, own)]

    def _cut(
        self,
        template: Mapping[str, Any],
        lane: str,
        own: list[Document],
        ends: Ends,
        adds: str | None,
        debate: Debated = "named",
    ) -> Line:
        source = f"{self._source('pipelines', template['name'])}: lane {lane}"
        own = [shown_what_is_required(template, stage) for stage in own]
        part = cut(template, own, ends, lambda: self._stage({"name": ENTRY}, source), self._part)
        added = None if adds is None else self._stage({"name": adds}, f"{source}: {adds}")
        stages = part.stages if added is None else with_added(part.stages, added, self._part)
        held = with_debate(
            stages,
            debate,
            lambda: [self._stage({"name": name}, f"{source}: {name}") for name in STAGES],
            self._part,
            template["name"],
        )
        stages = passed_on(held, self._part)
        roles = {name: self.role(name) for stage in stages for name in roles_named(stage)}
        whole = tuple(with_panel(stage, roles, f"{source}: {stage['name']}", self._part) for stage in stages)
        rises = template.get("lanes", {}).get(lane, {}).get("rises")
        made = {self._part(item["contract"]) for stage in stages for item in stage["produces"]}
        if part.ends_early and "change" not in made:
            rises = None  # what it rises for is a change that spreads, or is blocked
        return Line(lane, whole, roles, rises, part.told())

    def _stage(self, entry: Mapping[str, Any], source: str) -> Document:
        base = self.document("stages", entry["name"])
        stage = merged(base, _without(entry, _ENTRY_KEYS), source)
        self._validate("stages", entry["name"], stage, source)
        if "skip_if" in stage:
            stage = {**stage, "skip_if": self.orchestration.skips(entry["name"], stage["skip_if"])}
        return {**stage, **{key: entry[key] for key in sorted(_KEPT_KEYS) if key in entry}}

    def _validate(self, kind: Kind, name: str, document: Document, source: str) -> None:
        if kind == "contracts":
            own_name: object = compile_contract(document, source).name
        else:
            if wrong := self._wrong(kind, document, own=(kind, name) in self.overrides):
                raise UsageError(
                    f"{source}: {wrong[0]}.", f"{len(wrong) - 1} more like this." if len(wrong) > 1 else ""
                )
            own_name = _own_name(kind, document)
        if own_name != name:
            raise UsageError(f"{source}: calls itself {own_name!r}; a file is named after what it holds.")

    def _meta(self, kind: Kind) -> Contract:
        """What a project's own files of a kind are held against: the project may ask more of them."""
        own = ("contracts", META.get(kind, "")) in self.overrides
        return self.contract(META[kind]) if own else _meta(self.root, kind)

    def _wrong(self, kind: Kind, document: Document, *, own: bool) -> list[str]:
        meta = self._meta(kind) if own else _meta(self.root, kind)
        wrong = problems(meta, document, final=True)
        for rule in () if wrong else meta.rules:
            wrong += CATALOG_RULES[rule](kind, document, self.names)
        if wrong:
            return wrong
        if kind == "pipelines":
            wrong += summary_problems(document["pipeline"])
        return [*wrong, *(tool_problems(document) if kind == "tools" else condition_problems(kind, document))]

    def _whole(self, kind: Kind, name: str) -> Document:
        """A file with what it extends, valid, and no looser than the packaged ones it builds on or stands
        before.
        """
        source = self._source(kind, name)
        reference = name if (kind, name) in self.overrides else PACKAGED + name
        document = self._complete(kind, name, self._built(kind, reference)).document
        self._validate(kind, name, document, source)
        for above, base in self._bases(kind, name):
            held = self._as_packaged(document) if kind == "stages" else document
            if wrong := lost(kind, base, held) or self._freer(kind, base, document):
                raise UsageError(f"{source}: {wrong[0]}; an override may only add to what `{above}` demands.")
        match kind:
            case "stages":
                return self._seated(name, document)
            case "agents":
                return without_undeclared_tools(document, self.names)
            case "pipelines" | "contracts" | "tools":
                return document

    def _built(self, kind: Kind, reference: str) -> Document:
        """A file with what it extends, and with everything under its own name."""
        return known_names(kind, built(reference, lambda wanted: self._file(kind, wanted), kind).document)

    def _complete(self, kind: Kind, name: str, document: Document) -> WholeFile:
        """A project's file with what it leaves to the packaged one whose place it takes."""
        if (kind, name) not in self.overrides or "extends" in self._file(kind, name).document:
            return WholeFile(document)
        shipped = _packaged(self.root)
        if name not in shipped.names(kind):
            return WholeFile(document)
        about_files = kind == "contracts" and name in META.values()
        return completed(kind, shipped.document(kind, name), document, same_types=about_files)

    def _seated(self, name: str, stage: Document) -> Document:
        """A stage with the roles that the project's orchestration gives it."""
        whole = self.orchestration.over(name, stage)
        if whole is stage:
            return stage
        for wrong in (*lost("stages", stage, whole), *self._freer("stages", stage, whole)):
            key, _, problem = wrong.partition(": ")
            raise self.orchestration.wrong(name, key, problem)
        owed = [item["contract"] for item in stage["produces"]]
        if whole["role"] is not None and (
            missing := set(owed) - set(outputs_of(self.document("agents", whole["role"])))
        ):
            raise self.orchestration.wrong(
                name, "role", f"{whole['role']} does not produce {min(missing)}, which this stage owes"
            )
        return whole

    def _freer(self, kind: Kind, base: Document, stage: Document) -> list[str]:
        """What the role of a stage may do that the one before it may not."""
        if kind != "stages" or base["role"] in (None, stage["role"]) or stage["role"] is None:
            return []
        shipped = _packaged(self.root)
        before = shipped.document("agents", base["role"]) if base["role"] in shipped.names("agents") else None
        freer = too_free(before, self.document("agents", stage["role"])) if before else []
        return [f"role: {stage['role']} {what}" for what in freer]

    def _bases(self, kind: Kind, name: str) -> list[tuple[str, Document]]:
        """The packaged files that a project's file builds on, or whose place it takes."""
        if (kind, name) not in self.overrides:
            return []
        above = [
            reference for reference, _ in built(name, lambda wanted: self._file(kind, wanted), kind).above
        ]
        shipped = _packaged(self.root)
        named = dict.fromkeys([*(each for each in above if each.startswith(PACKAGED)), PACKAGED + name])
        return [
            (each, shipped.document(kind, own))
            for each in named
            if (own := each.removeprefix(PACKAGED)) in shipped.names(kind)
        ]

    def _part(self, contract: str) -> Part | None:
        return part_of(contract, self.document("contracts", contract).get("part"))

    def _as_packaged(self, stage: Document) -> Document:
        """A stage with each contract that builds on a packaged one under that one's name."""
        named = {*(item["contract"] for item in stage["produces"]), *stage.get("requires", [])}
        bases = {name: self._bases("contracts", name) for name in named}
        names = {name: found[0][0].removeprefix(PACKAGED) for name, found in bases.items() if found}
        produces = [
            {**item, "contract": names.get(item["contract"], item["contract"])} for item in stage["produces"]
        ]
        requires = [names.get(name, name) for name in stage.get("requires", [])]
        return {**stage, "produces": produces, "requires": requires}

    def _lost_proof(self, pipeline: str, lane: str, stages: list[Document]) -> list[str]:
        """What a project's lane no longer proves: that its stages do elsewhere, or the packaged lane it is
        built on.
        """
        if ("pipelines", pipeline) not in self.overrides:
            return []
        wrong = [what for new in stages for what in self._opened(self.document("stages", new["name"]), new)]
        shipped = _packaged(self.root)
        for above, document in self._bases("pipelines", pipeline):
            template = document["pipeline"]
            if "stages" in template or lane in template.get("lanes", {}):
                base = [shipped._stage(entry, above) for entry in entries_of(template, lane)]  # noqa: SLF001 - one of us
                held = [self._as_packaged(stage) for stage in stages]
                like = [(old, new) for old in base for new in held if old["produces"] == new["produces"]]
                lost_here = [
                    *lost_proof(base, held),
                    *(what for old, new in like for what in self._freer("stages", old, new)),
                ]
                wrong += [f"{what}; `{above}` demands it" for what in lost_here]
        return wrong

    def _opened(self, base: Document, stage: Document) -> list[str]:
        """What the entry of a lane takes from its stage that no lane of a project may."""
        panel = [what for what in lost("stages", base, stage) if what.startswith(("review", "gates"))]
        return [f"{stage['name']}: {what}" for what in (*panel, *self._freer("stages", base, stage))]

    def _file(self, kind: Kind, reference: str) -> Written:
        """A file as written: a bare name is the project's, a prefixed one is packaged."""
        name = reference.removeprefix(PACKAGED)
        source = f"{'.agentforge' if reference == name else 'catalog'}/{kind}/{name}.yaml"
        if reference == name and (kind, name) in self.overrides:
            found: object = _parse_own(self.overrides[kind, name], source)
        elif (
            reference != name
            and _FILE.fullmatch(f"{name}.yaml")
            and (path := self.root / kind / f"{name}.yaml").is_file()
        ):
            found = _parse(path)
        else:
            raise LookupError(
                f"there is no {kind} file `{reference}`; there are {', '.join(sorted(self.names(kind)))}"
            )
        if not isinstance(found, dict):
            raise UsageError(f"{source}: is not a mapping.")
        return Written(source, found)

    def _texts(self, kind: Kind, name: str) -> dict[str, str]:
        """The project's file of this name, and those of the project it builds on."""
        found: dict[str, str] = {}
        while (kind, name) in self.overrides and (source := self._source(kind, name)) not in found:
            found[source] = self.overrides[kind, name]
            document: object = _parse_own(found[source], source)
            name = str(document.get("extends")) if isinstance(document, dict) else ""
        return found

    def _source(self, kind: Kind, name: str) -> str:
        return f"{'.agentforge' if (kind, name) in self.overrides else 'catalog'}/{kind}/{name}.yaml"


def says_nothing(text: str) -> bool:
    """An example that nobody has uncommented yet. An empty file is none: something cut it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return bool(lines) and all(line.startswith("#") for line in lines)


@cache
def _packaged(root: Path) -> Catalog:
    """The files of a folder alone: each is read and held against its contract once."""
    return Catalog(root)


@cache
def _shipped(root: Path, kind: Kind) -> frozenset[str]:
    return frozenset(path.stem for path in (root / kind).glob("*.yaml"))


@cache
def _meta(root: Path, kind: Kind) -> Contract:
    """The contract about files of a kind, which every one of them is held against."""
    return compile_contract(_parse(root / "contracts" / f"{META[kind]}.yaml"), META[kind])


@cache
def _parse(path: Path) -> object:
    """A packaged file; nobody changes what was read."""
    return strict_yaml.load(path.read_text(encoding="utf-8"), f"catalog/{path.parent.name}/{path.name}")


@lru_cache(maxsize=256)
def _parse_own(text: str, source: str) -> object:
    """A project's file, which other files of it may build on; nobody changes what was read."""
    return strict_yaml.load(text, source)


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
        case "tools":
            return document["tool"]["name"]


def _without(document: Mapping[str, Any], keys: frozenset[str]) -> Document:
    return {key: value for key, value in document.items() if key not in keys}
