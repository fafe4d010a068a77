"""How many examples a fuzzed law gets: few in `make test`, many more in `make fuzz`, by the profile that it names."""

from hypothesis import HealthCheck, settings

_USUAL = 100


def register() -> None:
    """Makes the profile known: four times the examples in each pass, and whatever fails can be repeated."""
    settings.register_profile("fuzz", max_examples=4 * _USUAL, deadline=None, print_blob=True)


def tries(usual: int) -> settings:
    """The settings of a law that is tried so often in `make test`."""
    now = settings.default.max_examples if settings.default is not None else _USUAL
    return settings(max_examples=max(1, usual * now // _USUAL), deadline=None, suppress_health_check=[HealthCheck.too_slow])
