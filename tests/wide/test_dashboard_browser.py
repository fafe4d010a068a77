"""The dashboard in a real browser: a task from its request to its evidence, with a question, a revision and a
permission; on every width, in light and dark, for whoever uses a keyboard or a screen reader.
"""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.whole.checkouts import COMMAND, Person, make_repository
from tests.whole.full_plays import READER, SECURITY, analyze, approves, intake, spec
from tests.whole.plays import SHOP, ask, green, red, say
from tests.whole.walks import FIRST, SECOND, WANTED
from tests.wide.browsers import FLAGS, axe, chromium

pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.timeout(900)]

REQUEST = "Take the discount off in net"
PROGRAM = "import sys; open(sys.argv[1], 'a').write('once')"
SOON = 90_000
"""Milliseconds: a stage with its tests, on a busy machine."""
WIDTHS = (390, 1280, 1920)


@pytest.fixture
def person(tmp_path: Path, home: Path, environments: Path) -> Person:
    place = home / ".agentforge"
    place.mkdir()
    (place / "cache").symlink_to(environments)
    opened = {"roots": [{"path": str(tmp_path / "opened"), "write": True}]}
    (tmp_path / "opened").mkdir()
    (place / "config.yaml").write_text(json.dumps(opened))
    return Person(make_repository(tmp_path / "shop", SHOP), tmp_path / "script.yaml")


@contextmanager
def served(person: Person, port: int = 0) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The installed command, and the link that it prints."""
    process = subprocess.Popen(
        [COMMAND, "dashboard", "--port", str(port)],
        cwd=person.checkout,
        env=person.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1], process
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=chromium(), args=[*FLAGS])
        yield made
        made.close()


class Watched:
    """A page, and everything that it asked for or complained about."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.hosts: set[str] = set()
        self.complaints: list[str] = []
        page.on("request", self._asked)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)

    def _asked(self, request: Request) -> None:
        self.hosts.add(urlsplit(request.url).hostname or request.url[:40])

    def check(self, checker: str) -> None:
        """Nothing serious for whoever cannot see the page as others do."""
        found: list[dict[str, Any]] = self.page.evaluate(
            f"{checker}; axe.run().then((done) => done.violations)"
        )
        grave = [
            (each["id"], [node["html"][:160] for node in each["nodes"]])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert grave == []


def test_a_task_lives_its_whole_life_on_the_page(person: Person, browser: Browser, tmp_path: Path) -> None:
    publish = {
        "name": "run_command",
        "args": {"argv": ["python", "-c", PROGRAM, str(tmp_path / "opened" / "log")]},
    }
    person.scripted(
        ask("intake", "Is the discount rounded <img src=x onerror=alert(1)>down?"),
        intake(),
        analyze(),
        spec(FIRST),
        approves("spec", SECURITY),
        spec(SECOND, expects=(WANTED, "denominator of line two")),
        approves("spec", SECURITY),
        red(),
        say("green", publish),
        say("green", publish, expects=("A person allowed this call of run_command",)),
        green(),
        approves("refactor", SECURITY),
        approves("refactor", READER),
    )
    checker = axe()
    with served(person) as (link, _):
        seen = Watched(browser.new_context(viewport={"width": 1280, "height": 900}).new_page())
        page = seen.page
        page.set_default_timeout(SOON)
        expect.set_options(timeout=SOON)
        page.goto(link)
        assert "key" not in page.url
        assert page.context.cookies() == []
        expect(page.get_by_role("heading", name="No tasks yet")).to_be_visible()
        start(page, person)
        question(page, seen, checker)
        revise_and_extend(page, seen, checker)
        allow(page, person, seen, checker)
        expect(page.get_by_text("Completed").first).to_be_visible()
        look_around(page, seen, checker)
        pictures(browser, page, tmp_path / "pictures")
        assert seen.hosts == {"127.0.0.1"}
        assert seen.complaints == []
    task = person.only_task()
    assert (tmp_path / "opened" / "log").read_text() == "once"
    assert person.run("verify", task).code == 0
    told = json.loads(person.run("inbox", "--all", "--json").out)
    assert [each["kind"] for each in told] == ["question", "iteration", "iteration", "permission"]
    assert all(each["shown_at"] for each in told)


def start(page: Page, person: Person) -> None:
    page.keyboard.press("n")
    page.get_by_label("What do you want?").fill(REQUEST)
    page.get_by_text("More").click()
    page.get_by_label("Pipeline").select_option("design")
    page.get_by_label("Model").fill(f"scripted:{person.script}")
    page.get_by_label("Show me each version first").check()
    page.get_by_role("button", name="Start task").click()
    expect(page.get_by_role("heading", name=REQUEST)).to_be_visible()


def question(page: Page, seen: Watched, checker: str) -> None:
    expect(page.get_by_role("heading", name="A question for you")).to_be_visible()
    expect(
        page.get_by_text("Is the discount rounded <img src=x onerror=alert(1)>down?").first
    ).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    seen.check(checker)
    page.get_by_label("In your own words").fill("Down, always")
    page.get_by_role("button", name="Send answer").click()


def revise_and_extend(page: Page, seen: Watched, checker: str) -> None:
    expect(page.get_by_text("specification_v1.yaml")).to_be_visible()
    page.get_by_role("button", name="Comment on line 2").click()
    page.get_by_role("textbox", name="Comment on line 2").fill("denominator of line two")
    page.get_by_label("What should be different").fill(WANTED)
    seen.check(checker)
    page.get_by_role("button", name="Request changes (1)").click()
    expect(page.get_by_text("specification_v2.yaml")).to_be_visible()
    expect(page.get_by_text("round 2 of 5")).to_be_visible()
    page.get_by_role("button", name="Extend to implementation").click()


def allow(page: Page, person: Person, seen: Watched, checker: str) -> None:
    expect(page.get_by_role("heading", name="May it run this?")).to_be_visible()
    expect(page.get_by_label("The exact command")).to_contain_text("python -c 'import sys; open(sys.argv[1]")
    (waiting,) = json.loads(person.run("inbox", "--json").out)
    assert waiting["kind"] == "permission"
    seen.check(checker)
    with page.expect_response(re.compile("/permissions")) as answered:
        page.get_by_role("button", name="Allow once").click()
    assert answered.value.status == 200
    assert json.loads(person.run("inbox", "--json").out) == [], "the terminal sees the answer at once"


def look_around(page: Page, seen: Watched, checker: str) -> None:
    seen.check(checker)
    page.get_by_role("button", name="shop/price.py").click()
    expect(
        page.get_by_role("region", name="Difference of shop/price.py").get_by_role("row")
    ).not_to_have_count(0)
    page.get_by_role("link", name="What is proved").click()
    expect(page.get_by_role("row", name=re.compile("REQ-001.*failed.*passed"))).to_be_visible()
    seen.check(checker)
    page.go_back()
    page.get_by_role("link", name=re.compile("#1 ")).click()
    expect(page.get_by_role("heading", name="What it saw")).to_be_visible()
    page.get_by_text("task_frame").click()
    seen.check(checker)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("step 2 of")).to_be_visible()
    page.get_by_role("link", name="shop: task").click()
    page.get_by_role("list", name="Stages").get_by_role("link", name=re.compile("green")).click()
    expect(page.get_by_role("heading", name=re.compile("Phase green: completed"))).to_be_visible()
    seen.check(checker)
    page.get_by_role("link", name="Metrics").click()
    expect(page.get_by_text("tasks that asked a person").first).to_be_visible()
    seen.check(checker)
    page.get_by_role("link", name="Tasks", exact=True).click()
    expect(page.get_by_role("link", name=re.compile(REQUEST))).to_be_visible()
    seen.check(checker)
    page.keyboard.press("b")
    expect(page.get_by_role("heading", name=re.compile("Active"))).to_be_visible()
    seen.check(checker)
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim()"))
    assert {"Board", "Tasks", "Metrics", "New task"} <= reached


def pictures(browser: Browser, page: Page, place: Path) -> None:
    """Every width in both lights: nothing is wider than the window."""
    place.mkdir()
    kept = page.context.storage_state()
    address = page.url.partition("#")[0]
    task = page.evaluate(
        "fetch('/api/status', {headers: {Authorization: `Bearer ${localStorage.getItem('key')}`}})"
        ".then((said) => said.json())"
    )["recent"][0]
    where = f"#/task/{task['task_id']}"
    for light in ("light", "dark"):
        for width in WIDTHS:
            context = browser.new_context(
                viewport={"width": width, "height": 900},
                color_scheme="dark" if light == "dark" else "light",
                storage_state=kept,
            )
            other = context.new_page()
            for name, hash_ in (
                ("board", "#/"),
                ("task", where),
                ("step", f"{where}/step/1"),
                ("new", "#/new"),
            ):
                other.goto(f"{address}{hash_}")
                expect(other.locator("main h1, main h2").first).to_be_attached()
                other.wait_for_load_state("networkidle") if name == "new" else other.wait_for_timeout(400)
                other.screenshot(path=place / f"{name}-{width}-{light}.png", full_page=True)
                over = other.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                assert over <= 0, (name, width, light, over)
            context.close()


def test_a_tab_outlives_its_server_and_a_task_outlives_both(person: Person, browser: Browser) -> None:
    person.scripted(ask("patch", "First?"), ask("patch", "Second?"))
    expect.set_options(timeout=SOON)
    with served(person) as (link, process):
        page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
        page.set_default_timeout(SOON)
        page.goto(link)
        port = urlsplit(page.url).port
        page.goto(f"http://127.0.0.1:{port}/#/new")
        page.get_by_label("What do you want?").fill(REQUEST)
        page.get_by_text("More").click()
        page.get_by_label("Lane").select_option("hotfix")
        page.get_by_label("Model").fill(f"scripted:{person.script}")
        page.get_by_role("button", name="Start task").click()
        expect(page.get_by_role("heading", name=REQUEST)).to_be_visible()
        process.send_signal(signal.SIGKILL)
    expect(page.get_by_role("status").filter(has_text="reconnecting")).to_be_attached()
    with served(person, port or 0):
        expect(page.get_by_text("First?").first).to_be_visible()
        task = person.only_task()
        done = person.run("resolve", "ESC-001", "--answer", "from the terminal", "--json")
        assert done.code == 3, done.said
        expect(page.get_by_text("Second?").first).to_be_visible()
        page.get_by_role("button", name="Abort task").click()
        page.get_by_role("button", name="Abort", exact=True).click()
        expect(page.get_by_text("Aborted").first).to_be_visible()
    assert json.loads(person.run("status", task, "--json").out)["state"] == "aborted"


HIDDEN = """
let seen = "hidden";
Object.defineProperty(document, "visibilityState", { get: () => seen });
window.lookAtIt = () => { seen = "visible"; document.dispatchEvent(new Event("visibilitychange")); };
"""


def test_a_question_in_a_tab_that_nobody_looks_at_is_not_shown_yet(person: Person, browser: Browser) -> None:
    person.scripted(ask("patch", "First?"))
    assert person.run("start", REQUEST, "--lane", "hotfix", "--model", f"scripted:{person.script}").code == 3
    expect.set_options(timeout=SOON)
    with served(person) as (link, _):
        page = browser.new_context().new_page()
        page.set_default_timeout(SOON)
        page.add_init_script(HIDDEN)
        page.goto(link)
        page.goto(f"{page.url.partition('#')[0]}#/task/{person.only_task()}")
        expect(page.get_by_text("First?").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        (asked,) = json.loads(person.run("inbox", "--json").out)
        assert asked["shown_at"] is None
        with page.expect_response(re.compile("/shown")):
            page.evaluate("lookAtIt()")
    (asked,) = json.loads(person.run("inbox", "--all", "--json").out)
    assert asked["shown_at"]
