"""The least that a skeleton ever predicted for its application, as its row keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gridportal.base.entries import Entries, number, text


@dataclass(frozen=True, slots=True)
class BestPrediction:
    """Seconds of the application and of the skeleton, in rank order the nodes that it ran on, their cluster, and when,
    as ISO time. What an earlier version did not keep is None or empty."""

    predicted: float
    seconds: float | None = None
    nodes: tuple[str, ...] = ()
    cluster: str = ""
    at: str = ""

    @classmethod
    def read(cls, document: object) -> BestPrediction:
        """From its document. Raises InputError that names the entry which is missing or of another kind."""
        entries = Entries(document, "reference")
        return cls(
            predicted=entries.required("predicted", number),
            seconds=entries.optional("seconds", number),
            nodes=entries.list_of("nodes", text),
            cluster=entries.optional("cluster", text) or "",
            at=entries.optional("at", text) or "",
        )

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `BestPrediction.read`."""
        return asdict(self)
