"""Somebody who can write every file of a task, and its hashes: what is left to see then is the point."""

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentforge.activities.evidence import build_evidence
from agentforge.activities.seal import statement
from agentforge.activities.verifying.record import named_by, replayed
from agentforge.app.evidence.proof import judging_world
from agentforge.app.record.open_tasks import OpenTask
from agentforge.sandbox.worktree import Pointed
from agentforge.store.layout import Home, ProjectFiles
from agentforge.store.site import Site, home_path
from agentforge.store.task import archive
from agentforge.store.task.lines import spell_line
from agentforge.store.task.pack import Pack
from agentforge.system import strict_yaml
from agentforge.system.canon import canonical, digest
from agentforge.system.git.repository import Git
from agentforge.system.signatures import Envelope, armour

JOURNAL, PACK, EVIDENCE = "actions.yaml", "steps.pack", "evidence.json"


@dataclass
class Forger:
    """Somebody who can write every file of a task, and its hashes."""

    repo: Path
    task_id: str
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return ProjectFiles(self.repo).task(self.task_id).root

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.repo, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def rewrite(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Every line of the journal changed, and the whole chain hashed again."""
        data = (self.root / JOURNAL).read_bytes()
        head, _, rest = data.partition(b"\nactions:\n")
        header = head + b"\nactions:\n"
        prev, lines = digest(header), []
        for text in rest.splitlines():
            body = json.loads(text.removeprefix(b"- "))
            change(body)
            kept = {key: value for key, value in body.items() if key not in ("prev", "hash")}
            line, prev = spell_line(kept, prev)
            lines.append(line)
        (self.root / JOURNAL).write_bytes(header + b"".join(lines))

    def events(self, kind: str, change: Callable[[dict[str, Any]], object]) -> None:
        def apply(body: dict[str, Any]) -> None:
            for event in body["events"]:
                if event["type"] == kind:
                    change(event)

        self.rewrite(apply)

    def records(self, gate: str, change: Callable[[dict[str, Any]], object]) -> None:
        """The record of a gate, replaced in the pack, in the journal, and in the evidence."""
        pack = Pack(self.root / PACK)
        renamed: dict[str, str] = {}

        def forge(event: dict[str, Any]) -> None:
            if event["gate"] != gate or event["status"] != "passed":
                return
            record: Any = pack.get_json(event["ref"])
            change(record)
            renamed[event["ref"]] = pack.put_json(record)
            self.notes[renamed[event["ref"]]] = record
            event["ref"] = renamed[event["ref"]]

        self.events("gate_judged", forge)
        pack.sync()
        evidence = self.evidence()
        for row in evidence["rows"]:
            if row["record"] in renamed:
                row["record"] = renamed[row["record"]]
                row["runs"] = self.notes[row["record"]].get("runs", [])
                row["hash"] = digest(canonical({key: value for key, value in row.items() if key != "hash"}))
        self.write_evidence(evidence)

    def baseline(self, change: Callable[[dict[str, Any]], object]) -> None:
        """The record of the base, replaced in the pack and in the journal."""
        pack = Pack(self.root / PACK)

        def forge(event: dict[str, Any]) -> None:
            record: Any = pack.get_json(event["baseline"]["ref"])
            change(record)
            event["baseline"]["ref"] = pack.put_json(record)

        self.events("baseline_taken", forge)
        pack.sync()

    def replace_all(self, others: Mapping[str, str]) -> None:
        """Other ids in the place of these, in each record, in the journal, in its trees that git keeps and in
        the patches between them.
        """

        def replaced(value: Any) -> Any:  # noqa: ANN401 - any JSON
            text = json.dumps(value)
            for old, new in others.items():
                text = text.replace(old, new)
            return json.loads(text)

        for gate in ("red", "green", "quality", "review", "delivery"):
            self.records(gate, lambda record: record.update(replaced(record)))
        self.rewrite(lambda body: body.update(replaced(body)))
        files = ProjectFiles(self.repo).task(self.task_id)
        git = Git.open(self.repo)
        moments = replayed(files)
        steps = f"refs/agentforge/{self.task_id}/steps"
        for step, (before, after) in named_by(files, moments).patches.items():
            files.patch(step).write_bytes(git.diff_patch(before, after))
            parent = self.git("rev-parse", steps)
            kept = self.git("commit-tree", after, "-p", parent, "-m", f"recorded tree of {self.task_id}")
            self.git("update-ref", steps, kept)

    def evidence(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.root / EVIDENCE).read_bytes())
        return found

    def write_evidence(self, evidence: dict[str, Any]) -> None:
        """With the hash that the journal has of it."""
        data = canonical(evidence)
        (self.root / EVIDENCE).write_bytes(data + b"\n")
        self.events("task_delivered", lambda event: event.update(evidence=digest(data)))

    def document(self, name: str, change: Callable[[dict[str, Any]], object]) -> None:
        path = self.root / name
        value: Any = strict_yaml.load(path.read_text(), name)
        change(value)
        path.write_text(strict_yaml.dump(value))

    def rewrite_everything(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Journal, evidence, seal, branch and the copy in git, made anew so that nothing contradicts anything."""
        self.rewrite(change)
        lines = [
            json.loads(line[2:])
            for line in (self.root / JOURNAL).read_bytes().splitlines()
            if line[:2] == b"- "
        ]
        at = next(place for place, line in enumerate(lines) if _delivers(line))
        task = OpenTask.open(
            Site(Git.open(self.repo), ProjectFiles(self.repo), Home(home_path())),
            ProjectFiles(self.repo).task(self.task_id),
        )
        branch = f"refs/heads/agentforge/{self.task_id}"
        head, name = lines[at - 1]["hash"], branch.removeprefix("refs/heads/")
        world = judging_world(task, lambda _: None, runs=False)
        with world.pack:
            state = replayed(world.files)[at - 1].state
            told: Any = build_evidence(world, state, Pointed(name))
            told["journal"], told["sandbox"] = {"head": head}, self.evidence()["sandbox"]
            self.write_evidence(told)
            stated: Any = statement(world, state, name, digest(canonical(told)), head, None)
        message = f"Seal: forged\n\n{armour(Envelope.seal(stated, None).spell())}"
        seal = self.git("commit-tree", f"{branch}^{{tree}}", "-p", f"{branch}^", "-m", message)
        self.git("update-ref", branch, seal)
        self.events("task_delivered", lambda event: event.update(seal=seal))
        for view in ("state.yaml", "working_memory.yaml"):
            (self.root / view).unlink()
        archive.save(
            Git.open(self.repo), self.task_id, ProjectFiles(self.repo).task(self.task_id), {"seal": seal}
        )


def _delivers(line: dict[str, Any]) -> bool:
    return any(event["type"] == "task_delivered" for event in line["events"])
