"""The forecast before a start learns from the completed tasks of this checkout, and the providers' check says
who could answer.
"""

import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from agentforge.app.intake.forecasts import forecast_of, past_tasks
from agentforge.app.models.configured import models_config
from agentforge.app.models.providers import MachineCheck, check_models
from agentforge.core.pipeline import Pipeline
from agentforge.core.state import State
from agentforge.sizing.forecast import Past
from agentforge.store.site import Site

JOURNALS = Path(__file__).parents[1] / "store" / "journals"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    top = tmp_path / "repo"
    subprocess.run(["git", "init", "--quiet", str(top)], check=True)
    monkeypatch.chdir(top)
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path / "home"))
    return Site.open(top)


def test_only_completed_tasks_of_the_lane_are_learned_from(site: Site) -> None:
    for name in ("v1-demo", "v1-hotfix-revised", "v1-waiting-for-a-person"):
        place = site.project.tasks / name / "actions.yaml"
        place.parent.mkdir(parents=True)
        place.write_bytes((JOURNALS / f"{name}.yaml").read_bytes())

    def past(lane: str, *, early: bool = False) -> tuple[Past, ...]:
        return past_tasks(site, Pipeline("implement", lane, (), ends_early=early), pytest.fail)

    small, hotfix = past("small"), past("hotfix")
    assert ([each.calls for each in small], [each.calls for each in hotfix]) == ([7], [4])
    assert past("full") == past("small", early=True) == ()
    found = forecast_of(site, State(pipeline=Pipeline("implement", "small", ())), pytest.fail)
    assert found is not None
    assert found.tasks == 0


class Listing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"data": [{"id": "any"}]}')

    def log_message(self, *_args: object) -> None:
        """Nothing."""


NOBODY = dict.fromkeys(
    ("LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL", "OLLAMA_HOST"), "http://127.0.0.1:1/v1"
)


@pytest.mark.usefixtures("site")
def test_the_check_says_who_answers_and_which_tier_has_whom(tmp_path: Path) -> None:
    with HTTPServer(("127.0.0.1", 0), Listing) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        environ = {
            **NOBODY,
            "OLLAMA_HOST": f"127.0.0.1:{server.server_port}",
            "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        }
        found = check_models(models_config(tmp_path / "home", environ, model="openai:x"))
        also = check_models(models_config(tmp_path / "home", environ, model="ollama:any"))
        server.shutdown()
        thread.join()
    assert not found.can_answer
    rows = {row.name: row for row in found.rows}
    assert (rows["openai"].state, rows["openai"].next_step) == ("weak", "Is the server running?")
    assert rows["ollama"].detail == "answers; 1 model; not in any tier"
    assert rows["reasoning"] == MachineCheck("reasoning", "weak", "openai:x", "None of them can be used now.")
    assert rows["models"].state == "missing"
    assert "lmstudio" not in rows
    assert also.can_answer
    assert {row.name for row in also.rows} == {
        "ollama",
        "reasoning",
        "generation",
        "summarization",
        "classification",
    }
    assert all(row.state == "ok" for row in also.rows)


@pytest.mark.usefixtures("site")
def test_nothing_configured_is_said_with_the_next_step(tmp_path: Path) -> None:
    found = check_models(models_config(tmp_path / "home", NOBODY))
    assert not found.can_answer
    assert found.rows[-1] == MachineCheck(
        "models",
        "missing",
        "no model is configured",
        "Run `agentforge setup`, or write `model: anthropic:NAME` into your config.yaml.",
    )
    assert found.probes == ()


@pytest.mark.usefixtures("site")
def test_a_file_of_keys_that_others_can_read_is_one_row(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "keys.yaml").write_text("keys: {openai: weird/key~9}\n", encoding="utf-8")
    (tmp_path / "home" / "keys.yaml").chmod(0o644)
    first, *others = check_models(models_config(tmp_path / "home", NOBODY)).rows
    assert (first.name, first.state) == ("keys", "weak")
    assert "chmod 600" in first.next_step
    assert "keys" not in {row.name for row in others}
