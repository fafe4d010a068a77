"""`check` and `violations` as a person types them, in a repository that nobody of us wrote."""

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.surfaces.scene import Scene, make_scene
from tests.surfaces.shapes import conform

SHOP = {
    ".agentforge/config/settings.yaml": (
        "conformance:\n  layers:\n    - {name: web, in: [shop/web]}\n    - {name: domain, in: [shop/domain]}\n"
        "  checks:\n    documentation-required: {}\n"
    ),
    "shop/__init__.py": "",
    "shop/web/__init__.py": "",
    "shop/web/pages.py": 'from shop.domain.order import total\n\n\ndef page():\n    """A page."""\n    return total([])\n',
    "shop/domain/__init__.py": "",
    "shop/domain/order.py": "def total(rows):\n    return sum(rows)\n",
    "README.md": "# Shop\n",
}
LAYERED = (
    "from shop.web import pages\n\n\ndef total(rows):\n    '''All of it.'''\n    return sum(rows), pages\n"
)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, SHOP)


def write(scene: Scene, path: str, text: str) -> None:
    (scene.top / path).write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_check_names_what_is_wrong_what_to_do_and_what_did_not_run(scene: Scene) -> None:
    done = scene.run("check")
    assert done.returncode == 1
    assert done.stdout.startswith("shop/domain/order.py:1: Function 'total' missing docstring\n")
    assert "documentation-required (major), V-" in done.stdout
    assert "1 violation: 5 files, " in done.stdout
    assert "Not configured: bounded-contexts" in done.stdout
    write(scene, "shop/domain/order.py", LAYERED.replace("from shop.web import pages\n", "pages = 1\n"))
    clean = scene.run("check", "shop/domain")
    assert (clean.returncode, clean.stdout.splitlines()[0]) == (0, "No violations: 2 files, 17 checks ran.")


def test_only_what_is_new_since_a_commit_counts(scene: Scene) -> None:
    assert scene.run("check", "--since", "HEAD").returncode == 0
    write(scene, "shop/domain/order.py", LAYERED)
    done = scene.run("check", "--since", "HEAD")
    assert done.returncode == 1
    assert "`shop/web/pages.py` is in the layer web, above domain" in done.stdout
    assert "imports go round: " in done.stdout
    assert "missing docstring" not in done.stdout
    assert scene.run("check", "--staged").returncode == 0  # nothing is staged
    scene.git("add", "--all")
    write(scene, "shop/domain/order.py", SHOP["shop/domain/order.py"])  # what is staged counts, not the disk
    assert scene.run("check", "--staged").returncode == 1
    wrong = scene.run("check", "--staged", "--since", "HEAD")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    nowhere = scene.run("check", "no/such/file.py")
    assert nowhere.returncode == 2
    assert "There is no no/such/file.py." in nowhere.stderr


def test_advice_is_counted_and_shown_whole_on_demand(scene: Scene) -> None:
    write(scene, "shop/loud.py", '"""Loud."""\n\n\ndef shout(x):\n    """It."""\n    print(x)\n')
    assert "Advice (--all shows it): 1 no-print-statements." in scene.run("check").stdout
    assert "shop/loud.py:6: `print` in a library (no-print-statements)" in scene.run("check", "--all").stdout


def test_findings_are_data_for_programs(scene: Scene) -> None:
    data = conform("check", scene.run("check", "--format", "json").stdout)
    (found,) = data["violations"]
    assert (found["check_id"], found["contract"], found["blocking"]) == (
        "documentation-required",
        "style_contracts",
        True,
    )
    assert data == scene.data("check")
    states = {each["check_id"]: each["status"] for each in data["checks"]}
    assert states["layer-dependencies"] == "passed"
    assert states["auth-required"] == "not_configured"
    listed = scene.data("check", "--list")
    assert len(listed) == 22
    assert {each["check_id"] for each in listed if not each["configured"]} == {
        *("bounded-contexts", "interface-segregation", "dependency-injection", "repository-pattern"),
        "auth-required",
    }
    assert all({"Python", "TypeScript", "Go"} <= each["checked_by"].keys() for each in listed)
    assert "not available" in scene.run("check", "--list").stdout
    (line,) = scene.run("check", "--format", "github").stdout.splitlines()
    assert line.startswith("::error file=shop/domain/order.py,line=1,title=documentation-required V-")


def test_sarif_is_as_its_standard_says(scene: Scene) -> None:
    said = json.loads(scene.run("check", "--format", "sarif").stdout)
    schema = json.loads((Path(__file__).parent / "sarif.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema_rs.validator_for(schema)
    assert list(validator.iter_errors(said)) == []
    (result,) = said["runs"][0]["results"]
    rule = said["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "documentation-required"
    assert result["partialFingerprints"]["violation/v1"].startswith("V-")
    broken: Any = json.loads(json.dumps(said))
    broken["runs"][0]["results"][0]["level"] = "bad"
    assert list(validator.iter_errors(broken)) != []  # the schema can refuse


def test_a_violation_is_on_record_until_it_is_gone(scene: Scene) -> None:
    assert scene.data("violations", "list") == []
    scene.run("check")
    (found,) = scene.data("violations", "list")
    assert (found["status"], found["file"]) == ("open", "shop/domain/order.py")
    shown = scene.run("violations", "show", found["id"])
    assert f"`agentforge fix {found['id']}` fixes it." in shown.stdout
    assert scene.git("status", "--porcelain") == ""  # the record is nothing to commit
    assert scene.data("violations", "show", found["id"]) == found
    assert scene.run("violations", "show", "V-000000000000").returncode == 2
    write(scene, "shop/domain/order.py", LAYERED.replace("from shop.web import pages\n", "pages = 1\n"))
    scene.run("check")
    assert [each["status"] for each in scene.data("violations", "list")] == ["fixed"]


@pytest.mark.slow
def test_an_exemption_has_an_approver_a_reason_and_an_end_and_opens_again(scene: Scene) -> None:
    scene.run("check")
    (found,) = scene.data("violations", "list")
    refused = scene.run("violations", "exempt", found["id"], "--reason", "no")
    assert refused.returncode == 2
    made = scene.data(
        "violations", "exempt", found["id"], "--reason", "the old client needs it", "--days", "2"
    )
    assert made["approved_by"]
    done = scene.run("check")
    assert done.returncode == 0
    assert "1 violation exempt." in done.stdout
    assert [each["status"] for each in scene.data("violations", "list")] == ["exempt"]
    file = scene.top / ".agentforge/config/exemptions.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(made["expires"], "2020-01-01"), encoding="utf-8")
    assert scene.run("check").returncode == 1
    assert [each["status"] for each in scene.data("violations", "list")] == ["open"]
    nobody = "\n".join(line for line in text.splitlines() if "approved_by" not in line)
    file.write_text(nobody, encoding="utf-8")
    without = scene.run("check")
    assert without.returncode == 2
    assert "`approved_by` is missing" in without.stderr
    file.unlink()
    words = ("--check", "documentation-required", "--path", "shop/domain/**", "--reason", "it will go soon")
    assert scene.run("violations", "exempt", *words).returncode == 0
    assert scene.run("check").returncode == 0


def test_a_baseline_lets_stand_what_was_there_and_nothing_else(scene: Scene) -> None:
    assert scene.data("violations", "baseline") == {
        "violations": 1,
        "file": ".agentforge/config/baseline.yaml",
    }
    done = scene.run("check")
    assert done.returncode == 0
    assert "1 known from the baseline." in done.stdout
    write(
        scene, "shop/web/more.py", "def more(x):\n    try:\n        return x\n    except:\n        return 0\n"
    )
    again = scene.run("check")
    assert again.returncode == 1
    assert "2 violations" in again.stdout  # new code may not swallow errors, though old code might


@pytest.mark.parametrize(
    "hostile",
    [
        "conformance: {checks: {line-lengths: {}}}\n",
        "conformance: {layers: 3}\n",
        "conformance: {surprise: true}\n",
    ],
)
def test_settings_that_mean_nothing_are_refused_in_a_sentence(scene: Scene, hostile: str) -> None:
    write(scene, ".agentforge/config/settings.yaml", hostile)
    done = scene.run("check")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "conformance" in done.stderr


def test_files_that_were_made_to_disturb_are_looked_at_all_the_same(scene: Scene) -> None:
    write(scene, "shop/deep.py", "x = " + "(" * 5000 + ")" * 5000 + "\n")
    (scene.top / "shop" / "bad.py").write_bytes(b"\xff\xfe\x00x = 1\n")
    (scene.top / "shop" / "loop.py").symlink_to("loop.py")
    (scene.top / "shop" / "out.py").symlink_to("/etc/passwd")
    write(scene, "shop/\u202eyp.py", "def f():\n    pass\n")
    write(scene, "shop/none.py", "")
    scene.git("add", "--all")
    done = scene.run("check")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "\u202e" not in done.stdout
    assert "/etc" not in done.stdout


@pytest.mark.slow
def test_a_fix_is_shown_as_a_diff_and_made_by_the_projects_own_tools_on_a_copy(scene: Scene) -> None:
    write(scene, "shop/late.py", '"""Late."""\n\nimport os\nimport abc\n\nBOTH = (abc, os)\n')
    refused = scene.run("check", "--fix", "shop/late.py")
    assert refused.returncode == 2
    assert "No program here corrects anything by itself." in refused.stderr
    write(scene, "pyproject.toml", '[tool.ruff.lint]\nselect = ["I"]\n')
    (scene.top / ".venv" / "bin").mkdir(parents=True)
    (scene.top / ".venv" / "bin" / "ruff").symlink_to(Path(sys.executable).with_name("ruff"))
    done = scene.run("check", "--fix", "shop/late.py")
    assert done.returncode == 0, done.stderr
    assert "-import abc\n" in done.stdout
    assert "ruff corrected 1 file." in done.stderr
    assert (
        (scene.top / "shop/late.py")
        .read_text(encoding="utf-8")
        .startswith('"""Late."""\n\nimport abc\nimport os\n')
    )
    assert scene.run("check", "--fix", "--staged").returncode == 2
