"""Each new test has an assertion that can fail, as far as its text can tell; what is odd in it is shown."""

import re
from collections.abc import Collection, Iterable, Mapping

from agentforge.core.reply import Json
from agentforge.gates.flags import Flag
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.symbols import decode
from agentforge.languages.tests import liveness, source_of_test, test_doubts, without_tests

_HEAD = re.compile(r"(?m)^(\s*(?:async )?def )\w+")


def lifeless(
    ids: Iterable[str], sources: Mapping[str, str], old: Collection[str] = ()
) -> tuple[list[str], list[Flag]]:
    """The tests that cannot fail, a sentence each, and those of which that is not sure. What `old` tests of
    the same file do is no news.
    """
    reasons: list[str] = []
    flags: list[Flag] = []
    new = {path: without_tests(text, path, _tests_of(path, old)) for path, text in sources.items()}
    for identity in ids:
        path = identity.partition("::")[0]
        text = sources.get(path, "")
        flags += [Flag(identity, said) for said in test_doubts(new.get(path, ""), identity)]
        found = liveness(text, identity)
        if found.refused:
            reasons.append(
                f"{identity} cannot fail for a wrong result: {found.refused}; let it assert what the change "
                "must do"
            )
        elif found.doubt:
            flags.append(Flag(identity, found.doubt))
    return reasons, flags


def _tests_of(path: str, ids: Collection[str]) -> list[str]:
    return [identity for identity in ids if identity.startswith(f"{path}::")]


def twins(proof: Mapping[str, Json], sources: Mapping[str, str]) -> list[Flag]:
    """Tests of two requirements that say word for word the same: one of the two has no test of its own."""
    first: dict[str, tuple[str, str]] = {}
    flags: list[Flag] = []
    for identity, entry in proof.items():
        requirement = str(entry.get("requirement", "")) if isinstance(entry, dict) else ""
        text = source_of_test(sources.get(identity.partition("::")[0], ""), identity)
        if text is None or not requirement or "[" in identity:
            continue
        said = _HEAD.sub(r"\1_", text, count=1)
        other, about = first.setdefault(said, (identity, requirement))
        if about != requirement:
            told = f"says word for word what {other} says, which is about {about}"
            flags.append(Flag(identity, f"{told}: {requirement} has no test of its own", ruling=True))
    return flags


def support_flags(runner: PristineRunner, before: str, after: str, declared: Collection[str]) -> list[Flag]:
    """What is odd in files that came or changed with the new tests and declare none: they run, too."""
    git = runner.workspace.git
    paths = [change.path for change in git.diff_names(before, after) if change.status != "D"]
    return [
        Flag(path, said)
        for path in paths
        if runner.is_test(path) and path not in declared
        for said in test_doubts(decode(git.read_blob(after, path) or b"", path), path)
    ]
