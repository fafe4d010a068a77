"""Each new test has an assertion that can fail, as far as its text can tell; what is odd in it is shown."""

from collections.abc import Collection, Iterable, Mapping

from agentforge.gates.flags import Flag
from agentforge.gates.pristine import PristineRunner
from agentforge.languages.symbols import decode
from agentforge.languages.tests import liveness, test_doubts


def lifeless(ids: Iterable[str], sources: Mapping[str, str]) -> tuple[list[str], list[Flag]]:
    """The tests that cannot fail, a sentence each, and those of which that is not sure."""
    reasons: list[str] = []
    flags: list[Flag] = []
    for identity in ids:
        text = sources.get(identity.partition("::")[0], "")
        flags += [Flag(identity, said) for said in test_doubts(text, identity)]
        found = liveness(text, identity)
        if found.refused:
            reasons.append(
                f"{identity} cannot fail for a wrong result: {found.refused}; let it assert what the change "
                "must do"
            )
        elif found.doubt:
            flags.append(Flag(identity, found.doubt))
    return reasons, flags


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
