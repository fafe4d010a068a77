"""How many examples a law gets: few in `make test`, all with SOAK=1, many more in `make fuzz`, by the profile
that it names.
"""

from hypothesis import HealthCheck, settings

from tests.depth import SOAK

_ALL = 100
_SHARE = 3
"""A usual run tries this part of the examples: each run tries others, and what once failed is tried again."""


def register() -> None:
    """Makes the profiles known, and the first of them the usual one; in the other whatever fails can be
    repeated.
    """
    # No law is about time: a busy machine must not break one.
    patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("usual", patient, max_examples=_ALL if SOAK else _ALL // _SHARE)
    settings.register_profile("fuzz", patient, max_examples=4 * _ALL, print_blob=True)
    settings.load_profile("usual")


def tries(usual: int, *allowed: HealthCheck) -> settings:
    """The settings of a law that is tried so often where there is time for all."""
    now = settings.default.max_examples if settings.default is not None else _ALL
    return settings(
        max_examples=max(1, usual * now // _ALL),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, *allowed],
    )
