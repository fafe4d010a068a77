"""How this copy of AgentForge was installed, and the command that installs it again with more: by uv as a
tool, by pipx, into an environment, or from a checkout. Every hint to install a part of AgentForge is made
here.
"""

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "agentforge-pipeline"
"""The name on a package index. The commands and the import name are `agentforge`."""

STARTED_BY, STARTED_FOR = "_AGENTFORGE_STARTED_BY", "_AGENTFORGE_STARTED_FOR"
"""Variables of the process alone: the words that start this copy with the home it has now, and the repository
that it works on, where the shell has another home or is somewhere else.
"""
_EXTRAS = re.compile(r"^[\w.-]+\s*\[([^\]]*)\]")


@dataclass(frozen=True, slots=True)
class InstallationSource:
    """What this copy was installed from: a package index, a URL or a checkout."""

    url: str = ""
    """What follows `@` in a requirement; empty: a package index."""
    checkout: str = ""
    """The directory that an editable installation reads."""

    def requirement(self, extras: Iterable[str]) -> list[str]:
        """The words that stand for this copy with these extras, after `install`."""
        wanted = sorted(set(extras))
        named = f"[{','.join(wanted)}]" if wanted else ""
        if self.checkout:
            return ["--editable", f"{self.checkout}{named}"]
        return [f"{DISTRIBUTION}{named} @ {self.url}" if self.url else f"{DISTRIBUTION}{named}"]


def own_command(*words: str) -> list[str]:
    """What starts this copy in a process of its own, in whichever directory: a module of that directory is
    not taken for one of ours, or of Python.
    """
    return [sys.executable, "-P", "-m", "agentforge", *words]


def this_program() -> list[str]:
    """What starts this copy from a shell: its name where that is on PATH, else the path of its script, or of
    its interpreter. A program that was made to start it (`STARTED_BY`) comes first.
    """
    if started_by := os.environ.get(STARTED_BY):
        return shlex.split(started_by)
    script = Path(sys.executable).with_name("agentforge")
    found = shutil.which("agentforge")
    if found is not None and Path(found).resolve() == script.resolve():
        return ["agentforge"]
    return [str(script)] if script.is_file() else own_command()


def install_command(*extras: str) -> str:
    """What to type in a shell so that this copy has these extras, too; what it has now stays."""
    return _command(Path(sys.prefix), Path(sys.executable), _source(), extras)


def _command(prefix: Path, python: Path, source: InstallationSource, extras: Iterable[str]) -> str:
    if (receipt := prefix / "uv-receipt.toml").is_file():
        had, beside = _uv_tool(receipt)
        words = ["uv", "tool", "install", "--force", *beside, *source.requirement({*had, *extras})]
    elif (record := prefix / "pipx_metadata.json").is_file():
        words = ["pipx", "install", "--force", *source.requirement({*_pipx(record), *extras})]
    elif find_spec("pip") is not None:
        words = [str(python), "-m", "pip", "install", *source.requirement(extras)]
    else:
        words = [_uv(prefix), "pip", "install", "--python", str(python), *source.requirement(extras)]
    return shlex.join(words)


def _source() -> InstallationSource:
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - few runs need a hint

    try:
        noted = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:  # only on the path
        return _checkout_around(Path(__file__))
    except ValueError:
        return InstallationSource()
    return _source_of(noted)


def _source_of(noted: Mapping[str, Any]) -> InstallationSource:
    """What the installer noted (PEP 610); nothing for a copy from an index."""
    url = str(noted.get("url") or "")
    parts = urlsplit(url)
    place = Path(unquote(parts.path)) if parts.scheme == "file" else None
    if place is not None and not place.exists():
        return InstallationSource()  # the file or directory is gone: only an index can have it
    if place is not None and dict(noted.get("dir_info") or {}).get("editable"):
        return InstallationSource(checkout=str(place))
    if version := dict(noted.get("vcs_info") or {}):
        at = version.get("requested_revision") or version.get("commit_id")
        return InstallationSource(f"{version.get('vcs')}+{url}" + (f"@{at}" if at else ""))
    return InstallationSource(url)


def _checkout_around(module: Path) -> InstallationSource:
    top = module.resolve().parents[3]
    return (
        InstallationSource(checkout=str(top)) if (top / "pyproject.toml").is_file() else InstallationSource()
    )


def _uv_tool(receipt: Path) -> tuple[list[str], list[str]]:
    """The extras that the tool has, and the options that name what was installed beside it."""
    try:
        listed = tomllib.loads(receipt.read_text("utf-8"))["tool"]["requirements"]
        had = [extra for item in listed if item["name"] == DISTRIBUTION for extra in item.get("extras", ())]
        return had, [word for item in listed if item["name"] != DISTRIBUTION for word in _beside(item)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # of another uv than we know
        return [], []


def _beside(item: Mapping[str, Any]) -> list[str]:
    """A package beside the tool, from where it came: an index may have another of that name."""
    if "editable" in item:
        return ["--with-editable", item["editable"]]
    if place := item.get("directory") or item.get("path"):
        return ["--with", place]
    extras = f"[{','.join(item['extras'])}]" if item.get("extras") else ""
    url = item.get("url", "")
    if "git" in item:
        address, _, query = item["git"].partition("?")
        revision = query.partition("=")[2]
        url = f"git+{address}" + (f"@{revision}" if revision else "")
    return ["--with", f"{item['name']}{extras}" + (f" @ {url}" if url else item.get("specifier", ""))]


def _pipx(record: Path) -> list[str]:
    """The extras that were asked for when pipx installed it."""
    try:
        asked = str(json.loads(record.read_text("utf-8"))["main_package"]["package_or_url"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    found = _EXTRAS.match(asked) or re.search(r"\[([^\]]*)\]$", asked)
    return [extra.strip() for extra in found[1].split(",")] if found else []


def _uv(prefix: Path) -> str:
    """The `uv` on PATH, else the one that came with this copy."""
    return "uv" if shutil.which("uv") else str(prefix / "bin" / "uv")
