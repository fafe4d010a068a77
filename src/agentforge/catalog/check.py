"""What is wrong with one file of a project: in itself, and in every lane that it reaches."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from agentforge.catalog.contracts import compile_contract, problems
from agentforge.catalog.extends import KINDS, PACKAGED, Kind
from agentforge.catalog.faults import placed
from agentforge.catalog.load import DOCUMENTS, Catalog, says_nothing
from agentforge.catalog.orchestration import FILES
from agentforge.core.errors import UsageError
from agentforge.system import strict_yaml

Folder = Literal["agents", "pipelines", "contracts", "stages", "tools", "orchestration"]
FOLDERS: tuple[Folder, ...] = (*KINDS, "orchestration")

PLACES: Mapping[str, str] = {
    "repositories": "repos.yaml",
    "feedback": "feedback.yaml",
    "iteration_context": "the iteration_context of a step",
    "dependencies": "the dependencies of a specification",
}
"""Files beside the catalogue that can be checked too: what each counts as, by the key that it begins with."""

_OWN_NAME: Mapping[Folder, tuple[str, ...]] = {
    "agents": ("agent", "role"),
    "pipelines": ("pipeline", "name"),
    "contracts": ("contract",),
    "stages": ("name",),
    "tools": ("tool", "name"),
}


@dataclass(frozen=True, slots=True)
class FileVerdict:
    """What is to be said of one file among the others of its project."""

    wrong: tuple[str, ...] = ()
    """Its own mistakes, each as `file:line: key: what is wrong`."""
    warnings: tuple[str, ...] = ()
    """What it says to no effect."""
    kept: tuple[str, ...] = ()
    """What it leaves to the packaged file whose place it takes."""
    elsewhere: tuple[str, ...] = ()
    """Mistakes of the other files, which were left aside."""


def place_of(path: PurePath, text: str) -> str:
    """Where in a repository this file belongs: by the folder it is in, else by what it says."""
    folder = next((folder for folder in FOLDERS if path.parent.name == folder), None)
    if folder is not None:
        return f".agentforge/{folder}/{path.name}"
    said: object = strict_yaml.load(text, str(path))
    if not isinstance(said, dict):
        raise UsageError(f"{path}: is not a mapping.")
    if len(said) == 1 and (key := str(next(iter(said)))) in PLACES:
        return PLACES[key]
    guessed = _folder(said)
    if guessed is None:
        raise UsageError(
            f"{path}: does not say what kind of file it is.",
            f"Put it into a folder of this name: {', '.join(FOLDERS)}; then check it again.",
        )
    if guessed == "orchestration":
        return FILES["pipeline" in said]
    return f".agentforge/{guessed}/{_name(said, guessed) or path.stem}.yaml"


def examples() -> dict[str, str]:
    """A commented example of each kind, by the path where a repository has it. `## ` explains, `# ` is what
    may be uncommented.
    """
    root = Catalog.packaged().root / "examples"
    return {
        f".agentforge/{path.parent.name}/{path.name}": path.read_text(encoding="utf-8")
        for path in sorted(root.glob("*/*.yaml"))
    }


def judge_file(others: Mapping[str, str], place: str, text: str) -> FileVerdict:
    """One file as its project would have it: alone, and in every lane that it reaches. Other files that are
    broken themselves are named apart, and not held against it.
    """
    if says_nothing(text):
        return FileVerdict()
    if place in PLACES.values():
        return FileVerdict(tuple(_document_faults(place, text)))
    kind, name = _named(place)
    files, elsewhere = _without_broken({**others, place: text}, place)
    try:
        catalog = Catalog.packaged().with_overrides(files)
    except UsageError as error:
        return FileVerdict((str(error),), elsewhere=elsewhere)
    if kind is not None and (wrong := catalog.faults(kind, name)):
        return FileVerdict(tuple(_cause(wrong, others, elsewhere)), elsewhere=elsewhere)
    rest = {path: other for path, other in files.items() if path != place}
    before = _lane_faults(Catalog.packaged().with_overrides(rest))
    now = _lane_faults(catalog)
    wrong = [fault for fault in now if fault not in before]
    elsewhere = (*elsewhere, *(fault for fault in now if fault in before))
    if wrong or kind is None:
        return FileVerdict(tuple(wrong), elsewhere=elsewhere)
    return FileVerdict((), tuple(catalog.warnings(kind, name)), catalog.kept(kind, name), elsewhere)


def _cause(wrong: Sequence[str], others: Mapping[str, str], elsewhere: Sequence[str]) -> list[str]:
    """Faults, with the broken file behind one that misses what was left aside."""
    names = {_named(path)[1]: path for path in others if any(path in fault for fault in elsewhere)}
    return [
        f"{fault} {path} is broken itself." if path else fault
        for fault in wrong
        for path in [next((names[name] for name in names if f"`{name}`" in fault), "")]
    ]


def _document_faults(place: str, text: str) -> list[str]:
    """What is wrong with a file that is no catalogue file and has a contract."""
    key = next(key for key, known in PLACES.items() if known == place)
    said: object = strict_yaml.load(text, place)
    packaged = Catalog.packaged()
    if key in DOCUMENTS:
        contract = packaged.contract(DOCUMENTS[key])
    else:  # one field of what says the requirements
        documents = [packaged.document("contracts", name) for name in sorted(packaged.names("contracts"))]
        field = next(each["schema"][key] for each in documents if each.get("part") == "requirements")
        head = {"contract": key, "version": "1.0", "description": place}
        contract = compile_contract({**head, "schema": {key: {**field, "required": True}}}, place)
    return [
        placed(UsageError(f"{place}: {fault}."), {place: text}).sentence
        for fault in problems(contract, said, final=True)
    ]


def _without_broken(files: Mapping[str, str], place: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The files without those beside `place` that are broken themselves, and what is wrong with these. What
    builds on a broken one goes with it.
    """
    found = dict(files)
    elsewhere: dict[str, None] = {}
    while broken := _broken(found, place):
        for path, faults in broken.items():
            elsewhere |= dict.fromkeys(faults)
            del found[path]
    return found, tuple(elsewhere)


def _broken(files: Mapping[str, str], place: str) -> dict[str, list[str]]:
    """The broken files beside `place`, each with its faults; those of another file are told there."""
    others = [path for path in files if path != place]
    try:
        catalog = Catalog.packaged().with_overrides(files)
    except UsageError as error:
        return {path: [str(error)] for path in others if str(error).startswith(f"{path}:")}
    found = {}
    for path in others:
        kind, name = _named(path)
        faults = catalog.faults(kind, name) if kind is not None and (kind, name) in catalog.overrides else []
        if faults and not any(fault.startswith(f"{place}:") for fault in faults):
            found[path] = faults
    return found


def _named(place: str) -> tuple[Kind | None, str]:
    found = re.fullmatch(r"\.agentforge/(\w+)/(\w+)\.yaml", place)
    kind = next((kind for kind in KINDS if found and kind == found[1]), None)
    return kind, found[2] if found else ""


def policy_faults(name: str, document: object) -> list[str]:
    """What is wrong with a policy under its contract."""
    return problems(Catalog.packaged().contract(f"{name}_policy"), document, final=True)


def lanes_of(catalog: Catalog, pipeline: str) -> list[str | None]:
    """The lanes of a pipeline; None where the line itself is the only one."""
    return [*catalog.document("pipelines", pipeline)["pipeline"].get("lanes", {})] or [None]


def _lane_faults(catalog: Catalog) -> list[str]:
    """What no lane can work with."""
    wrong: dict[str, None] = {}
    for pipeline in sorted(catalog.names("pipelines")):
        try:
            for lane in lanes_of(catalog, pipeline):
                catalog.resolve(pipeline, lane)
        except UsageError as error:
            wrong[str(error)] = None
    return list(wrong)


def _folder(said: Mapping[str, object]) -> Folder | None:
    template = said.get("pipeline")
    if isinstance(said.get("stages"), dict) or (
        isinstance(template, dict) and isinstance(template.get("stages"), dict)
    ):
        return "orchestration"
    own: Mapping[str, Folder] = {
        "agent": "agents",
        "capabilities": "agents",
        "identity": "agents",
        "pipeline": "pipelines",
        "contract": "contracts",
        "schema": "contracts",
        "produces": "stages",
        "gates": "stages",
        "tool": "tools",
    }
    if found := next((folder for key, folder in own.items() if key in said or f"+{key}" in said), None):
        return found
    base = str(said.get("extends", "")).removeprefix(PACKAGED)
    of_base = [kind for kind in KINDS if base in Catalog.packaged().names(kind)]
    return of_base[0] if len(of_base) == 1 else None


def _name(said: Mapping[str, object], folder: Folder) -> str:
    """What the file calls itself, or else what it extends: an override has the name of its base."""
    node: object = said
    for key in _OWN_NAME[folder]:
        node = node.get(key) if isinstance(node, dict) else None
    return str(node or said.get("extends", "")).removeprefix(PACKAGED)
