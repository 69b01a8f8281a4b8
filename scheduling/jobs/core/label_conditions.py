"""What a job asks of a node: `site=utk`, `mem_gb>=16`, `rack!=3`, `rack in 1|2`, `speed>=1.5`.

A condition is kept as text beside its label: the value alone where it must be equal, else the operator and the value.
Several conditions on one label are one text, joined by " & ", and all of them count.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping

from gridportal.base.errors import InputError

ACCEPTED = (
    "label=value, or a label with !=, <, <=, >, >= or in and a value, such as site=utk, mem_gb>=16 or 'rack in 1|2'"
)
#: What a node has beside its labels: its speed, and memory, the same as its label mem_gb.
SPEED, MEMORY, MEMORY_LABEL = "speed", "memory", "mem_gb"
#: Seconds between every pair that talks: no matter of one node.
LATENCY = "latency"
#: Characters of a condition: what reads them tries every way to part them.
LONGEST = 1000
_SIGNS = r"!=|<=|>=|=(?!=)|<(?!=)|>(?!=)"
_CONDITION = re.compile(rf"(?P<label>[^=<>!]+?)\s*(?:(?P<sign>{_SIGNS})|\s(?P<word>in)\s)\s*(?P<value>.+)", re.DOTALL)
_KEPT = re.compile(r"(?P<sign>!=|<=|>=|<|>|=|in\s)\s*(?P<value>.+)", re.DOTALL)
_NEXT = re.compile(r"\s+&\s+(?=!=|<|>|=|in\s)")
_BETWEEN = re.compile(r"\s*,\s*|\s+and\s+(?=[^\s=<>!,]+\s*(?:[=<>!]|in\s))")
_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def parse(text: str) -> tuple[str, str]:
    """The label and its condition. Raises InputError.

    >>> parse("site=utk"), parse("mem_gb >= 16"), parse("rack in 1,2")
    (('site', 'utk'), ('mem_gb', '>=16'), ('rack', 'in 1|2'))
    """
    if len(text) > LONGEST:
        raise InputError("require", text, f"a condition of at most {LONGEST} characters")
    match = _CONDITION.fullmatch(text.strip())
    label, sign, value = (match["label"].strip(), match["sign"], match["value"].strip()) if match else ("", "", "")
    if not label or not value or (label == LATENCY and sign not in _ORDERS):
        raise InputError("require", text, ACCEPTED if label != LATENCY else "latency<SECONDS, such as latency<=0.001")
    if sign is None and not listed(value):
        raise InputError("require", text, "one or more values after in, such as 'rack in 1|2'")
    if sign is None:
        value, sign = "|".join(listed(value)), "in "
    condition = value if sign == "=" and not _KEPT.fullmatch(value) else sign + value
    if len(split(condition)) > 1:
        raise InputError("require", text, "one condition; give each on one label by itself")
    check(label, condition)
    return label, condition


def listed_conditions(text: str) -> list[str]:
    """The conditions that somebody typed in one line, with commas or `and` between them.

    >>> listed_conditions("mem_gb >= 16 and rack=1, site=rock and roll")
    ['mem_gb >= 16', 'rack=1', 'site=rock and roll']
    """
    return [part.strip() for part in _BETWEEN.split(text) if part.strip()]


def merge(conditions: Iterable[tuple[str, str]]) -> dict[str, str]:
    """All conditions by their labels; of several on one label every one counts.

    >>> merge([("mem_gb", ">=16"), ("site", "utk"), ("mem_gb", "<64")])
    {'mem_gb': '>=16 & <64', 'site': 'utk'}
    """
    merged: dict[str, str] = {}
    for label, condition in conditions:
        if label not in merged:
            merged[label] = condition
        elif condition not in split(merged[label]):
            merged[label] += f" & {condition if _KEPT.fullmatch(condition) else f'={condition}'}"
    return merged


def split(condition: str) -> tuple[str, ...]:
    """The conditions that are kept as one text.

    >>> split(">=16 & <64"), split("A & B"), split("utk & =uiuc")
    (('>=16', '<64'), ('A & B',), ('utk', 'uiuc'))
    """
    first, *others = _NEXT.split(condition)
    return (first, *(other.removeprefix("=").strip() for other in others))


def parted(condition: str) -> tuple[str, str]:
    """The sign of one condition and its value.

    >>> parted(">=16"), parted("utk"), parted("in 1|2")
    (('>=', '16'), ('=', 'utk'), ('in', '1|2'))
    """
    kept = _KEPT.fullmatch(condition)
    return ("=", condition) if kept is None else (kept["sign"].strip(), kept["value"].strip())


def check(label: str, condition: str) -> None:
    """Raise InputError for a condition that no label can meet."""
    for part in split(condition):
        kept = _KEPT.fullmatch(part)
        if kept and kept["sign"] in _ORDERS and number(kept["value"]) is None:
            raise InputError("require", written(label, part), f"a number after {kept['sign']}")


def meets(value: str | None, condition: str) -> bool:
    """Whether a node's label, None without one, meets a condition. Without the label only != is met.

    A label that is no number is neither less nor more than one; numbers are equal however they are written.

    >>> meets("32", ">=16"), meets("utk", "utk"), meets("a lot", ">=16"), meets(None, "!=3")
    (True, True, False, True)
    >>> meets("32", ">=16 & <64"), meets("2", "in 1|2"), meets("1", "1.0")
    (True, True, True)
    """
    return all(_meets(value, part) for part in split(condition))


def _meets(value: str | None, condition: str) -> bool:
    sign, wanted = parted(condition)
    if sign == "!=":
        return not _equal(value, wanted)
    if sign == "=":
        return _equal(value, wanted)
    if sign == "in":
        return any(_equal(value, each) for each in listed(wanted))
    has, limit = number(value), number(wanted)
    return has is not None and limit is not None and _ORDERS[sign](has, limit)


def all_met(labels: Mapping[str, str], require: Mapping[str, str]) -> bool:
    """Whether a node's labels meet every condition on labels; its speed and latencies are no matter of labels."""
    return all(
        meets(labels.get(MEMORY_LABEL if label == MEMORY and MEMORY not in labels else label), condition)
        for label, condition in require.items()
        if label not in (SPEED, LATENCY)
    )


def with_speed(labels: Mapping[str, str], speed: float) -> dict[str, str]:
    """A node's labels, its memory and its speed, as conditions name them.

    >>> with_speed({"mem_gb": "16"}, 1.5)
    {'speed': '1.5', 'memory': '16', 'mem_gb': '16'}
    """
    memory = {MEMORY: labels[MEMORY_LABEL]} if MEMORY_LABEL in labels else {}
    return {SPEED: repr(float(speed)).removesuffix(".0"), **memory, **labels}


def written(label: str, condition: str) -> str:
    """As people write it.

    >>> written("site", "utk"), written("mem_gb", ">=16 & <64"), written("rack", "in 1|2")
    ('site=utk', 'mem_gb>=16 and mem_gb<64', 'rack in 1|2')
    """
    return " and ".join(each(label, condition))


def each(label: str, condition: str) -> list[str]:
    """The conditions one by one, as `parse` takes them."""
    return [_one(label, part) for part in split(condition)]


def _one(label: str, condition: str) -> str:
    kept = _KEPT.fullmatch(condition)
    if kept is None:
        return f"{label}={condition}"
    return f"{label} {condition}" if kept["sign"].strip() == "in" else f"{label}{condition}"


def listed(text: str) -> list[str]:
    """The values of a list.

    >>> listed("1|2, 3")
    ['1', '2', '3']
    """
    return [value.strip() for value in re.split(r"[|,]", text) if value.strip()]


def _equal(value: str | None, wanted: str) -> bool:
    if value is None or value == wanted:
        return value is not None
    has, limit = number(value), number(wanted)
    return has is not None and has == limit


def number(text: object, low: float = -math.inf, below: float = math.inf) -> float | None:
    """A label as a number from `low` and below `below`; None for any other, for what has no end, and for no label.

    >>> number("1e3"), number("inf"), number("utk"), number("-1", low=0.0), number(None)
    (1000.0, None, None, None, None)
    """
    try:
        value = float(str(text))
    except ValueError:
        return None
    return value if math.isfinite(value) and low <= value < below else None
