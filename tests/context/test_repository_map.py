from agentforge.context.repository_map import repo_map

SOURCE = """\
LIMIT: int = 3


class Parser(Base):
    @property
    def name(self) -> str: ...

    async def feed(self, data: bytes) -> None: ...


def helper(*args): ...
def other(): ...
"""


def test_a_map_shows_less_when_there_is_less_room() -> None:
    files = {f"pkg/m{number}.py": lambda: SOURCE for number in range(30)} | {
        "tests/test_a.py": lambda: "def test_a(): ..."
    }
    full = repo_map(files, 100_000)
    assert full.splitlines()[0] == "pkg/m0.py: LIMIT, Parser(name, feed), helper, other"
    assert full.splitlines()[-1] == "tests/test_a.py: test_a"
    assert "Parser, helper" in repo_map(files, 1400)
    assert repo_map(files, 600).splitlines()[0] == "pkg/m0.py"
    assert repo_map(files, 100) == "pkg/ 30 files\ntests/ 1 files"
    assert all(len(repo_map(files, budget)) <= budget for budget in range(0, 2500, 50))
