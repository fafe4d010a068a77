"""Documents of a task, copied to where a person wants them."""

from pathlib import Path

from agentforge.app.people.presented import document_of
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.versions import VersionRow, find_version, list_versions
from agentforge.core.errors import UsageError
from agentforge.store.task.lines import spell_document


def export_documents(task: OpenTask, contract: str | None, version: int | None, target: Path) -> list[Path]:
    """Writes one document to a file, or every final into a directory; nothing that is there is replaced."""
    if contract is not None:
        row = find_version(task, contract, version)
        place = target / _name(row) if target.is_dir() else target
        return [_write(task, row, place)]
    if version is not None:
        raise UsageError("--version needs the name of a document.", "`agentforge artifacts list` shows them.")
    finals = {row.ref.contract: row for row in list_versions(task) if row.final}
    if not finals:
        raise UsageError(
            f"{task.task_id} has no accepted document yet.",
            f"Name one, with its version: `agentforge artifacts list {task.task_id}` shows them.",
        )
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is not a directory.", "Name a directory, or one document to export.")
    taken = [target / _name(row) for row in finals.values() if (target / _name(row)).exists()]
    if taken:
        raise UsageError(f"{taken[0]} exists.", "Name another place, or remove it.")
    return [_write(task, row, target / _name(row)) for row in finals.values()]


def _name(row: VersionRow) -> str:
    return f"{row.ref.contract}.yaml"


def _write(task: OpenTask, row: VersionRow, place: Path) -> Path:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            file.write(spell_document(document_of(task, row.ref)))
    except FileExistsError:
        raise UsageError(f"{place} exists.", "Name another place, or remove it.") from None
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {(error.strerror or str(error)).lower()}.") from None
    return place
