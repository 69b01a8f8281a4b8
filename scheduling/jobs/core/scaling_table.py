"""How long a program took on several numbers of ranks: what past runs, a skeleton or a person tell of its scaling."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from scheduling.jobs.core.patterns import MAX_RANKS

ACCEPTED = 'an object such as {"2": 100, "4": {"compute": 40, "communicate": 12}}, in seconds'


class Offer(Protocol):
    """What a group of nodes offers: bit/s of its slowest pair, None without one, and its lowest cpu."""

    @property
    def min_bandwidth(self) -> float | None: ...
    @property
    def min_cpu(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Seconds:
    """How long a run computes and how long it communicates."""

    compute: float
    communicate: float = 0.0


@dataclass(frozen=True)
class ScalingTable:
    """seconds: by the number of ranks, rising. cpu: the fraction of a reference processor that each rank had there;
    bandwidth: bit/s of its slowest pair there, None where nobody knows.

    Source: Selection 1999, 3.4 leaves how many nodes open and asks for methods of performance estimation; this is the
    simplest: the slowest rank decides, and messages take as long as the slowest pair makes them (Pattern 2003, 2.4).

    >>> from scheduling.jobs.core.candidates import Objective
    >>> table = ScalingTable.read({"ranks": {"2": 100, "8": {"compute": 25, "communicate": 8}}, "bandwidth": 1e9})
    >>> table.predict(8, Objective(min_bandwidth=5e8, min_cpu=0.5))
    66.0
    """

    seconds: Mapping[int, Seconds]
    cpu: float = 1.0
    bandwidth: float | None = None

    @classmethod
    def load(cls, path: str) -> ScalingTable:
        """From a JSON file. Raises InputError."""
        return cls.read(bounded_json.load(path, "scaling", "a readable JSON file with seconds by ranks"))

    @classmethod
    def read(cls, document: Any) -> ScalingTable:
        """From a document with `ranks` and perhaps `cpu` and `bandwidth`. Raises InputError."""
        if not isinstance(document, Mapping) or not isinstance(document.get("ranks"), Mapping):
            raise InputError("scaling", document, 'an object with ranks: {"ranks": {"2": 100, "4": 60}}')
        for key in document:
            if key not in ("ranks", "cpu", "bandwidth"):
                raise InputError("a key of scaling", key, "ranks, cpu or bandwidth")
        seconds = {_count(ranks): _seconds(ranks, raw) for ranks, raw in document["ranks"].items()}
        if not seconds:
            raise InputError("scaling.ranks", {}, ACCEPTED)
        bandwidth = document.get("bandwidth")
        return cls(
            dict(sorted(seconds.items())),
            _number("scaling.cpu", document.get("cpu", 1.0), "a fraction of a reference processor above 0"),
            None if bandwidth is None else _number("scaling.bandwidth", bandwidth, "bit/s above 0"),
        )

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `ScalingTable.read`."""
        parts = {str(n): {"compute": s.compute, "communicate": s.communicate} for n, s in self.seconds.items()}
        return {"ranks": parts, "cpu": self.cpu, **({} if self.bandwidth is None else {"bandwidth": self.bandwidth})}

    def predict(self, ranks: int, objective: Offer) -> float:
        """Seconds on a group that offers this: computing by its lowest cpu, communicating by its slowest pair; nothing
        for that where no pair takes a link. Where the table does not say its bandwidth, communicating takes as long as
        it says. Raises InputError for ranks below the least or above the most of the table."""
        seconds = self._between(ranks)
        slower = 1.0
        if objective.min_bandwidth is None:
            slower = 0.0
        elif self.bandwidth is not None:
            slower = self.bandwidth / objective.min_bandwidth if objective.min_bandwidth > 0 else math.inf
        talk = 0.0 if seconds.communicate == 0 else seconds.communicate * slower
        return seconds.compute * self.cpu / objective.min_cpu + talk if objective.min_cpu > 0 else math.inf

    def _between(self, ranks: int) -> Seconds:
        """The entry, or what lies between its neighbours where seconds are a power of the ranks."""
        counts = list(self.seconds)
        if not counts[0] <= ranks <= counts[-1]:
            raise InputError(
                "ranks", ranks, f"a number from {counts[0]} to {counts[-1]}, as the scaling table has them"
            )
        at = bisect_left(counts, ranks)
        if counts[at] == ranks:
            return self.seconds[ranks]
        low, high = counts[at - 1], counts[at]
        part = math.log(ranks / low) / math.log(high / low)
        first, last = self.seconds[low], self.seconds[high]
        return Seconds(_power(first.compute, last.compute, part), _power(first.communicate, last.communicate, part))


def counts_of(text: str, table: ScalingTable | None = None) -> list[int]:
    """Numbers of ranks from `8`, `2..16` or `2,4,8`; of a range with a table only those that it has, where it has some.
    Raises InputError.

    >>> counts_of("2..5"), counts_of("8"), counts_of("2..16", ScalingTable({2: Seconds(9), 4: Seconds(5)}))
    ([2, 3, 4, 5], [8], [2, 4])
    """
    accepted = f"a number of ranks, several as 2,4,8, or a range as 2..16, each from 1 to {MAX_RANKS}"
    first, dots, last = text.partition("..")
    parts = [first, last] if dots else text.split(",")
    if not all(part.strip().isascii() and part.strip().isdecimal() and len(part.strip()) < 6 for part in parts):
        raise InputError("ranks", text, accepted)
    numbers = [int(part) for part in parts]
    if not all(1 <= number <= MAX_RANKS for number in numbers) or (dots and numbers[0] > numbers[1]):
        raise InputError("ranks", text, accepted)
    if not dots:
        return sorted(set(numbers))
    inside = [number for number in table.seconds if numbers[0] <= number <= numbers[1]] if table else []
    return inside or list(range(numbers[0], numbers[1] + 1))


def _power(low: float, high: float, part: float) -> float:
    if low <= 0 or high <= 0:
        return low + (high - low) * part
    return float(low * (high / low) ** part)


def _count(raw: Any) -> int:
    text = str(raw)
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= MAX_RANKS):
        raise InputError("scaling.ranks", raw, f"numbers of ranks from 1 to {MAX_RANKS}")
    return int(text)


def _seconds(ranks: Any, raw: Any) -> Seconds:
    where = f"scaling.ranks.{ranks}"
    if not isinstance(raw, Mapping):
        return Seconds(_number(where, raw, "seconds above 0, or an object with compute and communicate"))
    for key in raw:
        if key not in ("compute", "communicate"):
            raise InputError(f"a key of {where}", key, "compute or communicate")
    compute = _number(f"{where}.compute", raw.get("compute"), "seconds above 0")
    return Seconds(compute, _number(f"{where}.communicate", raw.get("communicate", 0.0), "seconds from 0", zero=True))


def _number(field: str, raw: Any, accepted: str, *, zero: bool = False) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not math.isfinite(raw) or raw < 0:
        raise InputError(field, raw, accepted)
    if raw == 0 and not zero:
        raise InputError(field, raw, accepted)
    return float(raw)


#: Seconds on so many ranks on a group that offers this.
Predict = Callable[[int, Offer], float]
