"""How many arguments a function of HTCondor's library takes: the library has no list of them, so it is tried."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from scheduling.matching.adapters.classad_library import is_value

#: Values of all kinds, the first ones for calls with many arguments. Every function takes some of them.
_VALUES = ("undefined", "1", '"i"', '{"i"}', "{1}", "[a=1]", "true", 'absTime("2020-01-01T00:00:00Z")')
_FEW, _MANY = 4, 3
#: No function that takes a limited number takes more; with so many, undefined values are enough to tell.
MOST_ARGUMENTS = 6


@lru_cache(1000)
def argument_counts(function: str) -> tuple[int, ...]:
    """The numbers of arguments, up to MOST_ARGUMENTS, with which it has a value; none for one that is not there. Cost:
    some 40 ms for such a one.

    >>> argument_counts("size"), argument_counts("substr"), argument_counts("nothing")
    ((1,), (2, 3), ())
    """
    return tuple(count for count in range(MOST_ARGUMENTS + 1) if takes(function, count))


@lru_cache(1000)
def takes(function: str, count: int) -> bool:
    """Whether some arguments, so many, lead to something else than an error."""
    if is_value(_call(function, ("undefined",) * count)):
        return True
    if count > MOST_ARGUMENTS:
        return False
    values = _VALUES if count <= _MANY else _VALUES[: _FEW if count == _MANY + 1 else _MANY]
    return any(is_value(_call(function, arguments)) for arguments in product(values, repeat=count))


def _call(function: str, arguments: tuple[str, ...]) -> str:
    return f"{function}({','.join(arguments)})"
