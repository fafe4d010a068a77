"""Tests that a person hands in: put into the base's tree, and listed by what their source says of
requirements.

Nothing of them is run here. The gate `red` proves them like any other tests, and locks them.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from agentforge.app.intake.importing import ExternalInput
from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.languages.tests import is_run, source_of_test, test_ids
from agentforge.store.site import Site
from agentforge.system.bounded import files_below, read_bounded

MOST_FILES, MOST_BYTES = 500, 1 << 20
PLAIN = "100644"
TESTS = "tests"
"""Where tests from outside of the repository are put."""
_LEFT_OUT = re.compile(r"(^|/)(__\w+__|\.git|\.[a-z_]*cache)/")
_REQUIREMENT = re.compile(r"REQ[-_]?([0-9]{3})(?:\.([0-9]+))?", re.IGNORECASE)


def read_tests(site: Site, given: str, base: str) -> ExternalInput:
    """The tests below a path that the base does not have as they are, with the tree that has them."""
    place = Path(given).expanduser()
    if not place.exists():
        raise UsageError(f"There are no tests at {given}: it does not exist.")
    tree = site.git.tree_of(base)
    known = {entry.path: entry.oid for entry in site.git.ls_tree(tree)}
    blobs: dict[str, tuple[str, str] | None] = {}
    texts: dict[str, str] = {}
    for name, data in _files(site, place).items():
        oid = site.git.hash_blob(data)
        if known.get(name) != oid:
            blobs[name] = (PLAIN, oid)
            texts[name] = data.decode("utf-8", "replace")
    suite = suite_of(texts)
    if not suite["test_files"]:
        raise UsageError(f"{given} has no test that the base does not have already.")
    overlaid = site.git.overlay_tree(tree, blobs)
    return ExternalInput("tests", suite, "user_provided", given, tree=overlaid)


def suite_of(texts: Mapping[str, str]) -> dict[str, Json]:
    """The suite that test files are: each test with the requirement that its name, its marks or its docstring
    name, such as REQ-001 or, for the second criterion of it, REQ-001.2.
    """
    files: list[Json] = []
    for path, text in sorted(texts.items()):
        ids = test_ids(text, path) if is_run(path) else []
        if ids:
            files.append({"path": path, "tests": [_test(text, identity) for identity in ids]})
    return {"test_files": files}


def _test(text: str, identity: str) -> Json:
    name = identity.partition("::")[2]
    found = _REQUIREMENT.search(f"{name}\n{source_of_test(text, identity) or ''}")
    if found is None:
        return {"name": name}
    criterion = {"acceptance_criterion": f"REQ-{found[1]}.{found[2]}"} if found[2] else {}
    return {"name": name, "requirement_ref": f"REQ-{found[1]}", **criterion}


def _files(site: Site, place: Path) -> dict[str, bytes]:
    """What is below a path, by where it belongs in the repository."""
    whole, top = place.resolve(), site.git.top.resolve()
    root = whole if whole.is_dir() else whole.parent
    paths = sorted(files_below(whole)) if whole.is_dir() else [whole]
    found: dict[str, bytes] = {}
    for path in paths:
        inside = path.relative_to(top) if path.is_relative_to(top) else Path(TESTS) / path.relative_to(root)
        if not _LEFT_OUT.search(inside.as_posix()):
            found[inside.as_posix()] = read_bounded(path, MOST_BYTES, follow=False)
        if len(found) > MOST_FILES:
            raise UsageError(f"{place} has more than {MOST_FILES} files; name the tests alone.")
    return found
