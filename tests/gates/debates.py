"""A debate whose five files are complete, as people would write them; a test changes one of them."""

DEBATE_ID = "brainstorm-20260127-143022"

PLAN = """\
---
debate_id: "brainstorm-20260127-143022"
phase: "brainstorm"
objective: "How users prove who they are"
status: "pending"
---

# Debate Plan

## Objective

Decide how users prove who they are.

## Options Under Consideration

1. **JWT with refresh tokens**: stateless, short-lived
2. **Server sessions**: a table of sessions
3. **External provider**: somebody else keeps the passwords

## Role Prompts

### advocate

Argue.

## Expected Outputs

- advocate.md

## Completion Criteria

All five files.
"""

ADVOCATE = """\
## Core Argument

JWT with refresh tokens needs no shared state. It scales with the servers we have.

## Key Strengths

- No table of sessions: measured 3 ms per request saved.

## Comparative Advantages

Server sessions need a table; an external provider needs a contract.

## Success Criteria

p95 of a login under 200 ms.

## Risk Acceptance

A stolen token is valid until it expires.
"""

SKEPTIC = """\
## Critical Questions

1. Who revokes a token?
2. Where is the key?
3. What if the clock is wrong?
4. Who rotates?
5. What is logged?

## Hidden Assumptions

Clocks agree.

## Failure Modes

A leaked key signs anything.

## Risk Analysis

| Risk | Probability | Impact | Score |
|------|-------------|--------|-------|
| Leaked key | L | H | 3 |

## Second-Order Effects

Support must learn to explain expiry.
"""

OPERATOR = """\
## Resource Requirements

Two people, two weeks, no new service.

## Timeline Reality Check

Optimistic 1 week, realistic 2, pessimistic 4.

## Dependency Analysis

The key store comes first.

## Operational Constraints

Keys are rotated each month.

## Go/No-Go Recommendation

Go for JWT with refresh tokens.
"""

SYNTHESIS = """\
---
debate_id: "brainstorm-20260127-143022"
role: synthesizer
---

# Synthesis

## Debate Summary

The advocate wants JWT, the skeptic fears a leaked key, the operator says go.

## Key Tradeoffs

No shared state against no instant revocation.

## Final Decision

JWT with refresh tokens. It is stateless, and the skeptic's fear is met by rotation.

## Decision Criteria

| Criterion | Weight | Score |
|-----------|--------|-------|
| Latency | 3 | 9 |

## Kill-Switch Criteria

**We will ABORT and reconsider if:**

- Login latency: p95 over 200 ms
  - Detection: dashboard
  - Timeline: weekly
  - Fallback: Server sessions
- Provider contract: by 2026-03-01
  - Detection: date 2026-03-01
  - Timeline: once
  - Fallback: Server sessions

## Fallback Plan

Server sessions behind the same interface.

## Risks Accepted

| Risk | Likelihood | Impact | Mitigation | Owner |
|------|------------|--------|------------|-------|
| A stolen token stays valid | Medium | High | Expiry of 15 minutes | Ada |
| Clocks differ | 10 % | Low | NTP | Bob |

## Action Items

| # | Action | Owner | Due |
|---|--------|-------|-----|
| 1 | Set up the key store | Ada | 2026-02-01 |
"""

FILES = {
    "debate-plan.md": PLAN,
    "advocate.md": ADVOCATE,
    "skeptic.md": SKEPTIC,
    "operator.md": OPERATOR,
    "synthesis.md": SYNTHESIS,
}
