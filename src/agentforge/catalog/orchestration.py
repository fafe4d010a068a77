"""A project's own choice of who works in a stage and who reads the result: one file, laid over the stages."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from agentforge.catalog.contracts import Contract, problems
from agentforge.catalog.extends import Document, Kind, merged
from agentforge.catalog.faults import placed
from agentforge.core.errors import UsageError
from agentforge.system import strict_yaml

FOLDER = ".agentforge/orchestration/"
FILES = (f"{FOLDER}stage_config.yaml", f"{FOLDER}pipeline.yaml")
"""Two names of the same: the second wraps its stages in `pipeline:`."""

_KEYS = {"primary": "role"}


@dataclass(frozen=True, slots=True)
class Orchestration:
    """What the file says, stage by stage."""

    source: str = ""
    text: str = ""
    stages: Mapping[str, Document] | None = None
    prefix: str = "stages"
    """The keys above a stage, as the file has them."""

    def over(self, name: str, stage: Document) -> Document:
        """A stage with what the file says about it."""
        said = (self.stages or {}).get(name)
        return (
            stage
            if said is None
            else merged(stage, {_KEYS.get(key, key): value for key, value in said.items()}, self.source)
        )

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
        for key in ("primary", "reviewers", "+reviewers"):
            for role in [said[key]] if key == "primary" and key in said else said.get(key, []):
                if role not in names("agents"):
                    raise read.wrong(
                        stage, key, f"there is no role {role}; there are {', '.join(sorted(names('agents')))}"
                    )
    return Orchestration(source, text, value["stages"], read.prefix)
