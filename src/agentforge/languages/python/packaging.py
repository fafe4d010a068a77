"""What a Python project says of itself: its requirements, its version, and what builds it."""

from collections.abc import Iterator, Sequence

from agentforge.languages.described import Read, table
from agentforge.languages.python.layout import import_roots
from agentforge.languages.python.project import PythonProject, lines, open_project, strings
from agentforge.languages.python.requirements import extras_of, name_of, poetry_requirements
from agentforge.languages.values import Manifest


def describe(read: Read, paths: Sequence[str]) -> Manifest:
    """The project's own description, from every file that it may stand in."""
    project = open_project(read, paths)
    requirements = tuple(_declared(project))
    version, place = _version(project)
    collected = next((name for name in ("towncrier", "scriv") if project.tool(name)), None)
    folder = project.tool(collected).get("directory") if collected else None
    return Manifest(
        paths=project.paths,
        import_roots=import_roots(project),
        requirements=requirements,
        names=frozenset(name_of(each).replace("-", "_") for _, wanted in requirements for each in wanted),
        version=version,
        version_place=place,
        version_places="pyproject.toml, setup.cfg or setup.py",
        build=_backend(project),
        fragments=(collected, folder if isinstance(folder, str) else "") if collected else None,
    )


def _declared(project: PythonProject) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Where requirements are declared, and which."""
    own = table(project.pyproject, "project")
    yield "project.dependencies", strings(own.get("dependencies"))
    yield "poetry", tuple(poetry_requirements(project.tool("poetry", "dependencies")))
    yield (
        "setup.cfg install_requires",
        lines(project.setup_cfg.get("options", "install_requires", fallback="")),
    )
    yield "setup.py install_requires", strings(project.setup_py.get("install_requires"))
    for name, wanted in sorted(extras_of(project).items()):
        yield f"extra {name}", wanted
    for name, entries in sorted(table(project.pyproject, "dependency-groups").items()):
        yield f"group {name}", strings(entries)
    for path in sorted(project.paths):
        folder, _, name = path.rpartition("/")
        if path.endswith(".txt") and folder in ("", "requirements") and (folder or "requirements" in name):
            bare = (line.removesuffix("\\").split(" --hash")[0].strip() for line in lines(project.text(path)))
            yield path, tuple(line for line in bare if line and not line.startswith("--hash"))


def _version(project: PythonProject) -> tuple[str, str]:
    """The declared version and where it stands; the first is empty when a tool computes it, both when there
    is none.
    """
    own = table(project.pyproject, "project")
    if isinstance(version := own.get("version"), str):
        return version, "pyproject.toml"
    dynamic = own.get("dynamic")
    if isinstance(dynamic, list) and "version" in dynamic:
        return "", "pyproject.toml, as dynamic"
    if isinstance(version := project.tool("poetry").get("version"), str):
        return version, "pyproject.toml, for poetry"
    if version := project.setup_cfg.get("metadata", "version", fallback=""):
        return ("" if version.startswith(("attr:", "file:")) else version), "setup.cfg"
    version = project.setup_py.get("version")
    return (version, "setup.py") if isinstance(version, str) else ("", "")


def _backend(project: PythonProject) -> tuple[bool, str]:
    backend = table(project.pyproject, "build-system").get("build-backend")
    if isinstance(backend, str):
        return True, backend
    if "setup.py" in project.paths or project.setup_cfg.has_section("metadata"):
        return True, "setuptools, by setup.py or setup.cfg"
    return False, "pyproject.toml names no build backend"
