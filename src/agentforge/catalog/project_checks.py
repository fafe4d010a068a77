"""Rules of one project about its code: its files in `.agentforge/checks/`, held against their contract."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from agentforge.catalog.checks import CodeCheck, own_checks
from agentforge.catalog.contracts import problems
from agentforge.catalog.faults import placed
from agentforge.catalog.load import Catalog
from agentforge.core.errors import UsageError
from agentforge.system import strict_yaml

CHECKS_FOLDER = ".agentforge/checks/"
RuleKind = Literal["regex", "ast-grep", "imports", "metric", "command", "model"]
_COMMON = frozenset(
    {
        "check",
        "kind",
        "description",
        "fix_hint",
        "contract",
        "severity",
        "enforcement",
        "blocks",
        "files",
        "except",
    }
)
_NEEDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "regex": (frozenset({"pattern"}), frozenset({"examples"})),
    "ast-grep": (frozenset(), frozenset({"pattern", "rule", "examples"})),
    "imports": (frozenset({"forbid"}), frozenset()),
    "metric": (frozenset({"metric", "limit"}), frozenset()),
    "command": (frozenset({"run"}), frozenset()),
    "model": (frozenset({"rule"}), frozenset()),
}
"""Of each kind, the keys that it needs and those that it may have."""


@dataclass(frozen=True, slots=True)
class ProjectCheck:
    """One rule of a project."""

    check: CodeCheck
    kind: RuleKind
    files: tuple[str, ...]
    """Patterns; none for all code."""
    excluded: tuple[str, ...]
    data: Mapping[str, Any]
    """What its kind needs."""

    @property
    def digest(self) -> str:
        """What a person agrees to, and what findings are kept under: the rule without its words."""
        told = {"kind": self.kind, "files": self.files, "except": self.excluded, **self.data}
        return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def read_project_checks(texts: Mapping[str, str]) -> dict[str, ProjectCheck]:
    """The rules of a project, by name, from its files; a `UsageError` for one that is none."""
    found: dict[str, ProjectCheck] = {}
    for path, text in sorted(texts.items()):
        try:
            made = _read(path, text)
        except UsageError as error:
            raise placed(error, {path: text}) from None
        found[made.check.name] = made
    return found


def _read(path: str, text: str) -> ProjectCheck:
    value: Any = strict_yaml.load(text, path)
    wrong = problems(Catalog.packaged().contract("project_check"), value, final=True)
    if wrong or not isinstance(value, dict):
        raise UsageError(f"{path}: {wrong[0] if wrong else 'is no mapping'}.")
    name, kind = str(value["check"]), str(value["kind"])
    if name in own_checks():
        raise UsageError(f"{path}: check: `{name}` comes with AgentForge.", "Choose another name.")
    if path.rpartition("/")[2].rpartition(".")[0] != name:
        raise UsageError(f"{path}: check: is `{name}`, and the file is not called {name}.yaml.")
    needed, optional = _NEEDS[kind]
    if missing := sorted(needed - value.keys()):
        raise UsageError(f"{path}: a check of the kind {kind} needs `{missing[0]}`.")
    if unknown := sorted(value.keys() - _COMMON - needed - optional):
        raise UsageError(f"{path}: `{unknown[0]}` means nothing for the kind {kind}.")
    if kind == "ast-grep" and ("pattern" in value) == ("rule" in value):
        raise UsageError(f"{path}: a check of the kind ast-grep has a `pattern` or a `rule`.")
    if kind == "model" and not isinstance(value["rule"], str):
        raise UsageError(f"{path}: rule: of the kind model is a sentence.")
    check = CodeCheck(
        name,
        value.get("contract", "pattern_contracts"),
        value["description"],
        value.get("severity", "major"),
        value.get("enforcement", "every_edit"),
        "never" if kind == "model" else value.get("blocks", "always"),
        value["fix_hint"],
        {"any": f"a rule of the project ({kind})"},
        value.get("limit"),
        tests=True,
    )
    data = {key: value[key] for key in sorted(value.keys() - _COMMON)}
    return ProjectCheck(
        check, value["kind"], tuple(value.get("files", ())), tuple(value.get("except", ())), data
    )
