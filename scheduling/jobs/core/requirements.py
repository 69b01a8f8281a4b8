"""What the nodes of a job must have, and by which figures of the network they are chosen.

A job keeps its requirements as one JSON document; `read` checks what people send, `stored` takes a document back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from gridportal.base.errors import InputError
from monitoring.telemetry.core.figures import FORECAST, NOW, When
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.unreadable import Unreadable

#: Which figures of the network nodes are chosen by.
FIGURES: Mapping[str, When] = {"now": NOW, "forecast": FORECAST}
_HIGHEST_RATE = 1e15
_LONGEST_LABEL = 120


@dataclass(frozen=True, slots=True)
class Requirements:
    """Each is None, or empty, where nothing is asked.

    min_bandwidth: bit/s of every pair that talks; min_cpu: free processor of every node, 0..1; require: labels of every
    node with their values, or with an operator and a value (>=16); compute_priority: how much processors weigh against
    the network with the method balanced; network: "now" or "forecast"; flows: whether all pairs talk at once;
    reference_bandwidth: bit/s that count as 100 % with the method balanced, else each link's own capacity does.

    >>> Requirements.read({"min_cpu": 0.5, "require": {"site": "utk"}}).document()
    {'min_cpu': 0.5, 'require': {'site': 'utk'}}
    """

    min_bandwidth: float | None = None
    min_cpu: float | None = None
    require: Mapping[str, str] = field(default_factory=dict)
    compute_priority: float | None = None
    network: str | None = None
    flows: bool | None = None
    reference_bandwidth: float | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Requirements:
        """The requirements that somebody sent. Raises InputError that names the one which cannot be accepted."""
        for name in document:
            if name not in NAMES:
                raise InputError("requirements", name, "one of " + ", ".join(NAMES))
        _check_numbers(document)
        _check_choices(document)
        _check_labels(document.get("require") or {})
        return cls.stored(document)

    @classmethod
    def stored(cls, document: Mapping[str, Any]) -> Requirements:
        """The requirements from a document that was checked before; names of an older portal are left out.
        Raises InputError for what is of another kind."""
        if not isinstance(document, Mapping):
            raise InputError("requirements", document, "an object")
        asked = {name: value for name, value in document.items() if name in NAMES and value not in (None, "")}
        for name in ("min_bandwidth", "min_cpu", "compute_priority", "reference_bandwidth"):
            _number(name, asked, -math.inf, math.inf, "a number")
        _check_choices(asked)
        _check_labels(asked.get("require") or {})
        return cls(**asked | {"require": dict(asked.get("require") or {})})

    def document(self) -> dict[str, Any]:
        """As JSON, without what was not asked."""
        asked = {name: getattr(self, name) for name in NAMES}
        return {name: value for name, value in asked.items() if value not in (None, "", {})}

    @property
    def figures(self) -> When:
        """The moment whose figures of the network count."""
        return FIGURES[self.network or "now"]


@dataclass(frozen=True, slots=True)
class UnreadableRequirements(Unreadable, Requirements):
    """Requirements that nobody can read."""

    raw: Any = None
    why: str = ""


NAMES = tuple(each.name for each in fields(Requirements))


def _check_numbers(document: Mapping[str, Any]) -> None:
    _number("min_bandwidth", document, 0.0, _HIGHEST_RATE, "a rate in bit/s from 0")
    _number("min_cpu", document, 0.0, 1.0, "a fraction from 0 to 1")
    _number("compute_priority", document, 0.001, 1000.0, "a number from 0.001 to 1000")
    _number("reference_bandwidth", document, 1.0, _HIGHEST_RATE, "a rate in bit/s from 1")


def _check_choices(document: Mapping[str, Any]) -> None:
    if document.get("network") not in (None, *FIGURES):
        raise InputError("network", document["network"], "one of " + ", ".join(FIGURES))
    if document.get("flows") not in (None, True, False):
        raise InputError("flows", document["flows"], "true or false")


def _check_labels(require: object) -> None:
    texts = [word for pair in require.items() for word in pair] if isinstance(require, dict) else [None]
    if not all(isinstance(word, str) and word.isprintable() and len(word) <= _LONGEST_LABEL for word in texts):
        raise InputError("require", require, 'labels and their values, e.g. {"site": "utk", "mem_gb": ">=16"}')
    for label, condition in require.items() if isinstance(require, dict) else ():
        label_conditions.check(label, condition)


def _number(name: str, document: Mapping[str, Any], low: float, high: float, accepted: str) -> None:
    value = document.get(name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InputError(name, value, accepted)
