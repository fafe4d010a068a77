"""Grants and decisions, for a person and for programs."""

from agentforge.app.setup.settings_file import spell_command
from agentforge.commands.permissions import Permission
from agentforge.store.user.grants import Grant
from agentforge.surfaces.cli.printing import print_text
from agentforge.system.visible import brief


def grant_scope(grant: Grant) -> str:
    """The command or the path that a grant allows."""
    if grant.command:
        return f"{spell_command(grant.command)}{'' if grant.exact else ' …'}"
    return grant.path or "-"


def print_decision(decision: Permission) -> None:
    """The parts of a command, the risk of each, and what would be decided."""
    assessment = decision.assessment
    assert assessment is not None
    for number, each in enumerate(assessment.parts, 1):
        via = (
            f"  (run by {' > '.join(each.part.via)})"
            if each.part.via
            else "  (substituted)"
            if each.part.relation == "substitution"
            else ""
        )
        operator = f"{each.part.before} ".replace("\n", "") if each.part.before else ""
        print_text(f"{number:>3}  {each.risk:<8}  {operator}{brief(each.part.text, 120) or '(nothing)'}{via}")
        for reason in each.reasons:
            print_text(f"               {brief(reason, 160)}")
    if assessment.line.problem:
        print_text(f"     not valid shell: {assessment.line.problem}")
    print_text(f"risk      {decision.risk}")
    print_text(f"decision  {decision.verdict}: {brief(decision.reason, 300)}")


def decision_fields(decision: Permission, mode: str) -> dict[str, object]:
    """What would be decided, for a program."""
    assessment = decision.assessment
    assert assessment is not None
    parts = [
        {
            "argv": [arg.text for arg in each.part.argv],
            "assignments": {name: arg.text for name, arg in each.part.assignments},
            "redirections": [
                {"operator": item.operator, "target": item.target.text} for item in each.part.redirections
            ],
            "operator": each.part.before,
            "relation": each.part.relation,
            "via": list(each.part.via),
            "dynamic": sorted(each.part.marks),
            "risk": each.risk,
            "reasons": list(each.reasons),
        }
        for each in assessment.parts
    ]
    return {
        "parts": parts,
        "problem": assessment.line.problem or None,
        "risk": decision.risk,
        "network": assessment.network,
        "mode": mode,
        "decision": decision.verdict,
        "reason": decision.reason,
    }
