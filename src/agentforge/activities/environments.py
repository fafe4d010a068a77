"""The environment that a project of a recorded tree is set up in: from the cache, or built now."""

from pathlib import Path

from agentforge.languages.repository import Project
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.network.destinations import Destination
from agentforge.sandbox.worktree import Workspace


def built_environment(  # noqa: PLR0913  # what is set up, where, and what set-up may do
    workspace: Workspace,
    project: Project,
    tree: str,
    base_commit: str,
    sandbox: Sandbox,
    *,
    cache: Path,
    network: tuple[Destination, ...],
    index_passwords: bool,
) -> Environment:
    """The environment of a project as a tree has it."""
    own = workspace.git.subtree(tree, project.root)
    return project.language.projects.build(
        project.plan,
        lambda place: workspace.check_out_base(place, own, base_commit),
        cache,
        sandbox,
        version=workspace.describe_version(base_commit),
        lock_text_hash=lock_hash(workspace, project, tree),
        allow=network,
        index_passwords=index_passwords,
    )


def lock_hash(workspace: Workspace, project: Project, tree: str) -> str:
    """The hash of what an environment is built from."""
    read = project.read(lambda path: workspace.git.read_blob(tree, path))
    return project.language.projects.lock_hash(project.plan, read)
