"""Where a word of a command line points, if it is a path: read as text, because nothing may be touched to
find out.
"""

import re
from typing import Literal, NamedTuple

Kind = Literal[
    "inside",
    "whole",
    "system",
    "device",
    "socket",
    "secret",
    "secret_name",
    "account",
    "startup",
    "home",
    "outside",
    "unknown",
    "no_path",
]

_SYSTEM = frozenset(
    {
        "etc",
        "usr",
        "bin",
        "sbin",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "boot",
        "sys",
        "proc",
        "dev",
        "System",
        "Library",
        "Applications",
    }
)
_TOP = _SYSTEM | {
    "var",
    "opt",
    "srv",
    "run",
    "mnt",
    "media",
    "home",
    "root",
    "Users",
    "Volumes",
    "snap",
    "private",
}
_HARMLESS = re.compile(
    r"/dev/(null|zero|full|random|urandom|std(in|out|err)|tty|fd(/\d+)?|shm(/.*)?|pts(/\d+)?)"
)
_SECRET_DIRECTORIES = frozenset(
    {
        ".ssh",
        ".gnupg",
        ".aws",
        ".azure",
        ".kube",
        ".password-store",
        "keyrings",
        ".gcloud",
        ".oci",
        ".terraform.d",
        "Keychains",
    }
)
_SECRET_FILES = frozenset(
    {
        ".netrc",
        "_netrc",
        ".pgpass",
        ".git-credentials",
        ".vault-token",
        ".pypirc",
        ".my.cnf",
        ".dockercfg",
        "shadow",
        "gshadow",
        "sudoers",
        "sudoers.d",
    }
)
_SECRET_PAIRS = (
    ("gcloud",),
    ("gh",),
    (".docker", "config.json"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".m2", "settings.xml"),
)
_KEY_NAME = re.compile(r"id_(rsa|dsa|ecdsa|ed25519)(_sk)?|ssh_host_\w+_key|authorized_keys")
_KEY_LIKE = re.compile(r"credentials\.json|.*\.(pem|p12|pfx|keystore|jks|kdbx)|\.env(\..*)?")
_BROWSERS = frozenset({".mozilla", "google-chrome", "chromium", ".thunderbird", "BraveSoftware"})
_STARTUP = re.compile(
    r"\.(bash|zsh|k?sh|csh|tcsh|fish)(rc|env|_profile|_login|_logout|_aliases)|\.profile|\.zprofile|\.zlogin|\.inputrc|\.xinitrc|\.xprofile|\.xsession(rc)?"
    r"|\.gitconfig|\.npmrc|\.vimrc|\.condarc|\.pythonrc(\.py)?|\.tmux\.conf|autostart|systemd|LaunchAgents|config\.fish|sitecustomize\.py|usercustomize\.py"
)
_ACCOUNT = frozenset({"passwd", "group", "hosts", "fstab", "crontab", "resolv.conf"})
_GLOB_ONLY = re.compile(r"[.*?]*[*?][.*?]*|\*\*|\[[^\]]*\]\*?|\.\[.*")
_PERHAPS_EMPTY = re.compile(r"(?:\$\w+|\$\{[^}]*\}|\$\(.*\)|`[^`]*`)+")
"""What may turn out to be nothing: `/$X` is then `/`."""
_LINKED_ROOT = re.compile(r"/proc/[^/]+/(root|cwd)(?=/|$)")


class Place(NamedTuple):
    """A path, normalised as text, and what lies there."""

    kind: Kind
    path: str


def places_of(word: str, base: str = "", *, unknown_start: bool = False) -> tuple[Place, ...]:
    """Every place that a word may name: itself, or what follows `=` or `@` in it."""
    candidates = [word]
    if "=" in word:
        candidates.append(word.partition("=")[2])
    candidates += [
        part[part.index("@") + 1 :].lstrip("@")
        for part in candidates
        if "@" in part[:40] and not re.search(r"@[^/~]*:", part)
    ]
    found = [place(each, base, unknown_start=unknown_start) for each in candidates]
    return tuple(item for item in found if item.kind != "no_path")


def place(word: str, base: str = "", *, unknown_start: bool = False) -> Place:
    """Where one word points when it is taken from the directory `base` (empty: the project)."""
    text = word.removeprefix("file://")
    if not text or "://" in text or (text.startswith("-") and text != "-"):
        return Place("no_path", text)
    if unknown_start:
        return Place("unknown", text)
    path = normalise(text, base)
    if path.startswith(("/dev/tcp/", "/dev/udp/")):
        return Place("socket", path)
    if path.startswith("/dev/") and not _HARMLESS.fullmatch(path):
        return Place("device", path)
    if _HARMLESS.fullmatch(path):
        return Place("inside", path)
    rooted = path.startswith(("/", "~", ".."))
    parts = [part for part in path.split("/") if part]
    if _secret(parts, rooted=rooted):
        return Place("secret" if rooted else "secret_name", path)
    if parts and _KEY_LIKE.fullmatch(parts[-1]):
        return Place("secret_name", path)
    if not rooted:
        return Place("unknown" if base == "?" and _whole_of(path) else "inside", path)
    return Place(_rooted(path, parts), path)


def _rooted(path: str, parts: list[str]) -> Kind:
    if len(parts) >= 2 and parts[0] == "etc" and parts[1] in _ACCOUNT:
        return "account"
    if re.fullmatch(r"/proc/[^/]+/(environ|mem|maps|cmdline|fd)(/.*)?", path):
        return "account"
    while parts and _names_nothing(parts[-1]):
        parts = parts[:-1]
    if not parts or all(part == ".." for part in parts) or (parts[0].startswith("~") and len(parts) == 1):
        return "whole"
    if path.startswith("/"):
        if any(char in parts[0] for char in "*?[{") or (len(parts) == 1 and parts[0] in _TOP):
            return "whole"
        if parts[0] in ("home", "Users") and len(parts) == 2:
            return "whole"
        if parts[0] in _SYSTEM:
            return "system"
    if any(_STARTUP.fullmatch(part) for part in parts):
        return "startup"
    return "home" if parts[0] in ("~", "home", "root", "Users") else "outside"


def _names_nothing(part: str) -> bool:
    rest = _PERHAPS_EMPTY.sub("", part)
    return not rest or _GLOB_ONLY.fullmatch(rest) is not None


def _secret(parts: list[str], *, rooted: bool) -> bool:
    names = set(parts)
    if names & _SECRET_DIRECTORIES or (rooted and names & _BROWSERS):
        return True
    last = parts[-1] if parts else ""
    if _KEY_NAME.fullmatch(last) or (last in _SECRET_FILES and (rooted or last.startswith("."))):
        return True
    if rooted and "sudoers.d" in names:
        return True
    if not rooted:
        return False
    pairs = {tuple(parts[at : at + 2]) for at in range(len(parts))} | {
        (part,) for at, part in enumerate(parts) if at and parts[at - 1] == ".config"
    }
    return any(pair in pairs for pair in _SECRET_PAIRS)


def _whole_of(path: str) -> bool:
    return all(_GLOB_ONLY.fullmatch(part) or part in ("", ".") for part in path.split("/"))


def normalise(text: str, base: str = "") -> str:
    """A path without doubled slashes, `.` and `..` where they can be taken back; `~user` is read as `~`."""
    if text.startswith("~"):
        text = "~" + text[text.find("/") :] if "/" in text else "~"
    elif not text.startswith("/") and base not in ("", "?"):
        text = f"{base}/{text}"
    root = "/" if text.startswith("/") else "~" if text.startswith("~") else ""
    found: list[str] = []
    for part in text.removeprefix(root).split("/"):
        if part in ("", "."):
            continue
        if part == ".." and found and found[-1] != "..":
            found.pop()
        elif part != ".." or not root:
            found.append(part)
        elif root == "~":
            root = "/home/"  # above a home is the place of all of them
    joined = "/".join(found)
    path = {"": joined or ".", "/": f"/{joined}", "~": f"~/{joined}".rstrip("/")}.get(
        root, f"/home/{joined}".rstrip("/")
    )
    while linked := _LINKED_ROOT.match(path):  # another name of the root
        path = path[linked.end() :] or "/"
    return path
