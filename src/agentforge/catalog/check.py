"""What is wrong with one file of a project: in itself, and in every lane that it reaches."""

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Literal

from agentforge.catalog.contracts import problems
from agentforge.catalog.extends import KINDS, PACKAGED
from agentforge.catalog.load import Catalog, says_nothing
from agentforge.catalog.orchestration import FILES
from agentforge.core.errors import UsageError
from agentforge.system import strict_yaml

Folder = Literal["agents", "pipelines", "contracts", "stages", "tools", "orchestration"]
FOLDERS: tuple[Folder, ...] = (*KINDS, "orchestration")

_OWN_NAME: Mapping[Folder, tuple[str, ...]] = {
    "agents": ("agent", "role"),
    "pipelines": ("pipeline", "name"),
    "contracts": ("contract",),
    "stages": ("name",),
    "tools": ("tool", "name"),
}


def place_of(path: PurePath, text: str) -> str:
    """Where in a repository this file belongs: by the folder it is in, else by what it says."""
    folder = next((folder for folder in FOLDERS if path.parent.name == folder), None)
    if folder is not None:
        return f".agentforge/{folder}/{path.name}"
    said: object = strict_yaml.load(text, str(path))
    if not isinstance(said, dict):
        raise UsageError(f"{path}: is not a mapping.")
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


def file_faults(others: Mapping[str, str], place: str, text: str) -> list[str]:
    """Every mistake of a file among the other files of its project, each as `file:line: key: what is
    wrong`.
    """
    if says_nothing(text):
        return []
    try:
        catalog = Catalog.packaged().with_overrides({**others, place: text})
    except UsageError as error:
        return [str(error)]
    found = re.fullmatch(r"\.agentforge/(\w+)/(\w+)\.yaml", place)
    kind = next((kind for kind in KINDS if found and kind == found[1]), None)
    if kind is not None and found is not None and (wrong := catalog.faults(kind, found[2])):
        return wrong
    before = _lane_faults(Catalog.packaged().with_overrides(others))
    return [fault for fault in _lane_faults(catalog) if fault not in before]


def file_warnings(others: Mapping[str, str], place: str, text: str) -> list[str]:
    """What a file without faults says to no effect, each as `file:line: key: what`."""
    found = re.fullmatch(r"\.agentforge/(\w+)/(\w+)\.yaml", place)
    kind = next((kind for kind in KINDS if found and kind == found[1]), None)
    if kind is None or found is None or says_nothing(text):
        return []
    return Catalog.packaged().with_overrides({**others, place: text}).warnings(kind, found[2])


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
