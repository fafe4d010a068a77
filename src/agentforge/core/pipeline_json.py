"""A resolved pipeline from the documents that the catalogue puts together."""

from collections.abc import Mapping
from typing import cast

from agentforge.core.pipeline import (
    TIERS,
    CheckName,
    GateName,
    Pipeline,
    Product,
    Reviewer,
    Rise,
    Stage,
    Tier,
    part_of,
)
from agentforge.core.reply import Json


def stage_from_json(value: Mapping[str, Json]) -> Stage:
    """A stage from its validated YAML form (keys of `catalog/contracts/stage_definition.yaml`)."""
    role = value.get("role")
    returns_to = value.get("returns_to")
    return Stage(
        name=str(value["name"]),
        role=None if role is None else str(role),
        products=tuple(
            Product(
                str(item["contract"]),
                str(item["phase"]),
                part_of(str(item["contract"]), item.get("part")),
                bool(item.get("derived", False)),
            )
            for item in _objects(value.get("produces"))
        ),
        role_version=str(value.get("role_version") or "1.0"),
        requires=tuple(_texts(value.get("requires"))),
        gates=cast("tuple[GateName, ...]", tuple(_texts(value.get("gates")))),
        checks=cast("tuple[CheckName, ...]", tuple(_texts(value.get("checks")))),
        context_tokens=_number(value, "context_tokens", 8000),
        max_output_tokens=_number(value, "max_output_tokens", 8000),
        max_steps=_number(value, "max_steps", 12),
        feedback_rounds=_number(value, "feedback_rounds", 4),
        mistakes=_number(value, "mistakes", 6),
        attempts=_number(value, "attempts", 2),
        needs_environment=bool(value.get("needs_environment", False)),
        verifying=bool(value.get("verifying", False)),
        returns_to=None if returns_to is None else str(returns_to),
        max_revisions=_number(value, "max_revisions", 3),
        reviewers=tuple(_reviewer(item) for item in _objects(value.get("reviewers"))),
        reviewers_if=str(value.get("reviewers_if") or ""),
        left_out=tuple(_texts(value.get("left_out"))),
        arbiter=_reviewer(arbiter) if isinstance(arbiter := value.get("arbiter"), dict) else None,
        debaters=tuple(_reviewer(item) for item in _objects(value.get("debaters"))),
        undebated=str(value.get("undebated") or ""),
        review_mode="advisory" if value.get("review_mode") == "advisory" else "blocking",
        skip_if=str(value.get("skip_if") or ""),
        reverts=bool(value.get("reverts", False)),
        tier=_tier(value),
        commits_as=str(value.get("commits_as") or ""),
        iterable=bool(value.get("iterable", False)),
        max_iterations=_number(value, "max_iterations", 5),
        iterate_prompt=" ".join(str(value.get("iterate_prompt") or "").split()),
        exit_point=bool(value.get("exit_point", False)),
    )


def pipeline_from_json(value: Mapping[str, Json]) -> Pipeline:
    """The pipeline a task was started with, from the copy in its pack."""
    return Pipeline(
        name=str(value["name"]),
        lane=str(value["lane"]),
        stages=tuple(stage_from_json(stage) for stage in _objects(value.get("stages"))),
        rises=_rise(rises) if isinstance(rises := value.get("rises"), dict) else None,
        mode=str(value.get("mode") or "balanced"),
        writes=bool(value.get("writes", True)),
        goal=str(value.get("goal") or ""),
        enters=str(value.get("enters") or ""),
        passed_over=tuple(
            (str(item["stage"]), str(item["reason"])) for item in _objects(value.get("passed_over"))
        ),
        ends_early=bool(value.get("ends_early", False)),
        continues_with=str(value.get("continues_with") or ""),
        summary=str(value.get("summary") or ""),
        continue_prompt=" ".join(str(value.get("continue_prompt") or "").split()),
        works_on=str(value.get("works_on") or ""),
        extends_to=tuple(_texts(value.get("extends_to"))),
    )


def _rise(value: Mapping[str, Json]) -> Rise:
    return Rise(
        str(value["to"]), _number(value, "files", 0), _number(value, "lines", 0), _number(value, "blocks", 0)
    )


def _reviewer(value: Mapping[str, Json]) -> Reviewer:
    return Reviewer(
        str(value["role"]), str(value["contract"]), str(value.get("version") or "1.0"), _tier(value)
    )


def _tier(value: Mapping[str, Json]) -> Tier:
    return next((tier for tier in TIERS if tier == value.get("tier")), "generation")


def _number(value: Mapping[str, Json], key: str, default: int) -> int:
    found = value.get(key, default)
    return found if isinstance(found, int) else default


def _objects(value: Json) -> list[dict[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _texts(value: Json) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
