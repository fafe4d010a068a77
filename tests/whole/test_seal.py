"""A delivered branch far from where it was made: its seal, who signed it, and what a reader is told."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.activities.forger import Forger
from tests.whole.checkouts import Person, git
from tests.whole.plays import NEW_TEST, OLD_TEST, REQUEST, SOURCE, Play, finished, patch, review

pytestmark = pytest.mark.slow

UNSIGNED = "integrity only, not signed"


def clone(play: Play, place: Path, branch: str) -> Person:
    """Somebody else, with a clone of one branch and a home of their own."""
    subprocess.run(["git", "clone", "-q", "-b", branch, str(play.top), str(place)], check=True)
    home = place.with_name(f"{place.name}-home")
    return Person(place, place / "none", {"AGENTFORGE_HOME": str(home), "HOME": str(home)})


def test_a_signed_branch_is_checked_on_a_clone_and_after_a_squash_by_its_envelope(
    play: Play, agentforge_home: Path, tmp_path: Path
) -> None:
    made = play.person.run("keys", "init", "--name", "ada@example.invalid")
    assert made.code == 0, made.said
    assert (agentforge_home / "signing_key").stat().st_mode & 0o777 == 0o600
    assert "PRIVATE" not in made.said
    key = play.person.run("keys", "show").out.strip()
    assert key in made.out

    done = finished(play.start(patch(), review(), lane="hotfix"))
    task, branch, seal = done["task_id"], done["branch"], done["commit"]
    assert done["seal"] == seal
    assert done["signature"].startswith("Signed by ada@example.invalid, trusted (SHA256:")
    # Nothing but a message is new: the tree is that of the commit below, which has the ids of any other run.
    assert play.person.git("diff", f"{branch}^", branch) == ""
    final = play.person.git("rev-parse", f"{branch}^")

    here = play.person.run("verify", task, "--require-signature")
    assert (here.code, "Signed by ada@example.invalid, trusted" in here.out) == (0, True), here.said

    # A reader who knows nobody, then trusts the key, in two ways.
    reader = clone(play, tmp_path / "clone", branch)
    unknown = reader.run("verify", branch)
    assert (unknown.code, "signed by an unknown key (SHA256:" in unknown.out) == (0, True), unknown.said
    assert reader.run("verify", branch, "--require-signature").code == 1
    signers = tmp_path / "signers"
    signers.write_text(f"ada@home {key}\n")
    git(reader.checkout, "config", "gpg.ssh.allowedSignersFile", str(signers))
    assert reader.run("verify", branch, "--require-signature").code == 1, "a repository vouches for nobody"
    settings = tmp_path / "gitconfig"
    settings.write_text(f'[gpg "ssh"]\n\tallowedSignersFile = {signers}\n')
    reader.variables["GIT_CONFIG_GLOBAL"] = str(settings)
    assert "Signed by ada@home, trusted" in reader.run("verify", branch, "--require-signature").out
    del reader.variables["GIT_CONFIG_GLOBAL"]
    assert reader.run("keys", "trust", "ada", key).code == 0
    assert [row["name"] for row in json.loads(reader.run("keys", "list", "--json").out)] == ["ada"]
    trusted = reader.run("verify", f"origin/{branch}", "--require-signature")
    assert (trusted.code, "Signed by ada, trusted" in trusted.out) == (0, True), trusted.said

    envelope = tmp_path / "proof.json"
    told = play.person.run("report", task, "--envelope", str(envelope))
    assert told.code == 0, told.said
    _squash(reader, branch, final, envelope)

    # A merge that adds nothing leads to the seal; what is no envelope is said to be none.
    git(reader.checkout, "checkout", "-q", "-b", "trunk", f"{final}~1")
    git(reader.checkout, "merge", "-q", "--no-ff", "-m", "Merge it", branch)
    merged = reader.run("verify", "trunk", "--require-signature")
    assert (merged.code, f"trunk has the same tree as the seal {seal[:12]}" in merged.out) == (0, True), (
        merged.said
    )
    no_envelope = reader.run("verify", SOURCE)
    assert (no_envelope.code, "the file is no envelope of a proof" in no_envelope.out) == (1, True), (
        no_envelope.said
    )
    misplaced = reader.run("verify", "--at", "zzz", "HEAD")
    assert (misplaced.code, "or leave --at out" in misplaced.said) == (2, True), misplaced.said

    # Commits above the seal are nobody's statement.
    git(reader.checkout, "checkout", "-q", branch)
    reader.write({"later.txt": "mine\n"})
    reader.commit_all()
    above = reader.run("verify", branch, "--json")
    assert (above.code, [row["row"] for row in above.data["findings"] if not row["ok"]]) == (1, ["branch"])


def _squash(reader: Person, branch: str, final: str, envelope: Path) -> None:
    """Squashed, the same envelope as a file does; one more change, and it does not."""
    git(reader.checkout, "checkout", "-q", "-b", "squashed", f"{final}~1")
    git(reader.checkout, "merge", "-q", "--squash", branch)
    git(reader.checkout, "commit", "-q", "-m", "Take the discount off")
    squashed = reader.run("verify", str(envelope), "--require-signature")
    assert (squashed.code, "HEAD has the judged tree" in squashed.out) == (0, True), squashed.said
    reader.write({SOURCE: "net = None\n"})
    reader.commit_all()
    after = reader.run("verify", str(envelope))
    assert (after.code, "use `--at " in after.out) == (1, True), after.said
    assert reader.run("verify", str(envelope), "--at", "HEAD~1").code == 0
    # A statement that was changed is not what was signed.
    value = json.loads(envelope.read_bytes())
    value["payload"] = value["payload"][:-8] + "AAAA" + value["payload"][-4:]
    envelope.write_text(json.dumps(value))
    assert reader.run("verify", str(envelope), "--at", "HEAD~1").code == 1


def test_an_unsigned_branch_says_so_and_the_report_is_markdown_for_a_pull_request(
    play: Play, tmp_path: Path
) -> None:
    done = finished(play.start(patch(), review(), lane="hotfix"))
    task, branch = done["task_id"], done["branch"]
    assert (done["seal"], done["signature"]) == (done["commit"], UNSIGNED)
    reader = clone(play, tmp_path / "clone", branch)
    held = reader.run("verify", branch)
    assert (held.code, UNSIGNED in held.out) == (0, True), held.said
    assert reader.run("verify", branch, "--require-signature").code == 1

    told = play.person.run("report", task)
    assert told.code == 0, told.said
    assert told.out.startswith(f"## {REQUEST}\n")
    assert (
        f"| REQ-001: the discount is off | `{NEW_TEST}::test_ten_percent_off` | failed | passed |" in told.out
    )
    for line in ("### Not checked", "### Reviews", "reviewer, approve: as asked", UNSIGNED):
        assert line in told.out
    data = play.person.run("report", task, "--json").data
    assert data["requirements"][0]["tests"][0]["green"] == "passed"
    assert data["seal"] == done["commit"]

    # Judged again, from the trees: a record that forgot a test, wherever it is named, is found.
    _forget(play.top, task, f"{OLD_TEST}::test_label_of_nothing")
    forgot = play.person.run("verify", task, "--rerun", "--json")
    assert [row["row"] for row in forgot.data["findings"]][-4:] == [
        f"{name} again" for name in ("base", "red", "green", "quality")
    ]
    found = {row["row"]: row["text"] for row in forgot.data["findings"] if not row["ok"]}
    assert "red again" not in found
    assert f"{OLD_TEST}::test_label_of_nothing is not on record (passed now)" in found["base again"]
    assert f"{OLD_TEST}::test_label_of_nothing is not on record (passed now)" in found["green again"]


def _forget(top: Path, task: str, test: str) -> None:
    """Every record of a run without this test, hashed through and through: what a forger of the whole record
    could do.
    """
    forger = Forger(top, task)

    def forget(record: dict[str, object]) -> None:
        runs = record["runs"]
        assert isinstance(runs, list)
        for run in runs:
            run["outcomes"].pop(test, None)

    for gate in ("green", "delivery"):
        forger.records(gate, forget)
    forger.baseline(lambda record: _drop(record, test))


def _drop(record: dict[str, object], test: str) -> None:
    tests = record["tests"]
    assert isinstance(tests, dict)
    tests["results"] = [row for row in tests["results"] if row["id"] != test]
