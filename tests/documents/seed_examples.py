"""The examples of the specification, as it prints them."""

ACTIVE_WORKFLOW = """\
---
# Identity
phase: brainstorm
workflow: forge-brainstorm
version: "2.0"

# Status
phase_status: in_progress          # pending | in_progress | blocked | completed
started_at: 2026-01-27T10:00:00Z
last_updated: 2026-01-27T14:30:00Z
completed_at: null

# Debate State
debate_id: brainstorm-20260127-143022
debate_status: pending             # none | pending | complete

# Progress
completed_tasks:
  - task-01-explore-options
  - task-02-generate-debate-plan
pending_tasks:
  - task-03-wait-debate-completion
  - task-04-synthesize-decision
blocked_tasks: []
current_task: task-03-wait-debate-completion

# Context
context:
  feature: "user-authentication"
  branch: "feat/auth"
  related_docs:
    - docs/forge/brainstorm-options.md
    - docs/forge/debate/brainstorm-20260127-143022/debate-plan.md
  decisions:
    - "D1: Use JWT for authentication"
  assumptions:
    - "A1: OAuth2 provider available"

# Metadata
metadata:
  estimated_hours: 4
  actual_hours: 2.5
  risk_level: medium
  priority: high
  karpathy_score: 4.5
---

# Workflow Notes (free-form below frontmatter)

## Current Focus
Waiting for debate completion before proceeding.

## Blockers
None - debate in progress.

## Next Actions
1. Monitor debate directory for synthesis.md
2. Extract decisions when complete
3. Generate phase handoff
"""

HANDOFF = """\
---
from_phase: "brainstorm"
to_phase: "research"
generated_at: "2026-01-27T15:00:00Z"
workflow_id: "forge-20260127-143022"
status: "final"
---

# Phase Handoff: Brainstorm → Research

## Summary

### What Was Done
Explored 3 authentication approaches and selected JWT-based solution through structured debate.

### Key Outcomes
- Selected: JWT with refresh tokens
- Confidence: High
- Debate ID: brainstorm-20260127-143022

### Time Spent
2.5 hours

## Locked Decisions

| Decision ID | Title | Rationale | Challenge Requires Debate |
|-------------|-------|-----------|---------------------------|
| D1 | Use JWT for auth | Scalable, stateless | Yes |
| D2 | Refresh token rotation | Security best practice | No |

## Open Assumptions

| Assumption ID | Description | Validation Due By | Risk if Invalid |
|---------------|-------------|-------------------|-----------------|
| A1 | OAuth2 provider available | Research phase | High - blocks implementation |
| A2 | Team knows JWT | Research phase | Low - training available |

## Constraints for Next Phase

| Constraint ID | Description | Source | Violation Triggers |
|---------------|-------------|--------|--------------------|
| C1 | Must use existing auth provider | D1 | Reopen debate |
| C2 | Token expiry ≤ 24 hours | Security policy | Security review |

## TODO List for Research Phase

1. [ ] Validate OAuth2 provider capabilities
2. [ ] Research JWT libraries for our stack
3. [ ] Verify refresh token rotation patterns
4. [ ] Document security considerations

## Escalation Conditions

Conditions that require debate before proceeding:

- [ ] OAuth2 provider doesn't support required flows
- [ ] JWT libraries have critical vulnerabilities
- [ ] Performance requirements exceed JWT capabilities

## Risk Summary

| Risk Level | Count | Highest Priority Risk |
|------------|-------|----------------------|
| High       | 1     | OAuth2 provider unavailable |
| Medium     | 2     | Token refresh complexity |
| Low        | 1     | Team learning curve |

## Artifacts Produced

| Artifact | Location | Status |
|----------|----------|--------|
| Brainstorm Options | docs/forge/brainstorm-options.md | Complete |
| Debate Synthesis | docs/forge/debate/brainstorm-*/synthesis.md | Complete |
| Brainstorm Final | docs/forge/brainstorm.md | Complete |

## Reference Materials

- Phase output: `docs/forge/phases/brainstorm.md`
- Decisions: `docs/forge/knowledge/decisions.md`
- Assumptions: `docs/forge/knowledge/assumptions.md`
- Risks: `docs/forge/knowledge/risks.md`

## Sign-off

Phase completed: Yes
Blocked by: None
Ready to proceed: Yes
"""

KILL_SWITCH = """\
## Kill-Switch Criteria

**We will ABORT and reconsider if:**

- [Condition]: [Specific, measurable threshold]
  - Detection: [How we'll monitor]
  - Timeline: [When to check]
  - Fallback: [What to do instead]
"""
