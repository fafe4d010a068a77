"""`dataclasses.replace`, in a fifth of the time: a replay makes the state anew for every event, and it has
many fields. For type checkers it is the very same function.

The values of a frozen class with slots are taken over slot by slot, without its constructor; a class whose
constructor does more than store is none for this.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import replace
else:
    from collections import deque
    from dataclasses import fields
    from functools import cache
    from itertools import repeat
    from operator import attrgetter, call
    from typing import TypeVar

    T = TypeVar("T")

    @cache
    def _slots(kind: type) -> tuple[tuple, attrgetter, dict]:
        assert not hasattr(kind, "__post_init__"), f"{kind.__name__} does more than store its fields"
        setters = {field.name: getattr(kind, field.name).__set__ for field in fields(kind)}
        # One more than there are: of a single field `attrgetter` would make no tuple.
        return tuple(setters.values()), attrgetter(*setters, next(iter(setters))), setters

    def replace(value: T, /, **changes: object) -> T:
        """The same value, but for these fields."""
        kind = type(value)
        all_setters, get, setters = _slots(kind)
        made = object.__new__(kind)
        deque(map(call, all_setters, repeat(made), get(value)), 0)  # a loop that no byte code slows down
        try:
            for name, changed in changes.items():
                setters[name](made, changed)
        except KeyError as error:
            raise TypeError(f"{kind.__name__} has no field {error}") from None
        return made


__all__ = ["replace"]
