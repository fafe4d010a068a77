"""Artifacts on disk: YAML that people read, bound to the journal by the hash of its value."""

from pathlib import Path

from agentforge.core.codec import encode
from agentforge.core.errors import Unusable, UsageError
from agentforge.core.reply import Json
from agentforge.core.spec import TaskSpec
from agentforge.core.values import ArtifactRef
from agentforge.store.layout import TaskFiles
from agentforge.store.task.confidence import as_read, as_written
from agentforge.store.task.lines import readable, spell_document
from agentforge.system import strict_yaml
from agentforge.system.canon import digest_value
from agentforge.system.files import create_exclusive, disk_errors, write_atomic
from agentforge.system.secrets.values import clean
from agentforge.system.unlinked import read_unlinked


def write_version(
    files: TaskFiles, contract: str, phase: str, version: int, value: dict[str, Json]
) -> ArtifactRef:
    """Put one version in place. Safe to repeat; whether a version may still change is the caller's affair."""
    return _write(files.version(phase, contract, version), contract, phase, version, value)


def write_final(
    files: TaskFiles, contract: str, phase: str, version: int, value: dict[str, Json]
) -> ArtifactRef:
    """Put the accepted one in place under its own name; the version that was handed in stays as it was."""
    return _write(files.final(phase, contract), contract, phase, version, value)


def keep_handed_over(files: TaskFiles, ref: ArtifactRef) -> None:
    """Copies a final that was handed over to a name of its own, before another one takes its place."""
    final = files.final(ref.phase, ref.contract)
    value = _load(final)
    if value is not None and digest_value(value) == ref.hash:
        _replace(files.earlier_final(ref.phase, ref.contract, ref.version), read_unlinked(final))


def read(files: TaskFiles, ref: ArtifactRef) -> dict[str, Json]:
    """The artifact a reference names, from its version or, where that is gone, from the final. Other content
    is refused.
    """
    path = files.version(ref.phase, ref.contract, ref.version)
    for place in (path, files.final(ref.phase, ref.contract)):
        value = _load(place)
        if value is not None and digest_value(value) == ref.hash:
            return value
    problem = "was changed" if path.exists() else "is missing"
    raise Unusable(
        f"The artifact {path} {problem}; the journal knows it by hash {ref.hash[:12]}.",
        f"Move {files.root} away; `agentforge continue {files.task_id}` then restores the last accepted "
        "stage.",
    )


def write_patch(files: TaskFiles, step: int, patch: bytes) -> Path:
    """What a step changed, as a patch that `git apply` takes."""
    path = files.patch(step)
    _replace(path, patch)
    return path


def write_inputs(files: TaskFiles, spec: TaskSpec, started_at: str, engine: str) -> None:
    """`task.yaml` and the request word for word: written once, at the start."""
    for path, value in zip(
        (files.task, files.original_request), inputs(spec, started_at, engine), strict=True
    ):
        create_exclusive(path, spell_document(value))


def inputs(spec: TaskSpec, started_at: str, engine: str) -> tuple[dict[str, Json], dict[str, Json]]:
    """The content of `task.yaml`, and of the request word for word."""
    task: dict[str, Json] = {
        "task_id": spec.task_id,
        "request": spec.request,
        "goal": spec.pipeline.name,
        "lane": spec.pipeline.lane,
        "started_at": started_at,
        "engine": engine,
        "model": spec.model,
        "sandbox": spec.sandbox,
        "base_commit": spec.base_commit,
        "tree_hash": spec.base_tree,
        "catalogue": spec.catalogue,
        "limits": encode(spec.budget),
        "triage": list(spec.triage),
    }
    request: dict[str, Json] = {
        "task_id": spec.task_id,
        "received_at": started_at,
        "request": spec.request,
    }
    return task, request


def _write(path: Path, contract: str, phase: str, version: int, value: dict[str, Json]) -> ArtifactRef:
    kept = clean(readable(value))
    assert isinstance(kept, dict)
    _replace(path, strict_yaml.dump(as_written(kept)).encode())
    return ArtifactRef(contract, phase, version, digest_value(kept))


def _replace(path: Path, data: bytes) -> None:
    with disk_errors():
        if not (path.is_file() and read_unlinked(path) == data):
            write_atomic(path, data)


def _load(path: Path) -> dict[str, Json] | None:
    try:
        with disk_errors():
            return parse(read_unlinked(path).decode(), str(path))
    except (FileNotFoundError, UsageError, UnicodeDecodeError):
        return None


def parse(text: str, source: str) -> dict[str, Json] | None:
    """The artifact that a file holds; None if it is no mapping."""
    value = strict_yaml.load(text, source, floats="text")
    return as_read(value) if isinstance(value, dict) else None


def is_derived(path: Path) -> bool:
    """Whether a document says that nobody was asked to write it; False where it cannot be read."""
    try:
        return "derived: true" in path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
