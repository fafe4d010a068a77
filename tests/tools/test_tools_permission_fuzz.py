"""Any call, any policy, any grants: the laws of permission hold. `make fuzz` tries many more."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from agentforge.catalog.modes import MODE_NAMES, Mode, modes
from agentforge.commands.permissions import ActionCall, PermissionVerdict, Policy, SideEffect, decide
from agentforge.commands.programs import RISKS
from agentforge.store.user.grants import Grant
from agentforge.store.user.start_permissions import Area
from tests.fuzzing import tries

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ORDER: dict[PermissionVerdict, int] = {"allow": 0, "ask": 1, "deny": 2}
WORDS = [
    "git",
    "push",
    "rm",
    "-rf",
    "/",
    "x",
    "make",
    "sudo",
    "$x",
    "|",
    "sh",
    ";",
    "&&",
    ">",
    "~",
    "'",
    "curl",
    "http://x",
    "ls",
]
COMMANDS = st.one_of(
    st.none(),
    st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(tuple),
)
PLACES = st.lists(st.sampled_from(["a.py", "docs/x.md", "/etc/x", "../x", "docs/../a.py"]), max_size=2).map(
    tuple
)
CALLS = st.builds(
    ActionCall,
    tool=st.sampled_from(["run_command", "create_file"]),
    effect=st.sampled_from(get_args(SideEffect)),
    risk=st.sampled_from(RISKS),
    command=COMMANDS,
    paths=PLACES,
    confined=st.booleans(),
    role_allows=st.booleans(),
    violation=st.sampled_from(["", "it leads outside"]),
    origin=st.sampled_from(["builtin", "web", "mcp", "project"]),
)
POLICIES = st.builds(
    Policy,
    project=st.just("/p"),
    now=st.just(NOW),
    allow=st.frozensets(st.sampled_from(get_args(Area))),
    strict=st.booleans(),
    interactive=st.booleans(),
    yes=st.booleans(),
)
GRANTS = st.lists(
    st.builds(
        Grant,
        project=st.sampled_from(["/p", "/other"]),
        tool=st.sampled_from(["run_command", "create_file"]),
        expires=st.sampled_from([(NOW + timedelta(days=days)).isoformat() for days in (-1, 0, 1)]),
        command=st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
        path=st.sampled_from(["", "**/*", "docs/*", "/etc/*"]),
        risk=st.sampled_from(["low", "medium", "high"]),
    ),
    max_size=3,
)
MODES = st.sampled_from(MODE_NAMES).map(lambda name: modes()[name])


@tries(60)
@given(CALLS, POLICIES, GRANTS, MODES)
def test_the_laws_hold(call: ActionCall, policy: Policy, grants: list[Grant], mode: Mode) -> None:
    decision = decide(call, policy, grants, mode)
    assert decision.reason
    assert RISKS.index(decision.risk) >= RISKS.index(call.risk)
    if decision.risk == "critical" or call.violation or not call.role_allows:
        assert decision.verdict == "deny"
    if not policy.interactive:
        assert decision.verdict != "ask"
    at = ORDER[decision.verdict]
    stricter = decide(call, replace(policy, strict=True), grants, mode)
    assert ORDER[stricter.verdict] >= at
    for risk in RISKS[RISKS.index(call.risk) :]:
        assert ORDER[decide(replace(call, risk=risk), policy, grants, mode).verdict] >= at
    assert ORDER[decide(call, policy, (), mode).verdict] >= at
    assert ORDER[decide(call, replace(policy, allow=frozenset(), yes=False), grants, mode).verdict] >= at
    assert decide(call, policy, grants, mode) == decision


@tries(60)
@given(CALLS, POLICIES, GRANTS, MODES, st.sampled_from([" ", "; true", "\ntrue", " # x"]))
def test_more_words_never_make_a_command_easier(
    call: ActionCall, policy: Policy, grants: list[Grant], mode: Mode, more: str
) -> None:
    if isinstance(call.command, str) and call.command.strip() and not call.command.endswith(("'", "\\")):
        before, after = (
            decide(replace(call, command=line), policy, grants, mode)
            for line in (call.command, call.command + more)
        )
        if more not in (" ", " # x"):
            assert ORDER[after.verdict] >= ORDER[before.verdict]
        assert RISKS.index(after.risk) >= RISKS.index(before.risk)
