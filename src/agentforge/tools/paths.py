"""Where a role may write, and what no role may touch. Patterns are compiled once; paths arrive
repository-relative and real. Pure.

A pattern list is split on commas. `**` stands for any number of directories, `*` stays within one name, so
`*.md` is the root only. A path is allowed if a positive pattern matches (or none is given) and no negative
one (`!`) does. A negative pattern binds every writing tool; a tool without a positive one of its own is held
to those of the others: otherwise "create only in tests" would still let a role edit or delete everything
else. The tools that keep one kind of file are the exception: their files are known, so only a pattern of
their own narrows them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentforge.core.errors import UsageError
from agentforge.system.globs import Glob, glob, matches_any
from agentforge.tools.base import KEEPING_TOOLS, WRITING_TOOLS

DEFAULT_TESTS = ("tests/**/*",)
DEFAULT_DOCS = ("docs/**/*",)

_KEY_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"})
_KEY_PLACES = (
    "/.local/share/keyrings/",
    "/.config/gcloud/",
    "/.config/gh/",
    "/.docker/config.json/",
    "/library/keychains/",
)
_KEY_NAMES = frozenset(
    {
        ".netrc",
        "_netrc",
        ".pypirc",
        ".npmrc",
        ".git-credentials",
        ".pgpass",
        ".my.cnf",
        ".dockercfg",
        ".vault-token",
        ".s3cfg",
        ".boto",
    }
)
_KEY_ENDINGS = (
    ".key",
    ".ppk",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".keychain",
    ".keychain-db",
    ".keyring",
)
_SSH_KEY = re.compile(r"id_(rsa|dsa|ecdsa|ed25519|xmss)(_sk)?(?!.*\.pub$)([._-].*)?")
_PEM_KEY = re.compile(r".*(key|priv).*\.pem")
# fmt: off
_SHELL_STARTS = frozenset({
    ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".zshrc",
    ".zshenv", ".zprofile", ".zlogin",
    ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".envrc", ".xprofile",
    ".xinitrc", "config.fish",
})
# fmt: on
_ENV = re.compile(r"\.env(\..+)?")
_ENV_SAMPLE = re.compile(r"\.env\.(example|sample|template|dist|defaults)")

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def closed_to_all(path: str) -> str | None:
    """Why no role may read or write a path, by any tool, even in its own repository; None for every ordinary
    path.

    Judged by whole names after links are resolved, never by a part of a name: `src/bootstrap.ts` is no
    `/boot`. Keys and credentials are closed because what a model has read has left the machine; files that a
    shell runs at its start, because writing one is running it. `.env` is closed as well: it exists to hold
    what must not be shared. `.env.example` and its like are open. A `.pem` is closed if its name says that it
    is a key; the text of others is redacted where it enters.
    """
    folded = path.casefold()
    parts = folded.split("/")
    name, whole = parts[-1], f"/{folded}/"
    if not _KEY_FOLDERS.isdisjoint(parts) or any(place in whole for place in _KEY_PLACES):
        return f"`{path}` lies where keys and credentials are kept"
    if (
        name in _KEY_NAMES
        or name.endswith(_KEY_ENDINGS)
        or _SSH_KEY.fullmatch(name)
        or _PEM_KEY.fullmatch(name)
    ):
        return f"`{path}` has the name of a key or of credentials"
    if _ENV.fullmatch(name) and not _ENV_SAMPLE.fullmatch(name):
        return f"`{path}` holds a machine's own secrets; look for an example of it, such as `.env.example`"
    return f"`{path}` is run by a shell when it starts" if name in _SHELL_STARTS else None


@dataclass(frozen=True, slots=True)
class Rule:
    """What one writing tool of a role may touch."""

    allowed: tuple[Glob, ...]
    denied: tuple[Glob, ...]


@dataclass(frozen=True, slots=True)
class PathLimits:
    """The path limits of one role."""

    rules: Mapping[str, Rule]

    @classmethod
    def compile(
        cls, constraints: Mapping[str, str], tests: Sequence[str] = (), docs: Sequence[str] = ()
    ) -> "PathLimits":
        """Limits from a role's `path_constraints`, with `{tests}` and `{docs}` filled from the repository's
        layout.
        """
        if strangers := sorted(set(constraints) - WRITING_TOOLS):
            raise UsageError(
                f"`path_constraints` names {', '.join(strangers)}, which writes no file.",
                f"Limits are for {', '.join(sorted(WRITING_TOOLS))}.",
            )
        layout = {"tests": tuple(tests) or DEFAULT_TESTS, "docs": tuple(docs) or DEFAULT_DOCS}
        split = {tool: _split(text, layout) for tool, text in constraints.items()}
        shared = tuple(
            dict.fromkeys(each for tool in sorted(set(split) - KEEPING_TOOLS) for each in split[tool].allowed)
        )
        denied = tuple(dict.fromkeys(each for tool in sorted(split) for each in split[tool].denied))
        own = {tool: rule.allowed for tool, rule in split.items() if rule.allowed}
        return cls(
            {
                tool: Rule(own.get(tool, () if tool in KEEPING_TOOLS else shared), denied)
                for tool in WRITING_TOOLS
            }
        )

    def allows(self, tool: str, path: str) -> str | None:
        """None if the tool may touch the path, else the reason."""
        rule = self.rules.get(tool)
        if rule is None:
            return None
        if found := matches_any(rule.denied, path):
            return f"`{path}` is closed to this role by `!{found.pattern}`"
        if rule.allowed and not matches_any(rule.allowed, path):
            return (
                f"`{path}` is outside what this role may write: "
                f"{', '.join(each.pattern for each in rule.allowed)}"
            )
        return None


def _split(text: str, layout: Mapping[str, tuple[str, ...]]) -> Rule:
    allowed: list[Glob] = []
    denied: list[Glob] = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        target = denied if item.startswith("!") else allowed
        target += [glob(pattern) for pattern in _filled(item.removeprefix("!").strip(), layout)]
    return Rule(tuple(allowed), tuple(denied))


def _filled(pattern: str, layout: Mapping[str, tuple[str, ...]]) -> list[str]:
    if not pattern or pattern.startswith("!"):
        raise UsageError(
            "`path_constraints` holds an empty or doubly negated pattern.",
            "Write a glob such as `docs/**/*`.",
        )
    filled = [pattern]
    for name in dict.fromkeys(_PLACEHOLDER.findall(pattern)):
        if name not in layout:
            raise UsageError(
                f"`path_constraints` holds the unknown placeholder `{{{name}}}`.", "Known: {tests}, {docs}."
            )
        filled = [each.replace(f"{{{name}}}", value) for each in filled for value in layout[name]]
    return filled
