"""`dataclasses.replace`, in half the time: a replay makes the state anew for every event, and it has many
fields. For type checkers it is the very same function.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import replace
else:
    from dataclasses import fields
    from functools import cache
    from operator import attrgetter
    from typing import TypeVar

    T = TypeVar("T")

    @cache
    def _fields(kind: type) -> tuple[tuple[str, ...], attrgetter]:
        names = tuple(field.name for field in fields(kind))
        return names, attrgetter(*names)

    def replace(value: T, /, **changes: object) -> T:
        """The same value, but for these fields."""
        kind = type(value)
        names, get = _fields(kind)
        return kind(**{**dict(zip(names, get(value), strict=True)), **changes})


__all__ = ["replace"]
