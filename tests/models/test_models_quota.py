"""How long a provider asks to wait, in the shapes that each of them has."""

from datetime import UTC, datetime, timedelta

from pydantic_ai.exceptions import ModelHTTPError

from agentforge.models.wire.quota import of_a_day, span, wait_told
from tests.rows import every

LATER = (datetime.now(UTC) + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
GOOGLE = {
    "error": {
        "code": 429,
        "status": "RESOURCE_EXHAUSTED",
        "message": "You exceeded your current quota.",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
            },
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600.2s"},
        ],
    }
}
RPD = "Rate limit reached on requests per day (RPD): Limit 200, Used 200. Please try again in 7h12m0.5s."
DEEP: object = "x"
for _ in range(50):
    DEEP = [DEEP]


def error(body: object, headers: dict[str, str] | None = None) -> ModelHTTPError:
    return ModelHTTPError(429, "some-model", body, headers=headers or {})


@every(
    ("body", "headers", "low", "high", "day"),
    [
        (None, {"Retry-After": "7200"}, 7200, 7200, False),
        (None, {"retry-after-ms": "1500"}, 2, 2, False),
        (GOOGLE, {}, 3601, 3601, True),
        ({"error": {"message": RPD, "code": "rate_limit_exceeded"}}, {}, 25921, 25921, True),
        (
            None,
            {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6h12m0s"},
            22320,
            22320,
            False,
        ),
        (
            None,
            {"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "6h"},
            None,
            None,
            False,
        ),
        (
            {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}},
            {"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": LATER},
            3600,  # the table is made when tests are collected, minutes before this one may run
            7200,
            False,
        ),
        ('{"error": {"message": "daily quota is used up"}}', {}, None, None, True),
        ("<html>busy</html>", {"retry-after": "soon"}, None, None, False),
        (DEEP, {}, None, None, False),
        ({"retryDelay": "nan"}, {"x-ratelimit-remaining-tokens": "0"}, None, None, False),
    ],
)
def test_each_provider_says_it_in_its_own_way(
    body: object, headers: dict[str, str], low: int | None, high: int | None, *, day: bool
) -> None:
    found = error(body, headers)
    told = wait_told(found)
    if low is None or high is None:
        assert told is None
    else:
        assert told is not None
        assert low <= told <= high
    assert of_a_day(found) is day


@every(
    ("text", "seconds"),
    [("34s", 34), ("1d2h", 93_600), ("350ms", 0.35), ("", None), ("5", None), ("-3s", None)],
)
def test_a_span_is_read_or_is_none(text: str, seconds: float | None) -> None:
    assert span(text) == seconds
