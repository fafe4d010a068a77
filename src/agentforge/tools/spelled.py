"""How other programs call the same tools and arguments: a model that learned theirs means ours."""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "str_replace": "edit_file",
        "replace_in_file": "edit_file",
        "replace": "edit_file",
        "edit": "edit_file",
        "update_file": "edit_file",
        "write": "create_file",
        "write_to_file": "create_file",
        "new_file": "create_file",
        "read": "read_file",
        "view": "read_file",
        "view_file": "read_file",
        "open_file": "read_file",
        "cat": "read_file",
        "ls": "list_files",
        "list_directory": "list_files",
        "search": "search_codebase",
        "search_files": "search_codebase",
        "run_test": "run_tests",
    }
)
"""Names that nobody has here: each stands for our tool, unless the project has one of that name."""

_PATH = dict.fromkeys(("file", "file_path", "filepath", "filename", "file_name"), "path")

ARGUMENTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "edit_file": {
            **_PATH,
            **dict.fromkeys(("oldText", "old_text", "old_string", "old_str", "search", "find"), "old"),
            **dict.fromkeys(("newText", "new_text", "new_string", "new_str", "replace"), "new"),
        },
        "create_file": {
            **_PATH,
            **dict.fromkeys(("contents", "text", "file_text", "file_content", "body", "code"), "content"),
        },
        "read_file": {**_PATH, "start_line": "start", "end_line": "end"},
        "outline": _PATH,
        "delete_file": _PATH,
        "read_symbol": {**_PATH, "symbol": "name", "symbol_name": "name"},
        "move_file": {"from": "source", "to": "target"},
        "search_codebase": {"maxResults": "max", "max_results": "max", "query": "pattern", "text": "pattern"},
        "run_tests": dict.fromkeys(("tests", "test_ids", "paths", "files"), "ids"),
    }
)
"""By tool: arguments that other programs call otherwise."""


def near_paths(given: str, known: list[str], most: int = 3) -> list[str]:
    """The files that a wrong path may have meant: those that end like it, then those whose name is alike."""
    wanted = given.strip().lstrip("./")
    ends = [
        path for path in known if path == wanted or path.endswith(f"/{wanted}") or wanted.endswith(f"/{path}")
    ]
    if ends:
        return ends[:most]
    name = wanted.rpartition("/")[2]
    same = [path for path in known if path.rpartition("/")[2] == name]
    if same:
        return same[:most]
    by_name: dict[str, str] = {}
    folder = wanted.rpartition("/")[0]
    beside = [path for path in known if path.rpartition("/")[0] == folder]
    for path in (*beside, *known):
        by_name.setdefault(path.rpartition("/")[2], path)
    alike = [by_name[each] for each in get_close_matches(name, by_name, n=most)]
    return [path for path in alike if path in beside] or alike
