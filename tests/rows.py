"""Many rows of one claim as one test: what pytest does around a test of its own costs more than such a
row.
"""

import inspect
from collections.abc import Callable, Iterable

Test = Callable[..., None]


def every(names: str | tuple[str, ...], rows: Iterable[object]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, for rows that need nothing fresh: the test is called with each, and the
    one that fails is named.
    """
    whole, known = (names,) if isinstance(names, str) else names, list(rows)
    assert known

    def of_all(test: Test) -> Test:
        def each(**fixtures: object) -> None:
            for row in known:
                given = dict(zip(whole, (row,) if isinstance(names, str) else _several(row), strict=True))
                try:
                    test(**fixtures, **given)
                except BaseException as error:
                    error.add_note(
                        f"with {', '.join(f'{name}={value!r:.300}' for name, value in given.items())}"
                    )
                    raise

        signature = inspect.signature(test)
        others = [parameter for name, parameter in signature.parameters.items() if name not in whole]
        each.__name__, each.__qualname__, each.__doc__, each.__module__ = (
            test.__name__,
            test.__qualname__,
            test.__doc__,
            test.__module__,
        )
        each.__dict__.update(test.__dict__)
        vars(each)["__signature__"] = signature.replace(parameters=others)
        return each

    return of_all


def _several(row: object) -> tuple[object, ...]:
    assert isinstance(row, (tuple, list))
    return tuple(row)
