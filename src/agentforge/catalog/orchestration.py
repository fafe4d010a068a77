"""A project's own choice of who works in a stage and who reads the result: one file, laid over the stages."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from agentforge.catalog.contracts import Contract, problems
from agentforge.catalog.extends import Document, Kind, merged
from agentforge.catalog.faults import placed
from agentforge.catalog.rules import CONTRACT_ALIASES
from agentforge.core.conditions import NOTHING_OWED, condition_problem, narrowed
from agentforge.core.errors import UsageError
from agentforge.system import strict_yaml

FOLDER = ".agentforge/orchestration/"
FILES = (f"{FOLDER}stage_config.yaml", f"{FOLDER}pipeline.yaml")
"""Two names of the same: the second wraps its stages in `pipeline:`."""

_KEYS = {"primary": "role", "prerequisites": "requires", "output_contract": "produces"}
"""Our own names of what the file calls otherwise."""


_OF_OTHERS = frozenset({"prerequisites", "output_contract", "skippable_if"})
"""Keys that do not simply replace the stage's own."""


@dataclass(frozen=True, slots=True)
class Orchestration:
    """The settings of each stage in `stage_config.yaml`."""

    source: str = ""
    text: str = ""
    stages: Mapping[str, Document] | None = None
    prefix: str = "stages"
    """The keys above a stage, as the file has them."""

    def over(self, name: str, stage: Document) -> Document:
        """A stage with what the file says about it."""
        said = (self.stages or {}).get(name)
        if said is None:
            return stage
        plain = {_KEYS.get(key, key): value for key, value in said.items() if key not in _OF_OTHERS}
        given = [_named(contract) for contract in said.get("prerequisites", ())]
        if more := [contract for contract in given if contract not in stage.get("requires", ())]:
            plain["+requires"] = more
        makes = [item["contract"] for item in stage["produces"]]
        if (output := _named(said.get("output_contract", makes[0]))) not in makes:
            raise self.wrong(name, "produces", f"{output} is not what this stage makes: {', '.join(makes)}")
        return merged(stage, plain, self.source)

    def skips(self, name: str, skip_if: str) -> str:
        """When nobody works in a stage that would be skipped on this condition: never in a case that the
        file does not name.
        """
        may = (self.stages or {}).get(name, {}).get("skippable_if")
        return skip_if if may is None else narrowed(skip_if, f"({may}) OR {' OR '.join(NOTHING_OWED)}")

    def wrong(self, stage: str, key: str, problem: str) -> UsageError:
        """A mistake in what is said about a stage; `key` is the one of the stage's definition."""
        own = next((mine for mine, theirs in _KEYS.items() if theirs == key), key)
        return self.placed(UsageError(f"{self.source}: {self.prefix}.{stage}.{own}: {problem}."))

    def placed(self, error: UsageError) -> UsageError:
        """The error with its line, if it is about this file."""
        return placed(error, {self.source: self.text})


def read_orchestration(
    files: Mapping[str, str], meta: Contract, names: Callable[[Kind], Collection[str]]
) -> Orchestration:
    """The file among a project's files by path, if there is one; valid, and naming only what there is."""
    here = [path for path in files if path.startswith(FOLDER)]
    if strangers := sorted(set(here) - set(FILES)):
        raise UsageError(
            f"{strangers[0]}: a file here is named "
            f"{' or '.join(path.removeprefix(FOLDER) for path in FILES)}."
        )
    if len(here) > 1:
        raise UsageError(f"{here[1]}: {here[0]} says the same things; one of them must go.")
    if not here:
        return Orchestration()
    source, text = here[0], files[here[0]]
    found: object = strict_yaml.load(text, source)
    wrapped = isinstance(found, dict) and set(found) == {"pipeline"}
    value = found["pipeline"] if wrapped and isinstance(found, dict) else found
    prefix = "pipeline." if wrapped else ""
    read = Orchestration(source, text, None, f"{prefix}stages")
    wrong = problems(meta, value, final=True)
    if wrong or not isinstance(value, dict):
        raise read.placed(UsageError(f"{source}: {prefix}{wrong[0] if wrong else 'is not a mapping'}."))
    for stage, said in value["stages"].items():
        if stage not in names("stages"):
            raise read.placed(
                UsageError(
                    f"{source}: {prefix}stages.{stage}: there is no such stage; there are "
                    f"{', '.join(sorted(names('stages')))}."
                )
            )
        _check_names(read, stage, said, names)
    return Orchestration(source, text, value["stages"], read.prefix)


def _check_names(
    read: Orchestration, stage: str, said: Document, names: Callable[[Kind], Collection[str]]
) -> None:
    """Refuses what is said about a stage if it names something that there is not."""
    if reason := condition_problem(said.get("skippable_if", "never")):
        raise read.wrong(stage, "skippable_if", reason)
    for contract in said.get("prerequisites", ()):
        if _named(contract) not in names("contracts"):
            raise read.wrong(stage, "requires", f"there is no contract {contract}")
    for key in ("primary", "reviewers", "+reviewers"):
        for role in [said[key]] if key == "primary" and key in said else said.get(key, []):
            if role not in names("agents"):
                raise read.wrong(
                    stage, key, f"there is no role {role}; there are {', '.join(sorted(names('agents')))}"
                )


def _named(contract: str) -> str:
    return CONTRACT_ALIASES.get(contract, contract)
