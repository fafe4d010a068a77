"""What no command may change in a tree: files that run later, outside of the walls, with the rights of a
person or of a server.

What exists is read-only to a run. What does not exist cannot be mounted; if a run makes it all the same, it
is taken away afterwards.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from agentforge.system.git.mirror import kind_of, remove

# Names at the top of a tree, in lower case, as patterns of one name.
# fmt: off
REPOSITORY = (".git", ".gitmodules", ".gitattributes", ".agentforge")
PIPELINES = (
    ".github", ".gitlab", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".circleci", "jenkinsfile*",
    "azure-pipelines*.yml", "azure-pipelines*.yaml",
    ".azure-pipelines", ".azuredevops", ".travis.yml", ".travis.yaml", ".buildkite", ".drone.yml",
    ".drone.yaml", ".drone.star",
    "bitbucket-pipelines.yml", ".woodpecker*", ".forgejo", ".gitea", "appveyor.yml", ".appveyor.yml",
    ".cirrus.yml", ".cirrus.star",
    ".semaphore", ".teamcity", "buildspec*.yml", "cloudbuild*.yaml", "cloudbuild*.yml", ".builds",
    ".build.yml", ".tekton", "wercker.yml",
    "codefresh.yml", "bitrise.yml", ".zuul.yaml", ".zuul.d", ".copr",
)
HOOKS = (
    ".githooks", ".git-hooks", ".hooks", ".husky", ".huskyrc*", ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".pre-commit-hooks.yaml", "lefthook*.yml", "lefthook*.yaml", "lefthook*.toml", "lefthook*.json",
    ".lefthook*", ".overcommit.yml",
    ".lintstagedrc*", "lint-staged.config.*", ".simple-git-hooks.*",
)
EDITORS = (".vscode", ".idea", ".devcontainer", ".devcontainer.json", ".envrc", ".tool-versions",
           ".mise.toml", "mise.toml", ".direnv", ".zed", ".run", ".fleet", "*.code-workspace")
AGENTS = (
    ".claude", ".cursor", ".cursorrules", ".mcp.json", "mcp.json", ".codex", ".gemini", ".windsurf",
    ".windsurfrules", ".continue", ".kiro", ".opencode", ".roo", ".roomodes", ".junie", ".amp", ".goose",
    ".goosehints", ".clinerules", ".aider.conf.y*ml",
)
# fmt: on
GUARDED = (*REPOSITORY, *PIPELINES, *HOOKS, *EDITORS, *AGENTS)


@dataclass(frozen=True, slots=True)
class Guard:
    """The guarded names of one tree as they were before a run."""

    root: Path
    before: Mapping[str, str | None]
    """By name: where it leads, if it is a link."""

    @classmethod
    def over(cls, root: Path) -> "Guard":
        """Records what lies at the top of a tree, and where its links lead."""
        return cls(root, {name: _target(root / name) for name in _guarded(root)})

    def read_only(self) -> tuple[Path, ...]:
        """What a run may read and not change. A link counts as itself and as what it leads to within the
        tree.
        """
        top = self.root.resolve()
        real = {name: (self.root / name).resolve() for name in self.before}
        return tuple(
            dict.fromkeys(
                path for path in real.values() if path.exists() and path != top and path.is_relative_to(top)
            )
        )

    def covers(self, path: str) -> bool:
        """Whether a path of the tree is guarded: by its name, or because a guarded link leads there."""
        top = self.root.resolve()
        led = [(self.root / name).resolve() for name, target in self.before.items() if target is not None]
        return is_guarded(path) or any((top / path).is_relative_to(place) for place in led if place != top)

    def mend(self) -> tuple[str, ...]:
        """Takes away what appeared, and puts links back that were replaced; the names that had to be
        mended.
        """
        mended = []
        for name in sorted({*_guarded(self.root), *self.before}):
            place, was = self.root / name, self.before.get(name)
            if name not in self.before:
                remove(self.root, name, ())
            elif was is not None and _target(place) != was:
                remove(self.root, name, ())
                place.symlink_to(was)
            else:
                continue
            mended.append(name)
        return tuple(mended)


def is_guarded(path: str) -> bool:
    """Whether a path of a tree is a guarded one, or lies beneath one."""
    return _matches(path.split("/", 1)[0])


def _guarded(root: Path) -> Iterable[str]:
    return [name for name in os.listdir(root) if _matches(name)]  # noqa: PTH208 - names are all that is wanted


def _matches(name: str) -> bool:
    folded = name.casefold()
    return any(fnmatchcase(folded, pattern) for pattern in GUARDED)


def _target(place: Path) -> str | None:
    return str(place.readlink()) if kind_of(place) == "file" and place.is_symlink() else None
