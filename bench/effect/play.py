"""One request, played: the installed command on a repository of the release, with the recorded reader as its model."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from agentforge.store.layout import ProjectFiles, TaskFiles
from bench.effect.cases import Case, cache
from bench.effect.reader import Recorded, write_script

COMMAND = Path(sys.executable).with_name("agentforge")
DATE = "2024-01-01T00:00:00Z"
_OF_THE_PERSON = ("AGENTFORGE_", "GIT_", "OPENAI_", "ANTHROPIC_", "PYTHON")


@dataclass(frozen=True, slots=True)
class Stage:
    """Where one request is played."""

    root: Path

    @property
    def repository(self) -> Path:
        """The checkout. Its place is always the same, so that its environment is built once."""
        return self.root / "repository"

    @property
    def script(self) -> Path:
        """What the model says."""
        return self.root / "script.yaml"

    @property
    def environ(self) -> dict[str, str]:
        """A person without settings of their own."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith(_OF_THE_PERSON)}
        who = {
            f"GIT_{role}_{key}": text
            for role in ("AUTHOR", "COMMITTER")
            for key, text in (("NAME", "Ada"), ("EMAIL", "ada@example.invalid"), ("DATE", DATE))
        }
        return {
            **kept,
            **who,
            "AGENTFORGE_HOME": str(self.root.parent / "home"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The installed command."""
        return subprocess.run(
            [str(COMMAND), *words],
            cwd=self.repository,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )

    def git(self, *words: str) -> str:
        """What git says."""
        return subprocess.run(
            ["git", *words],
            cwd=self.repository,
            env=self.environ,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    @property
    def files(self) -> TaskFiles | None:
        """The only task, once there is one."""
        tasks = sorted(ProjectFiles(self.repository).tasks.glob("task-*"))
        return ProjectFiles(self.repository).task(tasks[-1].name) if tasks else None

    @property
    def task(self) -> TaskFiles:
        """The only task; where there is none, nothing could be started."""
        if self.files is None:
            raise SystemExit(f"There is no task in {self.repository}.")
        return self.files


def stage_of(case: Case) -> Stage:
    """Where a request is played."""
    return Stage(cache() / "scenes" / case.name)


def set_stage(case: Case, stage: Stage) -> None:
    """A repository of one commit that holds what was released."""
    shutil.rmtree(stage.repository, ignore_errors=True)
    stage.root.mkdir(parents=True, exist_ok=True)
    top = case.base.unpack(stage.root / "unpacked")
    shutil.move(top, stage.repository)
    stage.git("init", "--quiet", "--initial-branch=main")
    stage.git("add", "--all", "--force")
    stage.git("commit", "--quiet", "--message", f"{case.base.package} {case.base.version}")


def start(case: Case, stage: Stage, replies: tuple[Recorded, ...]) -> subprocess.CompletedProcess[str]:
    """Starts the task and drives it as far as the replies go."""
    write_script(stage.script, replies)
    lane = ("--lane", case.lane) if case.lane else ()
    done = stage.run("start", case.request, "--model", f"scripted:{stage.script}", "--json", *lane)
    for number, words in enumerate(case.answers, 1):
        done = stage.run("resolve", f"ESC-{number:03}", "--task", stage.task.task_id, "--answer", words)
    return done


def go_on(stage: Stage, replies: tuple[Recorded, ...]) -> subprocess.CompletedProcess[str]:
    """Drives a task that was stopped for want of a reply."""
    write_script(stage.script, replies)
    return stage.run("continue", stage.task.task_id, "--json")


def ended(stage: Stage) -> str:
    """How the task stands, as the command says it."""
    said = stage.run("status", stage.task.task_id, "--json")
    return str(json.loads(said.stdout)["status"]["state"])
