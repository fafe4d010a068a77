"""What a person hands in beside a request: a specification, tests, or what an earlier task made. It is read,
held against its contract, and only then part of a task.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from agentforge.activities.dependencies import dependency_problems
from agentforge.app.drivers.neighbours import OtherTasks
from agentforge.catalog.contracts import Contract
from agentforge.catalog.ends import taken_from_outside
from agentforge.catalog.load import Catalog
from agentforge.context.injections import find
from agentforge.context.tokens import measured
from agentforge.core.errors import UsageError
from agentforge.core.events import ExternalArtifactImported, Validation
from agentforge.core.pipeline import PHASE_OF, Part
from agentforge.core.reply import Json
from agentforge.gates.finals import artifact_problems
from agentforge.gates.rules.subject import Subject
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.task import artifacts
from agentforge.store.task.lines import readable, spell_document
from agentforge.store.task.pack import Pack
from agentforge.system import strict_yaml
from agentforge.system.bounded import SETTINGS_BYTES, read_bounded
from agentforge.system.files import create_exclusive
from agentforge.system.secrets.redact import redact

LONGEST = 6000
"""Tokens of a specification: what the stages that work from it can be shown whole."""
SHOWN = 8


@dataclass(frozen=True, slots=True)
class ExternalInput:
    """A document from outside, not trusted yet."""

    part: Part
    document: dict[str, Json]
    source: str
    source_path: str
    task_id: str = ""
    tree: str = ""
    """The base with the files that it is about, where it brings any."""


@dataclass(frozen=True, slots=True)
class InputPlace:
    """What a document from outside is judged beside: the request, and the paths of a tree."""

    request: str
    files: frozenset[str]
    read: Callable[[str], str | None]
    waits: Callable[[Mapping[str, Json]], list[str]]
    """What is wrong with the tasks and artifacts that it waits for."""


@dataclass(frozen=True, slots=True)
class CheckedInput:
    """A document from outside whose contract passed."""

    contract: str
    given: ExternalInput
    flagged: tuple[str, ...] = ()
    """What in it reads like an instruction."""


def read_specification(path: str) -> ExternalInput:
    """The specification in a YAML file that a person names."""
    try:
        text = read_bounded(Path(path).expanduser(), SETTINGS_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = (
            (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is not UTF-8 text"
        )
        raise UsageError(f"The specification {path} cannot be read: {reason}.") from None
    found: object = strict_yaml.load(redact(text)[0], path)
    if isinstance(found, dict) and len(found) == 1 and isinstance(inner := next(iter(found.values())), dict):
        found = inner  # written under its own name
    if not isinstance(found, dict):
        raise UsageError(f"{path} holds no specification: it is not a mapping.")
    if (length := measured(text)) > LONGEST:
        raise UsageError(
            f"{path} has about {length:,} tokens, and a step can be shown {LONGEST:,} of a specification.",
            "Split it, and hand in one part at a time.",
        )
    return ExternalInput("requirements", found, "user_provided", path)


def contract_of(catalog: Catalog, pipeline: str, part: Part) -> str | None:
    """The contract under which a pipeline takes this part of the work from outside."""
    template = catalog.document("pipelines", pipeline)["pipeline"]
    named = taken_from_outside(template)
    return next((name for name in named if catalog.contract(name).part == part), None)


def checked(
    catalog: Catalog, pipeline: str, given: ExternalInput, others: Sequence[ExternalInput], place: InputPlace
) -> CheckedInput:
    """The document, if it passes the contract that the pipeline takes it under; else a `UsageError` that says
    what is wrong with it.
    """
    name = contract_of(catalog, pipeline, given.part)
    if name is None:
        taken = {
            known: contract_of(catalog, known, given.part) for known in sorted(catalog.names("pipelines"))
        }
        takers = [known for known, contract in taken.items() if contract]
        word = next((contract for contract in taken.values() if contract), given.part)
        raise UsageError(
            f"The pipeline {pipeline} takes no {word} from outside.",
            f"These do: {', '.join(takers)}." if takers else "",
        )
    contract = catalog.contract(name)
    document = without_ours(contract, given.document)
    inputs = {other.part: other.document for other in others if other is not given}
    subject = Subject(document, given.part, inputs, place.request, place.files, place.read, waits=place.waits)
    if wrong := artifact_problems(contract, document, subject, final=False):
        more = f" (and {len(wrong) - SHOWN} more)" if len(wrong) > SHOWN else ""
        raise UsageError(
            f"{given.source_path} does not pass the contract {name}: {'; '.join(wrong[:SHOWN])}{more}.",
            "Correct it and hand it in again.",
        )
    spelled = strict_yaml.dump(dict(document))
    flagged = tuple(f"{given.source_path}: {item.kind}: {item.excerpt}" for item in find(spelled))
    return CheckedInput(name, replace(given, document=document), flagged)


def keep(files: TaskFiles, pack: Pack, found: CheckedInput) -> ExternalArtifactImported:
    """Puts a document in place as a draft of the task, and as it came in `external_inputs/`."""
    given, contract = found.given, found.contract
    ref = artifacts.write_version(files, contract, PHASE_OF[given.part], 1, given.document)
    pack.put_json(readable(given.document))
    create_exclusive(files.external_input(contract), spell_document(readable(given.document)))
    return ExternalArtifactImported(
        contract,
        given.source,
        given.source_path,
        Validation(contract, "passed", ref.hash),
        ref,
        given.task_id,
        found.flagged,
    )


def tree_place(site: Site, tree: str, request: str) -> InputPlace:
    """The place that a tree is."""
    git = site.git

    def read(path: str) -> str | None:
        data = git.read_blob(tree, path)
        return None if data is None else data.decode("utf-8", "replace")

    waits = partial(dependency_problems, neighbours=OtherTasks(site.home, git.top.resolve()))
    return InputPlace(request, frozenset(entry.path for entry in git.ls_tree(tree)), read, waits)


def without_ours(contract: Contract, document: Mapping[str, Json]) -> dict[str, Json]:
    """The document without what only an engine says: it is said anew."""
    schema: Any = contract.document["schema"]
    ours = {name for name, node in schema.items() if node.get("filled") == "only"}
    return {key: value for key, value in document.items() if key not in ours}
