"""What a task has changed so far, as data."""

from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.reply import Json


def diff_fields(task: OpenTask, *, stat: bool) -> dict[str, Json]:
    """Every file with its lines, and unless `stat` the whole difference."""
    state, git = task.state, task.site.git
    counted = {line.path: line for line in git.numstat(state.base_tree, state.tree)}
    files: list[Json] = []
    for change in git.diff_names(state.base_tree, state.tree):
        lines = counted.get(change.path)
        files.append(
            {
                "path": change.path,
                "status": change.status,
                "insertions": lines.added if lines else None,
                "deletions": lines.removed if lines else None,
            }
        )
    patch = git.diff_patch(state.base_tree, state.tree).decode("utf-8", "replace")
    found: dict[str, Json] = {
        "task_id": task.task_id,
        "base": state.base_commit,
        "tree": state.tree,
        "files": files,
    }
    return found if stat else {**found, "diff": patch}
