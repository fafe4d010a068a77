"""Claims about the policies: each file is valid under its contract, and its reader refuses what no schema sees."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from agentforge.catalog.check import policy_faults
from agentforge.catalog.load import OWN_CONTRACTS, Catalog
from agentforge.catalog.modes import modes_from
from agentforge.catalog.policies import POLICIES, read_policy
from agentforge.commands.programs import known, programs_from
from agentforge.context.phrases import injections_from
from agentforge.core.errors import UsageError
from agentforge.models.known.families import families_from
from agentforge.system import strict_yaml
from tests.rows import every

ROOT = Catalog.packaged().root
FAMILIES = ROOT.parent / "models" / "known" / "families.yaml"
READERS: Mapping[str, Callable[[Any], object]] = {
    "commands": programs_from,
    "injections": injections_from,
    "modes": modes_from,
    "families": families_from,
}


def document_of(name: str) -> Any:  # noqa: ANN401  a document is any YAML
    """A copy that a test may change."""
    if name == "families":
        return strict_yaml.load(FAMILIES.read_text(encoding="utf-8"), name)
    return deepcopy(read_policy(name))


def changed(document: Any, path: str, value: object) -> Any:  # noqa: ANN401  as above
    """The document with another value at `a/b/c`."""
    *above, last = path.split("/")
    node = document
    for key in above:
        node = node[int(key) if isinstance(node, list) else key]
    node[last] = value
    return document


def test_every_file_is_a_known_policy_with_a_contract_that_no_project_can_replace() -> None:
    assert sorted(path.stem for path in (ROOT / "policies").glob("*")) == sorted(POLICIES)
    contracts = {f"{name}_policy" for name in POLICIES}
    assert contracts <= OWN_CONTRACTS
    assert contracts <= Catalog.packaged().names("contracts")


@every("name", POLICIES)
def test_every_policy_is_valid_under_its_contract(name: str) -> None:
    assert policy_faults(name, read_policy(name)) == []


@every(
    ("name", "path", "value", "told"),
    [
        ("commands", "program", {}, "program: unknown key"),
        ("commands", "programs/fatal", {}, "programs.fatal: unknown key"),
        ("commands", "programs/high/runs away", ["horse"], "does not fit; it is text"),
        ("commands", "wrappers/sudo/operands", "one", "does not fit; it is a whole number"),
        ("commands", "interpreters/python", "-c", "does not fit; it is text matching"),
        ("places", "tool_paths/key_files", "NETRC", "does not fit; it is text matching"),
        (
            "injections",
            "phrases/override/0/back",
            1000,
            "does not fit; it is a whole number from 1, up to 100",
        ),
        ("injections", "marks/fake_call", [], "does not fit; it is a list"),
        ("modes", "modes/fast/speed", 1, "modes.fast.speed: unknown key"),
        ("review_prompts", "poem", "", "poem: unknown key"),
    ],
)
def test_a_contract_sees_what_means_nothing(name: str, path: str, value: object, told: str) -> None:
    assert told in policy_faults(name, changed(document_of(name), path, value))[0]


@every(
    ("name", "path", "value", "told"),
    [
        ("commands", "program", {}, "commands.yaml: unknown key `program`; known: about_itself"),
        (
            "commands",
            "programs/fatal",
            {},
            "programs: unknown key `fatal`; known: critical, high, low, medium",
        ),
        ("commands", "traits/sings", "cat", "traits: unknown key `sings`"),
        ("commands", "network/some", "cat", "network: unknown key `some`"),
        ("commands", "wrappers/sudo/kind", "cat", "wrappers.sudo: unknown key `kind`"),
        ("commands", "programs/medium/plays", "ls", "`ls` is low and medium; leave it in one row"),
        ("commands", "programs/high/plays", "sudo", "`sudo` is high and critical; leave it in one row"),
        ("commands", "verbs/pip/critical", {"breaks": "list"}, "verbs.pip: `list` is low and critical"),
        ("commands", "verbs/gem brew pip", {"low": "install"}, "verbs.pip: `install` is "),
        ("commands", "flags/vi", {"medium": {"runs": "-c"}}, "flags.vi: `-c` is "),
        ("commands", "verbs/sudo", {"low": "help"}, "`sudo` is critical itself, so its verbs are not read"),
        ("commands", "git_flags/push", "--tags", "`push` is high itself, so its flags are not read"),
        ("commands", "network/reasons", ["uses the phone"], "no program has the reason `uses the phone`"),
        ("commands", "network/more", "curl", "network: `curl` changes nothing"),
        ("commands", "network/fewer", "ls", "network: `ls` changes nothing"),
        ("commands", "wrappers/env sudo", {}, " is there twice"),
        ("commands", "wrappers/su/valued", "-c", "`-c` is in `valued` and in `text`"),
        ("commands", "shells", "sh bash sh", "shells: `sh` is there twice"),
        ("injections", "phrase", {}, "injections.yaml: unknown key `phrase`"),
        ("injections", "phrases/poems", [], "unknown key `poems`"),
        ("injections", "phrases/override/0/hint", "x", "override: unknown key `hint`"),
        ("injections", "phrases/override/0/pattern", "a{late}", "there is no part `late`"),
        ("injections", "parts/earlier", "{orders}", "there is no part `orders`"),
        ("injections", "lookalikes/z", "\u0430", "lookalikes: `\u0430` is there twice"),
        ("modes", "modes/fast/speed", 1, "modes.yaml: fast: unknown key `speed`"),
        ("families", "family", {}, "`family` is not one of roles"),
        ("families", "families/qwen/size", 1, "qwen: `size` is not one of pattern"),
        ("families", "families/qwen/kind", "fast", "qwen.kind: `fast` is not one of general"),
        ("families", "families/qwen/means", "post", "qwen.means: `post` is not one of calls"),
        ("families", "families/qwen/roles", "none", "qwen.roles: `none` is not one of any"),
        ("families", "roles/any", ["poetry"], "`poetry` is not one of"),
        ("families", "usual/poetry", 1, "usual: `poetry` is not one of"),
    ],
)
def test_a_reader_refuses_what_means_nothing_and_what_contradicts(
    name: str, path: str, value: object, told: str
) -> None:
    with pytest.raises(UsageError) as refused:
        READERS[name](changed(document_of(name), path, value))
    assert told in refused.value.sentence


def test_a_row_of_a_few_words_makes_a_program_known() -> None:
    document = document_of("commands")
    changed(document, "programs/high/moves money", "pay pay-*")
    changed(document, "verbs/pay", {"low": "balance"})
    found = programs_from(document)
    assert found.row("pay") == found.row("pay-later") == ("high", "moves money")
    assert found.verbs["pay"] == {"balance": ("low", "")}
    assert known().row("pay") is None


LOADED = """\
import sys
read = []
sys.addaudithook(lambda event, args: read.append(str(args[0])) if event == "open" else None)
sys.argv = ["agentforge", *sys.argv[1:]]
from agentforge.surfaces.cli.main import main
try:
    main()
except SystemExit:
    pass
print(*sorted({path.rpartition("/")[2] for path in read if "/agentforge/" in path and path.endswith(".yaml")}))
"""


@pytest.mark.slow
@every(
    ("words", "files"),
    [
        (("--help",), []),
        (("start", "--help"), []),
        (("permissions", "explain", "--", "ls", "src"), ["commands.yaml", "modes.yaml", "places.yaml"]),
    ],
)
def test_only_a_command_that_judges_by_a_policy_reads_it(
    words: tuple[str, ...], files: list[str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout.splitlines()[-1].split() == files
