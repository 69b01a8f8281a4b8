"""What a job asks of a node's labels: `site=utk`, `mem_gb>=16`, `rack!=3`.

A condition is kept as text beside its label: the value alone where it must be equal, else the operator and the value.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping

from gridportal.base.errors import InputError

ACCEPTED = "label=value, or a label with !=, <, <=, > or >= and a value, such as site=utk or mem_gb>=16"
_CONDITION = re.compile(r"(?P<label>[^=<>!]+)(?P<sign>!=|<=|>=|=|<(?!=)|>(?!=))(?P<value>.+)", re.DOTALL)
_KEPT = re.compile(r"(?P<sign>!=|<=|>=|<|>)(?P<value>.+)", re.DOTALL)
_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def parse(text: str) -> tuple[str, str]:
    """The label and its condition. Raises InputError.

    >>> parse("site=utk"), parse("mem_gb >= 16")
    (('site', 'utk'), ('mem_gb', '>=16'))
    """
    found = _CONDITION.fullmatch(text)
    label, sign, value = (part.strip() for part in found.groups()) if found else ("", "", "")
    if not label or not value:
        raise InputError("require", text, ACCEPTED)
    condition = value if sign == "=" else sign + value
    check(label, condition)
    return label, condition


def check(label: str, condition: str) -> None:
    """Raise InputError for a condition that no label can meet."""
    kept = _KEPT.fullmatch(condition)
    if kept and kept["sign"] in _ORDERS and _number(kept["value"]) is None:
        raise InputError("require", written(label, condition), f"a number after {kept['sign']}")


def meets(value: str | None, condition: str) -> bool:
    """Whether a node's label, None without one, meets a condition. Without the label only != is met.

    A label that is no number is neither less nor more than one.

    >>> meets("32", ">=16"), meets("utk", "utk"), meets("a lot", ">=16"), meets(None, "!=3")
    (True, True, False, True)
    """
    kept = _KEPT.fullmatch(condition)
    if kept is None:
        return value == condition
    if kept["sign"] == "!=":
        return value != kept["value"].strip()
    has, wanted = _number(value or ""), _number(kept["value"])
    return has is not None and wanted is not None and _ORDERS[kept["sign"]](has, wanted)


def all_met(labels: Mapping[str, str], require: Mapping[str, str]) -> bool:
    """Whether a node's labels meet every condition."""
    return all(meets(labels.get(label), condition) for label, condition in require.items())


def written(label: str, condition: str) -> str:
    """As people write it.

    >>> written("site", "utk"), written("mem_gb", ">=16")
    ('site=utk', 'mem_gb>=16')
    """
    return f"{label}{condition}" if _KEPT.fullmatch(condition) else f"{label}={condition}"


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
