"""What the words of a request point at: names joined of several words, short forms, and what bodies say."""

from agentforge.context.candidates import FILES
from agentforge.context.code_index import CodeIndex
from agentforge.context.named import tree_facts
from agentforge.context.repository_map import repo_map
from agentforge.context.seeds import focus_of, seeds
from tests.rows import every

TREE = {
    "web/static.py": "class StaticFileHandler:\n    def check(self): ...\n\n\nclass Handler: ...\n\n\ndef file(): ...\n",
    "web/kinds.py": "def kind(): ...\n\n\nclass Bool:\n    def __eq__(self, other): ...\n\n\nclass Autolink: ...\n",
    "web/debug.py": '"""Pins."""\n\n\ndef pin(): ...\n\n\ndef log_pin(): ...\n\n\ndef machine():\n    # a container: its cgroup\n    return open("/proc")\n',
    "web/jsonreport.py": "class Reporter:\n    def one(self): ...\n",
    "web/control.py": "class Control:\n    def report(self): ...\n    def json(self): ...\n",
    **{f"web/other{number}.py": f"def job_{number}(): ...\n" for number in range(20)},
}
INDEX = CodeIndex.of_texts(TREE)


@every(
    ("request_text", "path", "name"),
    [
        ("The static file handler follows links", "web/static.py", "StaticFileHandler"),
        ("Two booleans never compare equal", "web/kinds.py", "Bool"),
        ("Automatic links lose their scheme", "web/kinds.py", "Autolink"),
        ("The pin is made from cgroup data", "web/debug.py", "machine"),
        ("The JSON report loses names", "web/jsonreport.py", "Reporter"),
    ],
)
def test_words_find_what_code_calls_by_another_name(request_text: str, path: str, name: str) -> None:
    found = seeds(INDEX, focus_of(request_text, tree_facts(request_text, INDEX)), TREE.get)
    assert (path, name) in [(place.path, place.symbol) for place in found.places]
    assert f"{path}::{name}" in found.pointed


def test_an_error_that_a_request_names_is_what_happens_and_not_where() -> None:
    tree = {
        "lib/faults.py": "class BadInput(Exception): ...\nclass InputError(Exception): ...\n",
        "lib/read.py": "from lib.faults import InputError\n\n\ndef take(text):\n    raise InputError(text)\n\n\ndef other(): ...\n",
    }
    index = CodeIndex.of_texts(tree)
    request = "Raise an InputError when the text is too long"
    found = seeds(index, focus_of(request, tree_facts(request, index)), tree.get)
    assert ("lib/read.py", "take") in [(place.path, place.symbol) for place in found.places]


def test_no_more_than_the_likeliest_files_are_read() -> None:
    asked: list[str] = []

    def read(path: str) -> str | None:
        asked.append(path)
        return TREE.get(path)

    seeds(INDEX, focus_of("Every job of the report", tree_facts("", INDEX)), read)
    assert 0 < len({*asked}) <= FILES


def test_what_words_point_at_comes_first_on_a_map() -> None:
    request = "The pin is made from cgroup data"
    focus = focus_of(request, tree_facts(request, INDEX))
    drawn = repo_map(INDEX, focus, 45, ("web/debug.py::machine", "web/control.py::Control.json"))
    assert drawn.splitlines()[1:5] == [
        "web/debug.py",
        "  10: def machine()",
        "web/control.py",
        "  3: def Control.json(self)",
    ]
