"""How many ranks an application can have: {"choices": [1, 2, 4, 8]} or {"min": 1, "max": 64}; {} sets no limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, cast

from gridportal.base.errors import InputError
from gridportal.base.name_lists import either


class Limits(TypedDict, total=False):
    """As an application keeps them; None for no limit."""

    choices: list[int]
    min: int | None
    max: int | None


def check(raw: Any) -> Limits:
    """The limits, checked; a bare list is read as choices. Raises InputError."""
    if isinstance(raw, list):
        raw = {"choices": raw}
    if not isinstance(raw, Mapping) or set(raw) - {"choices", "min", "max"}:
        raise InputError("ranks", raw, "an object with choices, or with min and max")
    numbers = list(raw.get("choices", [])) + [raw[end] for end in ("min", "max") if raw.get(end) is not None]
    if "choices" in raw and not raw["choices"]:
        raise InputError("ranks", raw, "at least one choice")
    if not all(isinstance(n, int) and not isinstance(n, bool) and 1 <= n <= 4096 for n in numbers):
        raise InputError("ranks", raw, "whole numbers from 1 to 4096")
    if raw.get("min") and raw.get("max") and raw["min"] > raw["max"]:
        raise InputError("ranks", raw, "a min that is not above max")
    return cast(Limits, dict(raw))


def allows(limits: Limits, count: int) -> bool:
    """Whether `count` ranks are within the limits.

    >>> allows({"choices": [1, 2, 4]}, 3), allows({"min": 2}, 3)
    (False, True)
    """
    if limits.get("choices"):
        return count in limits["choices"]
    return (limits.get("min") or 1) <= count <= (limits.get("max") or 4096)


def accepted(limits: Limits) -> str:
    """The limits as the end of an InputError.

    >>> accepted({"choices": [1, 2, 4]}), accepted({"min": 1, "max": 8})
    ('1, 2 or 4', 'a whole number from 1 to 8')
    """
    choices = [str(choice) for choice in limits.get("choices", [])]
    if choices:
        return either(choices)
    return f"a whole number from {limits.get('min') or 1} to {limits.get('max') or 4096}"


def nearest(limits: Limits, wanted: int, most: int = 4096) -> int:
    """The allowed number closest to `wanted` that is not above `most`; the smallest allowed one when all are above.

    >>> nearest({"choices": [1, 2, 9]}, 4), nearest({"min": 1, "max": 64}, 4, 3), nearest({"min": 8}, 4)
    (2, 3, 8)
    """
    if limits.get("choices"):
        fitting = [number for number in limits["choices"] if number <= most] or [min(limits["choices"])]
        return int(min(fitting, key=lambda number: (abs(number - wanted), number)))
    low = limits.get("min") or 1
    return int(max(low, min(wanted, limits.get("max") or most, most)))


def sample(limits: Limits) -> int:
    """A number that the limits allow, more than one where they can: to try a pattern on."""
    if limits.get("choices"):
        return int(max(limits["choices"]))
    return int(min(limits.get("max") or 4, max(limits.get("min") or 1, 4)))
