"""The catalogue as a task would find it in a repository, and a file of it as it is now."""

from dataclasses import dataclass
from pathlib import Path

from agentforge.app.setup.overrides import OVERRIDES, read_overrides
from agentforge.catalog.check import judge_file, lanes_of, place_of
from agentforge.catalog.load import Catalog, ResolvedPipeline, says_nothing
from agentforge.core.errors import UsageError
from agentforge.store.site import Site
from agentforge.system.bounded import SETTINGS_BYTES, files_below, read_bounded


@dataclass(frozen=True, slots=True)
class ProjectCatalogue:
    """The packaged catalogue with a project's own files."""

    catalog: Catalog
    uncommitted: tuple[str, ...] = ()
    """Files of the project that no task would see, because they are not committed as they are."""

    def origin(self, pipeline: str) -> str:
        """Whether a pipeline comes from the project or with AgentForge."""
        return "project" if ("pipelines", pipeline) in self.catalog.overrides else "packaged"


@dataclass(frozen=True, slots=True)
class PipelineRow:
    """A pipeline as `pipelines list` shows it."""

    name: str
    origin: str
    lanes: tuple[str, ...] = ()
    description: str = ""
    goal: str = ""
    """The kind of request that it is for."""
    wrong: str | None = None
    """Why no task can run it."""


@dataclass(frozen=True, slots=True)
class PipelineDrawing:
    """A pipeline with the stages of each of its lanes."""

    name: str
    description: str
    goal: str
    origin: str
    resolved: tuple[ResolvedPipeline, ...]
    purposes: dict[str, str]
    """What each lane is for; empty where there are no lanes."""
    files: tuple[str, ...]
    """The project's own files that it is made of."""


@dataclass(frozen=True, slots=True)
class FileCheck:
    """A file of a project's catalogue, checked as it is now."""

    place: str
    """What it counts as: a path below the repository."""
    wrong: tuple[str, ...]
    says_nothing: bool
    """Every line of it is a comment."""
    warnings: tuple[str, ...] = ()
    """What it says to no effect."""
    kept: tuple[str, ...] = ()
    """What it leaves to the packaged file whose place it takes."""
    elsewhere: tuple[str, ...] = ()
    """Mistakes of other files of the project."""


def project_catalogue(where: Path) -> ProjectCatalogue:
    """The catalogue as a task would see it from `where`; the packaged one outside of a repository."""
    catalog = Catalog.packaged()
    try:
        git = Site.open(where).git
        head = git.head()
    except UsageError:  # no repository, or no commit in it: there is nothing of a project
        return ProjectCatalogue(catalog)
    committed, here = read_overrides(git, head), _checked_out(git.top)
    changed = sorted(
        path
        for path in {*committed, *here}
        if committed.get(path) != here.get(path) and not says_nothing(here.get(path, ""))
    )
    return ProjectCatalogue(catalog.with_overrides(committed), tuple(changed))


def list_pipelines(found: ProjectCatalogue) -> list[PipelineRow]:
    """Every pipeline of the catalogue, sorted by name."""
    return [_row(found, name) for name in sorted(found.catalog.names("pipelines"))]


def draw_pipeline(found: ProjectCatalogue, name: str, lane: str | None = None) -> PipelineDrawing:
    """One pipeline with all its lanes, or with the one that is named."""
    catalog = found.catalog
    names = catalog.names("pipelines")
    if name not in names:
        raise UsageError(
            f"There is no pipeline {name}. Choose one of {', '.join(sorted(names))}.",
            "`agentforge pipelines list` says what each does.",
        )
    lanes = [lane] if lane else lanes_of(catalog, name)
    resolved = tuple(catalog.resolve(name, each) for each in lanes)
    template = catalog.document("pipelines", name)["pipeline"]
    purposes = {key: value.get("for", "") for key, value in template.get("lanes", {}).items()}
    files = _own_files(catalog, name, resolved)
    told = (template["description"], template["goal_type"], found.origin(name))
    return PipelineDrawing(name, *told, resolved, purposes, files)


def check_file(file: Path, where: Path) -> FileCheck:
    """Checks one file, whatever of a project's it is, beside the other files of its repository, whose own
    mistakes are told apart.
    """
    try:
        text = read_bounded(file, SETTINGS_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(
            f"{file} cannot be read: {reason}.", "Name a file of the project, as its path from here."
        ) from None
    place = place_of(file, text)
    others = {path: other for path, other in _checked_out(_top(file, where)).items() if path != place}
    found = judge_file(others, place, text)
    wrong, warnings = (
        tuple(line.replace(place, str(file)) for line in lines) for lines in (found.wrong, found.warnings)
    )
    return FileCheck(place, wrong, says_nothing(text), warnings, found.kept, found.elsewhere)


def _row(found: ProjectCatalogue, name: str) -> PipelineRow:
    try:
        template = found.catalog.document("pipelines", name)["pipeline"]
        lanes = tuple(lane for lane in lanes_of(found.catalog, name) if lane)
    except UsageError as error:
        return PipelineRow(name, found.origin(name), wrong=str(error))
    return PipelineRow(name, found.origin(name), lanes, template["description"], template["goal_type"])


def _own_files(catalog: Catalog, name: str, resolved: tuple[ResolvedPipeline, ...]) -> tuple[str, ...]:
    used = {("pipelines", name)}
    for each in resolved:
        used |= {("stages", stage.name) for stage in each.pipeline().stages}
        used |= {("agents", role) for role in each.value["roles"]}
        used |= {("contracts", contract) for contract in each.value["contracts"]}
    own = sorted(
        f".agentforge/{kind}/{part}.yaml" for kind, part in catalog.overrides if (kind, part) in used
    )
    return (*own, *([catalog.orchestration.source] if catalog.orchestration.source else []))


def _checked_out(top: Path | None) -> dict[str, str]:
    """The catalogue files of a checkout as they are now."""
    if top is None:
        return {}
    files = [path for folder in OVERRIDES for path in sorted(files_below(top / folder))]
    return {
        path.relative_to(top).as_posix(): read_bounded(path, SETTINGS_BYTES).decode("utf-8", "replace")
        for path in files
    }


def _top(file: Path, where: Path) -> Path | None:
    """The repository that a file is meant for: the one whose `.agentforge` it is in, else the one around
    `where`.
    """
    whole = file.absolute()
    if whole.parent.parent.name == ".agentforge":
        return whole.parents[2]
    try:
        return Site.open(where).git.top
    except UsageError:
        return None
