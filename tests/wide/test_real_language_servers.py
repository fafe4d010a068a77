"""A real language server, from the package index, in whole tasks of the installed command."""

from pathlib import Path
from typing import Any

import pytest

from agentforge.app.record.contexts import recorded_context
from agentforge.store.site import Site
from tests.whole.checkouts import Person, make_repository
from tests.whole.plays import Play, create, finished, read, review, say
from tests.whole.test_servers_heard import FIX, NEW_TEST, REQUEST, SHOP, TEST, TILL, papers, relations

pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.timeout(900)]
TYPED = (
    "from shop.cart import Cart\nfrom shop.log import Log\n\n\ndef open_till(mine: Cart) -> None:\n    mine.add(1)\n\n\n"
    'def note(mine: Log) -> None:\n    mine.add("x")\n'
)


@pytest.mark.parametrize("server", ["ty", "jedi-language-server"])
def test_a_caller_that_only_types_tell_is_shown_and_the_replay_is_the_same(
    server: str, tmp_path: Path, home: Path
) -> None:
    (home / ".agentforge").mkdir()
    described = SHOP["pyproject.toml"].replace("test = [", f'test = ["{server}", ')
    slow = "import time\n\n\ndef test_slow():\n    time.sleep(14)\n"
    files = {**SHOP, "pyproject.toml": described, TILL: TYPED, "tests/test_slow.py": slow}
    play = Play(Person(make_repository(tmp_path / "checkout", files), tmp_path / "script.yaml"))
    waits: dict[str, Any] = {"name": "run_tests", "args": {"ids": ["tests/test_slow.py"]}}
    done = say("patch", create(NEW_TEST, TEST), FIX, artifacts=papers(), signal="success")
    looks = [say("patch", read(TILL), waits), say("patch", read("shop/log.py"), waits)]
    play.person.scripted(*looks, done, review())
    words = ("start", REQUEST, "--lane", "hotfix", "--model", f"scripted:{play.person.script}", "--json")
    data = finished(play.person.run(*words))
    files_of_task = Site.open(play.top).find(data["task_id"])
    shown = recorded_context(files_of_task, 3)
    assert f"Using Cart.add, in {TILL}:\n  5: def open_till(mine: Cart) -> None" in relations(shown)
    assert "def note" not in relations(shown)
    assert any(block.why.endswith(f"told by {server}") for block in shown.blocks)
    again = play.person.run("replay", "--json")
    assert again.code == 0, again.said
    assert (again.data["same"], again.data["other_contexts"]) == (True, [])
