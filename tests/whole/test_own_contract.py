"""A project's own contract in the place of a packaged one: the engine knows it by its part, not by its name."""

import pytest

from tests.whole.full_plays import evidence, final
from tests.whole.plays import FRAMED, REQUEST, Play, green, red, review, say

FILES = {
    ".agentforge/contracts/ticket.yaml": """\
extends: "agentforge:specification"
contract: ticket
schema:
  number: {type: string, required: true, pattern: '^SHOP-[0-9]+$', description: The ticket of this change}
""",
    ".agentforge/agents/software_architect.yaml": """\
extends: "agentforge:software_architect"
capabilities: {output: {+contract: [ticket]}}
""",
    ".agentforge/stages/ticket_frame.yaml": """\
extends: "agentforge:frame"
name: ticket_frame
produces:
  - {contract: intake_record, phase: intake}
  - {contract: clarification, phase: clarify}
  - {contract: analysis, phase: analyze}
  - {contract: ticket, phase: spec}
""",
    ".agentforge/stages/green.yaml": 'extends: "agentforge:green"\n+checks: [types, conformance]\n',
    ".agentforge/pipelines/tickets.yaml": """\
pipeline:
  name: tickets
  description: From a ticket to a verified branch
  goal_type: implement
  lanes:
    small:
      stages:
        - {name: ticket_frame}
        - {name: red, requires: [intake_record, ticket]}
        - {name: green, requires: [ticket, test_suite]}
        - {name: review, returns_to: green, requires: [intake_record, ticket, test_suite, implementation]}
        - name: deliver
          role: null
          default_exit: true
          requires: [intake_record, ticket, test_suite, implementation, review]
  exit: {stage: deliver, deliverable: delivery_report}
""",
}
NOT_RUN = ("types: not run: not configured", "lint: not run: not configured")


@pytest.mark.slow
def test_a_renamed_specification_is_proved_and_a_check_without_its_engine_is_named_everywhere(
    play: Play,
) -> None:
    play.person.write(FILES)
    play.person.commit_all()
    framed = {name: value for name, value in FRAMED.items() if name != "specification"}
    framed["ticket"] = {**FRAMED["specification"], "number": "SHOP-7"}
    play.person.scripted(say("ticket_frame", artifacts=framed, signal="success"), red(), green(), review())
    model = f"scripted:{play.person.script}"
    done = play.person.run("start", REQUEST, "--pipeline", "tickets", "--lane", "small", "--model", model)
    assert done.code == 0, done.said
    assert all(f" {line}\n" in done.said for line in NOT_RUN), done.said
    proof = evidence(play.top)
    ((requirement,), tests) = proof["requirements"], proof["requirements"][0]["tests"]
    assert (requirement["id"], [(test["red"], test["green"]) for test in tests]) == (
        "REQ-001",
        [("failed", "passed")],
    )
    kept = final(play.top, "spec", "ticket")
    assert (kept["number"], kept["spec_id"]) == ("SHOP-7", f"SPEC-{proof['task_id']}")
    subjects = play.person.git("log", "--format=%s", proof["result"]["branch"]).splitlines()
    assert subjects[:3] == [
        "Seal: net takes the discount off",
        "Implement: net takes the discount off",
        "Add failing tests: net takes the discount off",
    ]
    assert set(NOT_RUN) <= set(proof["not_checked"])
    (row,) = [row for row in proof["rows"] if row["gate"] == "green"]
    assert (row["not_run"]["types"], row["conformance_passing"]) == ("not run: not configured", True)
    assert set(NOT_RUN) <= set(final(play.top, "deliver", "delivery_report")["readiness"]["open_points"])
