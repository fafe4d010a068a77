"""Findings about security, read from source without running it: each with its line, its rule and what to do
instead. Secrets are looked for in every file, dangerous code by the language of the file.
"""

from dataclasses import dataclass

from agentforge.languages.table import language_of
from agentforge.languages.values import SEVERITIES, Risk, Severity
from agentforge.system.secrets.redact import redact


@dataclass(frozen=True, slots=True)
class SecurityFinding:
    """One place. The text of the line is not kept: it may be a secret."""

    path: str
    line: int
    rule: str
    severity: Severity
    message: str
    advice: str


SECRET = "hard-coded-secret"  # noqa: S105 - the name of a rule
_SECRET = (
    "the line holds what looks like a real key or token",
    "take it out, revoke it, and read it from the environment",
)


def scan(text: str, path: str, *, is_test: bool = False) -> tuple[SecurityFinding, ...]:
    """The findings of a file, by line. What is no code is searched for secrets alone."""
    hits = [Risk(line, SECRET, "high") for line in secret_lines(text)]
    language = language_of(path)
    rules = {SECRET: _SECRET}
    if language is not None:
        hits += language.measures.risks(text, is_test=is_test)
        rules |= language.measures.RULES
    worst: dict[tuple[int, str], Severity] = {}
    for hit in sorted(hits, key=lambda each: SEVERITIES.index(each.severity)):
        worst.setdefault((hit.line, hit.rule), hit.severity)
    # One line with a real key is one finding, whatever the variable is called.
    kept = {
        key: value
        for key, value in worst.items()
        if key[1] != "hard-coded-password" or (key[0], SECRET) not in worst
    }
    return tuple(
        SecurityFinding(path, line, rule, severity, *rules[rule])
        for (line, rule), severity in sorted(kept.items())
    )


def secret_lines(text: str) -> tuple[int, ...]:
    """The lines that hold what redaction would take out; of a private key, the first."""
    if redact(text)[1] == 0:
        return ()
    lines = text.split("\n")
    found = {number for number, line in enumerate(lines, 1) if redact(line)[1]}
    if "[REDACTED:private_key]" in redact(text)[0]:
        found |= {number for number, line in enumerate(lines, 1) if "PRIVATE KEY" in line and "BEGIN" in line}
    return tuple(sorted(found)) or (1,)
