"""Trees computed here, so that git writes a whole directory of them in one call."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

TREE = "40000"
_SHA256_DIGITS = 64
_KINDS = {TREE: "tree", "160000": "commit"}


class TreeMember(NamedTuple):
    """The mode and the object id that a tree records for one name."""

    mode: str
    oid: str


TreeFolder = dict[str, "TreeFolder | TreeMember"]


def mktree_input(entries: Mapping[str, tuple[str, str]]) -> tuple[bytes, list[str]]:
    """What `git mktree -z --batch` must read to write these paths, and the ids it will say, the whole tree's
    last.

    A path stands for a file, a link, or with the mode of a tree for a whole tree of that id.
    """
    top: TreeFolder = {}
    for path, (mode, oid) in entries.items():
        *above, name = path.split("/")
        folder = top
        for part in above:
            inner = folder.setdefault(part, {})
            assert isinstance(inner, dict), f"{path} is below a file"
            folder = inner
        folder[name] = TreeMember(mode, oid)
    records: list[bytes] = []
    oids: list[str] = []
    uses_sha256 = any(len(oid) == _SHA256_DIGITS for _, oid in entries.values())
    _write(top, records, oids, "sha256" if uses_sha256 else "sha1")
    return b"\0".join(records), oids


def _write(folder: TreeFolder, records: list[bytes], oids: list[str], algorithm: str) -> TreeMember:
    """One folder, after the folders in it."""
    found = {
        name: _write(entry, records, oids, algorithm) if isinstance(entry, dict) else entry
        for name, entry in folder.items()
    }
    named = {_bytes(name): entry for name, entry in found.items()}
    # Git orders a folder as if its name ended with a slash.
    ordered = sorted(named.items(), key=lambda item: item[0] + (b"/" if item[1].mode == TREE else b""))
    lines = [
        f"{entry.mode} {_KINDS.get(entry.mode, 'blob')} {entry.oid}\t".encode() + name + b"\0"
        for name, entry in ordered
    ]
    content = b"".join(
        entry.mode.encode() + b" " + name + b"\0" + bytes.fromhex(entry.oid) for name, entry in ordered
    )
    oid = hashlib.new(algorithm, b"tree %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    records.append(b"".join(lines))
    oids.append(oid)
    return TreeMember(TREE, oid)


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
