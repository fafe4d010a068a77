"""What a task that settles a violation starts from: a specification of one requirement, without a model.

What fails now is the check that found the violation, on the base; the gate runs it again at the end. No test
file is made for it: nobody wants to keep one.
"""

from agentforge.app.checks.checking import violation_in
from agentforge.app.intake.importing import ExternalInput
from agentforge.core.reply import Json
from agentforge.gates.conformance.findings import CodeFinding
from agentforge.store.site import Site

SOURCE = "violation"


def derived_from_violation(site: Site, commit: str, name: str) -> tuple[ExternalInput, ...]:
    """The specification and the suite of a violation that a commit has."""
    found = violation_in(site, commit, name)
    return (
        ExternalInput("requirements", _specification(found), SOURCE, name),
        ExternalInput("tests", {"test_files": []}, SOURCE, name),
    )


def fix_request(site: Site, commit: str, name: str) -> str:
    """The request, in words that say what is wrong and where."""
    found = violation_in(site, commit, name)
    where = f"{found.path}:{found.line}" + (f", {found.symbol}" if found.symbol else "")
    return f"Fix {name}: {found.check}: {found.message} ({where}). {found.fix_hint}"


def _specification(found: CodeFinding) -> dict[str, Json]:
    return {
        "title": f"{found.check} in {found.path}"[:100],
        "description": f"{found.message} ({found.path}:{found.line}). {found.fix_hint}",
        "requirements": [
            {
                "id": "REQ-001",
                "description": f"The check {found.check} does not find {found.identity} any more",
                "priority": "must",
                "acceptance_criteria": [f"check {found.check} is clean on file {found.path}"],
                "verification_method": "analysis",
            }
        ],
        "files_to_modify": [found.path],
        "trace_to_request": f"The request names {found.identity}.",
    }
