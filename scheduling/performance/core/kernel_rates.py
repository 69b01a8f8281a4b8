"""What one processor of the reference node does, measured by benchmarks of the kernels of dense programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gridportal.base.entries import Entries, number


@dataclass(frozen=True, slots=True)
class KernelRates:
    """product: flop/s of a matrix product whose inner side is a block; narrow: of one with half a block.

    column: seconds to treat one column of a panel, whatever its length; column_row: for each of its rows besides.
    move: seconds to exchange one element of two rows. fill: seconds to make one element of the matrix.
    """

    product: float
    narrow: float
    column: float
    column_row: float
    move: float
    fill: float

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        return asdict(self)

    @classmethod
    def read(cls, document: object) -> KernelRates:
        """From a document of `document`. Raises InputError for another kind."""
        entries = Entries(document, "rates")
        return cls(*(entries.required(name, number) for name in cls.__dataclass_fields__))
