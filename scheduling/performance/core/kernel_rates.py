"""What one processor of the reference node does, measured by benchmarks of the kernels of the programs here."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

from gridportal.base.entries import Entries, number, sequence
from gridportal.base.errors import InputError

#: Points of a block, and seconds of one sweep of a stencil over it.
Sweep = tuple[float, float]


@dataclass(frozen=True, slots=True)
class KernelRates:
    """product: flop/s of a matrix product whose inner side is a block; narrow: of one with half a block.

    column: seconds to reduce one column of a panel of QR, whatever its length; column_row: for each of its rows
    besides; pivot, pivot_row: the same for LU. move: seconds to exchange one element of two rows. fill: seconds to make
    one element of the matrix in memory that nobody has touched; check: the same, a few rows at a time. sweeps: seconds
    of a sweep of a stencil over blocks of several sizes, the smallest first. share: what a node of speed 1 has of the
    processor that was measured.
    """

    product: float
    narrow: float
    column: float
    column_row: float
    pivot: float
    pivot_row: float
    move: float
    fill: float
    check: float
    sweeps: tuple[Sweep, ...]
    share: float = 1.0

    def sweep(self, points: float) -> float:
        """Seconds of a sweep over a block of so many points: between two sizes that were measured a line through the
        logarithms, for caches make the small ones faster; beyond them in proportion.

        >>> rates = KernelRates(*[1e-9] * 9, sweeps=((100.0, 1e-5), (10000.0, 1e-4)))
        >>> [round(rates.sweep(points), 7) for points in (10, 1000, 20000)]
        [1e-05, 3.16e-05, 0.0002]
        """
        if points <= self.sweeps[0][0]:
            return self.sweeps[0][1]
        if points >= self.sweeps[-1][0]:
            return self.sweeps[-1][1] * points / self.sweeps[-1][0]
        after = bisect_left([size for size, _ in self.sweeps], points)
        (size, seconds), (larger, longer) = self.sweeps[after - 1 : after + 1]
        share = math.log(points / size) / math.log(larger / size)
        return seconds * math.pow(longer / seconds, share)

    def on(self, share: float) -> KernelRates:
        """The rates of a reference node that gets this share of the processor that was measured."""
        return KernelRates(
            product=self.product * share,
            narrow=self.narrow * share,
            column=self.column / share,
            column_row=self.column_row / share,
            pivot=self.pivot / share,
            pivot_row=self.pivot_row / share,
            move=self.move / share,
            fill=self.fill / share,
            check=self.check / share,
            sweeps=tuple((points, seconds / share) for points, seconds in self.sweeps),
            share=self.share * share,
        )

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        return {**{name: getattr(self, name) for name in _NUMBERS}, "sweeps": [list(each) for each in self.sweeps]}

    @classmethod
    def read(cls, document: object) -> KernelRates:
        """From a document of `document`. Raises InputError for another kind."""
        entries = Entries(document, "rates")
        numbers = {name: entries.required(name, number) for name in _NUMBERS}
        sweeps = tuple(entries.list_of("sweeps", _sweep))
        sizes = [size for size, _ in sweeps]
        if not sweeps or sizes != sorted(set(sizes)) or min(min(each) for each in sweeps) <= 0:
            raise InputError("sweeps", sweeps, "pairs of points and seconds above 0, the smallest first")
        return cls(**numbers, sweeps=sweeps)


#: What is measured beside the sweeps.
_NUMBERS = ("product", "narrow", "column", "column_row", "pivot", "pivot_row", "move", "fill", "check")


def _sweep(value: object) -> Sweep:
    points, seconds = map(number, sequence(value))
    return points, seconds
