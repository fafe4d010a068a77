"""Before a role's action is done: may it be? Allowed, refused with the reason, or a person is asked and shown
exactly what would happen.

What stays in the task's worktree and runs behind its walls is the usual case, and costs nothing but a look at
a table.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import cast

from agentforge.activities.showing import ask, named_paths, show
from agentforge.activities.world import World
from agentforge.catalog.modes import mode_named
from agentforge.commands.permissions import ActionCall, SideEffect, decide
from agentforge.commands.programs import Risk
from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Action
from agentforge.core.state import State
from agentforge.core.values import Question, WantedCall
from agentforge.system.canon import digest_value
from agentforge.tools.base import Tool, ToolResult, Workbench, texts_of
from agentforge.tools.bridge import TOOLS, Bridge
from agentforge.tools.change.patching import patched_names
from agentforge.tools.paths import acts_later
from agentforge.tools.roots import named_in
from agentforge.tools.run.command import words_of
from agentforge.tools.run.declared import DeclaredCall, called, declared_tools

_LOOKS = ("pure", "read")


def permit(
    world: World, state: State, bridge: Bridge, action: Action, bench: Workbench
) -> ToolResult | Question | None:
    """None: it may be done. A question: a person must say. A result: why it may not be done."""
    tool = bridge.tools.get(action.name)
    if tool is None:
        return None  # the bridge knows what to say
    outside = bool(bench.roots) and any(name.startswith("/") for name in named_paths(action))
    if tool.spec.effect in _LOOKS and tool.spec.risk == "low" and action.name in TOOLS and not outside:
        return None
    try:
        call = _told_later(_call(world, tool, action, bench, outside=outside), state, action, bench)
        if decide(call, world.rules.policy(), (), mode_named(state.pipeline.mode)).verdict == "allow":
            return None
        # What the role may not do at all is nobody's question.
        return bridge.refusal(action, bench) or _rule(world, state, bridge, action, call, bench)
    except ModelMistake as mistake:
        return ToolResult(ok=False, text=mistake.text, mistake=mistake.kind)


def leaves_sandbox(world: World, bridge: Bridge, action: Action, bench: Workbench) -> bool:
    """Whether an action that may be done changes something outside of the worktree and the sandbox, where
    nothing is put back after a crash: over the network, in a directory that the user opened, or without
    walls.
    """
    tool = bridge.tools.get(action.name)
    if tool is None or tool.spec.effect in _LOOKS:
        return False
    outside = bool(bench.roots) and any(name.startswith("/") for name in named_paths(action))
    call = _call(world, tool, action, bench, outside=outside)
    # What has no words of its own and runs is a check of ours.
    return call.effect == "network" or (not call.confined and (call.command is not None or outside))


def _rule(
    world: World, state: State, bridge: Bridge, action: Action, call: ActionCall, bench: Workbench
) -> ToolResult | Question | None:
    """None if the call is allowed; else its denial, or the question that a person is asked about it."""
    shown = show(bridge.tools[action.name], action, call, bench)
    digest = digest_value([call.tool, shown.exact])
    permitted = digest in state.permits and digest in world.rules.approved()
    call = replace(call, paths=shown.paths, permitted=permitted)
    decision = decide(call, world.rules.policy(), world.rules.grants(), mode_named(state.pipeline.mode))
    if decision.verdict == "allow":
        return None
    if decision.verdict == "deny":
        return _denied(decision.reason)
    if (said := state.denial(digest)) is not None:
        return _denied(
            "a person denied exactly this call"
            + ("" if said.strip().lower() == "deny" else f": {said[:300]}")
        )
    words = call.command if isinstance(call.command, tuple) else ()
    return ask(
        world.files,
        bridge.name,
        call,
        decision,
        shown._replace(flagged=state.flagged),
        WantedCall(digest, call.tool, decision.risk, words, shown.paths, call.content),
    )


def _call(world: World, tool: Tool, action: Action, bench: Workbench, *, outside: bool) -> ActionCall:
    """The facts about a call that its grading needs."""
    walled = world.sandbox.name != "none"
    if action.name not in TOOLS:
        # A program, whatever it says of itself: what the repository claims can make it no safer.
        found = _declared(world, action)
        effect: SideEffect = (
            "execute" if found.tool.effect in _LOOKS else cast("SideEffect", found.tool.effect)
        )
        confined = walled and not named_in(bench.roots, found.words)
        call = ActionCall(
            found.tool.name,
            effect,
            found.tool.risk,
            found.words,
            confined=confined,
            origin="project",
            content=found.tool.digest,
        )
        return replace(call, consented=world.rules.consented(call.content))
    effect = cast("SideEffect", tool.spec.effect)  # control actions never come here
    words = _words(action)
    inside = not outside and not (words and named_in(bench.roots, words))
    risk: Risk = tool.spec.risk if words is None else "low"  # of a command its words tell the risk
    return ActionCall(
        tool.spec.name,
        effect,
        risk,
        words,
        confined=inside and (walled or effect not in ("execute", "network")),
    )


def _told_later(call: ActionCall, state: State, action: Action, bench: Workbench) -> ActionCall:
    """The call, with what it writes that acts by itself later and that no word of a person names."""
    if call.effect != "write":
        return call
    said = "\n".join((state.request, *(item.answer or "" for item in state.escalations)))
    with suppress(ModelMistake):  # what cannot be read is refused by the tool itself
        for path in _written(action, bench):
            if why := acts_later(path, said):
                return replace(call, later=why, risk="high")
    return call


def _written(action: Action, bench: Workbench) -> Iterator[str]:
    """The real paths of the tree that an action of a writing tool names."""
    names = [*named_paths(action)]
    if action.name == "apply_patch":
        names += patched_names(action.args)
    for name in names:
        spot = bench.spot(name)
        if spot.outer is None:
            yield spot.path


def _declared(world: World, action: Action) -> DeclaredCall:
    tools = world.once("declared", make=lambda: declared_tools(world.catalogue.tools()))
    found = called(tools, action)
    assert found is not None, "a tool that is not declared"
    return found


def _words(action: Action) -> tuple[str, ...] | None:
    if action.name != "run_command":
        return None
    line = action.args.get("command")
    return texts_of(action.args, "argv") or (words_of(line) if isinstance(line, str) else ())


def _denied(reason: str) -> ToolResult:
    return ToolResult(ok=False, text=f"not allowed: {reason}", mistake="permission_denied")


def being_asked() -> ToolResult:
    """The result of a call that a person is asked about."""
    return ToolResult(ok=False, text="not done: it needs a person's permission", mistake="asked")


def to_wait() -> ToolResult:
    """The result of what comes after it in the same reply."""
    text = "not done: an earlier call of this reply needs a person's answer first; send it again after that"
    return ToolResult(ok=False, text=text, mistake="waits")
