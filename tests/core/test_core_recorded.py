"""Recorded forms: events, replies and pipelines as JSON and back."""

import dataclasses
import json
from dataclasses import dataclass
from typing import get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.codec import Inlined, decode, encode
from agentforge.core.digests import RequestDigest
from agentforge.core.errors import ModelMistake
from agentforge.core.events import (
    EVENT_TYPES,
    AskSent,
    Event,
    Moved,
    StepOpened,
    event_from_json,
    event_name,
    event_to_json,
)
from agentforge.core.pipeline import CHECK_NAMES, GATE_NAMES, LANES, PREDICATES, Pipeline
from agentforge.core.pipeline_json import pipeline_from_json, stage_from_json
from agentforge.core.replacing import replace
from agentforge.core.reply import MAX_ACTIONS, SIGNALS, Action, Json, Reply, reply_from_json, reply_to_json
from agentforge.core.runs import Run
from agentforge.core.values import Amount
from tests.core.scenes import DELIVER, HOTFIX, REVIEW, SMALL
from tests.fuzzing import tries
from tests.rows import every

QUICK = tries(100)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PART = (
    JSON
    | st.lists(JSON | st.fixed_dictionaries({"name": JSON}, optional={"args": JSON}), max_size=3)
    | st.sampled_from(SIGNALS)
)
OFFERS = JSON | st.dictionaries(
    st.sampled_from(["thought", "notes", "actions", "artifacts", "signal", "summary"]), PART, max_size=6
)


@pytest.mark.slow
@QUICK
@given(st.data())
def test_every_event_survives_the_journal(data: st.DataObject) -> None:
    event: Event = data.draw(st.one_of([st.from_type(kind) for kind in get_args(Event)]))
    recorded = json.loads(json.dumps(event_to_json(event)))
    assert recorded["type"] == event_name(event)
    assert event_from_json(recorded) == event


def test_every_event_has_a_name_of_its_own() -> None:
    assert len(set(EVENT_TYPES)) == len(get_args(Event))
    assert {"task_created", "ask_sent", "stage_accepted"} <= set(EVENT_TYPES)


def test_what_equals_its_default_is_not_written() -> None:
    assert event_to_json(AskSent("worker", "k", RequestDigest("h", "m", Amount(1)))) == {
        "type": "ask_sent",
        "run": "worker",
        "key": "k",
        "request_hash": "h",
        "model": "m",
        "reserved": {"calls": 1},
    }


def test_an_event_of_a_newer_version_is_not_guessed_at() -> None:
    with pytest.raises(KeyError):
        event_from_json({"type": "task_cloned"})
    with pytest.raises(ValueError, match="unknown field colour"):
        event_from_json({"type": "step_opened", "run": "worker", "step": 1, "colour": "red"})


WRONG: list[tuple[dict[str, Json], str]] = [
    ({"type": "step_opened", "step": 1}, "StepOpened: run is missing"),
    ({"type": "step_opened", "run": "worker"}, "StepOpened: step is missing"),
    ({"type": "step_opened", "run": "worker", "step": "1"}, r"StepOpened\.step: int expected, str found"),
    ({"type": "step_opened", "run": "worker", "step": True}, r"StepOpened\.step: int expected, bool found"),
    ({"type": "moved", "before": "draft", "after": "asleep"}, r"Moved\.after: one of draft, planned"),
    (
        {"type": "context_assembled", "run": "worker", "ref": "r", "tokens": 1, "dropped": "map"},
        r"ContextAssembled\.dropped: a list expected",
    ),
    ({"type": "task_delivered", "branch": "b", "commit": "c"}, "TaskDelivered: evidence is missing"),
    ({"type": "task_delivered", "handover": {"branch": "b"}}, "TaskDelivered: unknown field handover"),
    ({"type": "task_delivered", "branch": "b", "colour": "red"}, "TaskDelivered: unknown field colour"),
    ({"type": "attempt_failed", "run": "worker", "report": 3}, r"AttemptFailed\.report: an object expected"),
]


@every(("recorded", "message"), WRONG)
def test_a_wrong_shape_names_its_field(recorded: dict[str, Json], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        event_from_json(recorded)


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_what_an_event_carries_shares_no_name_with_its_other_fields(kind: type[Event]) -> None:
    hints = get_type_hints(kind)
    carried = [hint for hint in hints.values() if isinstance(hint, type) and issubclass(hint, Inlined)]
    names = [*hints, *(name for hint in carried for name in get_type_hints(hint))]
    assert len(set(names)) == len(names)


@dataclass(frozen=True, slots=True)
class Weighed:
    grams: float


def test_a_float_has_no_recorded_form() -> None:
    with pytest.raises(TypeError, match="float has no recorded form"):
        encode(Weighed(1.5))


def test_a_value_is_read_back_as_its_class() -> None:
    assert decode(StepOpened, {"run": "worker", "step": 3}) == StepOpened("worker", 3)
    assert decode(Moved, encode(Moved("draft", "planned"))) == Moved("draft", "planned")


@pytest.mark.parametrize("lane", [SMALL, HOTFIX])
def test_a_pipeline_survives_the_journal(lane: Pipeline) -> None:
    assert decode(Pipeline, json.loads(json.dumps(encode(lane)))) == lane


def test_a_pipeline_is_read_from_its_yaml_form() -> None:
    written: dict[str, Json] = {
        "name": "implement",
        "lane": "hotfix",
        "stages": [
            {
                "name": "review",
                "role": "reviewer",
                "produces": [{"contract": "review", "phase": "review"}],
                "gates": ["review", "contracts"],
                "max_output_tokens": 4000,
                "max_steps": 6,
                "verifying": True,
                "returns_to": "green",
            },
            {
                "name": "deliver",
                "role": None,
                "produces": [{"contract": "delivery_report", "phase": "deliver"}],
                "gates": ["delivery", "contracts"],
                "needs_environment": True,
                "verifying": True,
            },
        ],
    }
    assert pipeline_from_json(written) == Pipeline("implement", "hotfix", (REVIEW, DELIVER))


def test_what_a_stage_leaves_out_has_the_default_bounds() -> None:
    stage = stage_from_json({"name": "red"})
    assert (stage.max_steps, stage.feedback_rounds, stage.mistakes, stage.attempts, stage.max_revisions) == (
        12,
        4,
        6,
        2,
        3,
    )


def test_a_stage_recorded_before_contracts_had_parts_is_read_by_the_names_of_then() -> None:
    old: dict[str, Json] = {"name": "green", "produces": [{"contract": "implementation", "phase": "green"}]}
    own: dict[str, Json] = {
        "name": "build",
        "produces": [{"contract": "work", "phase": "green", "part": "change"}],
    }
    for value, verb in ((old, "Implement"), (own, "Build"), ({**own, "commits_as": "Make"}, "Make")):
        stage = stage_from_json(value)
        assert (stage.makes("change"), stage.makes("tests"), stage.commit_verb) == (True, False, verb)
    assert Pipeline("implement", "small", (stage_from_json(own),)).contract_for("change") == "work"
    assert not stage_from_json({**own, "produces": [{"contract": "work", "phase": "green"}]}).makes("change")


def test_the_closed_vocabularies_have_no_double() -> None:
    for words in (LANES, GATE_NAMES, CHECK_NAMES, PREDICATES, SIGNALS):
        assert len(set(words)) == len(words)


def test_a_reply_is_read_with_its_actions_in_order_and_its_artifacts_after_them() -> None:
    reply = reply_from_json(
        {
            "thought": "so",
            "notes": "n",
            "actions": [
                {"name": "read_file", "args": {"path": "a.py"}},
                {"action": "outline", "path": "b.py"},
            ],
            "artifacts": {"review": {"verdict": "approve"}},
            "signal": "success",
            "summary": "done",
        }
    )
    submit = Action("submit_artifact", {"contract": "review", "artifact": {"verdict": "approve"}})
    assert reply.actions == (
        Action("read_file", {"path": "a.py"}),
        Action("outline", {"path": "b.py"}),
        submit,
    )
    assert (reply.thought, reply.notes, reply.signal, reply.summary) == ("so", "n", "success", "done")
    assert reply_from_json(reply_to_json(reply)) == reply


BAD_REPLIES: list[tuple[Json, str, str]] = [
    ([], "reply_shape", "not a list"),
    (None, "reply_shape", "not null"),
    ({"action": 3}, "reply_shape", 'action 1: "name" is text'),
    ({"actions": {}}, "reply_shape", "`actions` is a list"),
    ({"actions": ["read"]}, "reply_shape", "action 1 is text"),
    ({"actions": [{"args": {}}]}, "reply_shape", 'action 1 needs "name"'),
    ({"actions": [{"name": 1}]}, "reply_shape", '"name" is text'),
    ({"artifacts": ["review"]}, "reply_shape", "`artifacts` is an object"),
    ({"thought": 1}, "reply_shape", "`thought` is text, not a number"),
    ({"signal": "done"}, "unknown_signal", "unknown signal 'done'; one of success"),
    (
        {"actions": [{"name": "outline"}] * (MAX_ACTIONS + 1)},
        "too_many_actions",
        "33 actions in one reply; at most 32",
    ),
]


@every(("value", "kind", "text"), BAD_REPLIES)
def test_an_unusable_reply_is_a_mistake_that_says_what_to_change(value: Json, kind: str, text: str) -> None:
    with pytest.raises(ModelMistake) as mistake:
        reply_from_json(value)
    assert mistake.value.kind == kind
    assert text in mistake.value.text


@QUICK
@given(OFFERS)
def test_any_json_is_a_reply_or_a_mistake(value: Json) -> None:
    try:
        reply = reply_from_json(value)
    except ModelMistake:
        return
    assert isinstance(reply, Reply)
    assert reply_from_json(json.loads(json.dumps(reply_to_json(reply)))) == reply


@pytest.mark.slow
@QUICK
@given(st.from_type(Run), st.text(max_size=8), st.integers())
def test_replacing_fields_is_what_the_standard_library_does(run: Run, stage: str, steps: int) -> None:
    assert replace(run, stage=stage, steps=steps) == dataclasses.replace(run, stage=stage, steps=steps)
    with pytest.raises(TypeError):
        replace(run, no_such_field=1)  # type: ignore[call-arg]  # on purpose
