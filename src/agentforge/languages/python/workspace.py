"""Workspaces of uv: several projects in one repository, tested together."""

import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase

from agentforge.languages.python.project import PythonProject, open_project, strings


def members(project: PythonProject) -> Iterator[tuple[str, PythonProject]]:
    """The folders of a workspace with the project in each, in order."""
    workspace = project.tool("uv", "workspace")
    wanted = [posixpath.normpath(pattern) for pattern in strings(workspace.get("members"))]
    unwanted = [posixpath.normpath(pattern) for pattern in strings(workspace.get("exclude"))]
    folders = (
        posixpath.dirname(path)
        for path in sorted(project.paths)
        if posixpath.basename(path) == "pyproject.toml" and "/" in path
    )
    for folder in folders:
        if _any(folder, wanted) and not _any(folder, unwanted):
            yield folder, _member(project, folder)


def _any(folder: str, patterns: list[str]) -> bool:
    depth = folder.count("/")
    return any(pattern.count("/") == depth and fnmatchcase(folder, pattern) for pattern in patterns)


def _member(project: PythonProject, folder: str) -> PythonProject:
    inside = [path.removeprefix(f"{folder}/") for path in project.paths if path.startswith(f"{folder}/")]
    return open_project(lambda path: project.read(f"{folder}/{path}"), inside)
