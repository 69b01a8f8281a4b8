"""What asking agents brings: answers, or the reasons why there are none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gridportal.runtime.agent.frames import parsed


class Answer(NamedTuple):
    """What an agent said, surely it. `sent` and `arrived`: Unix seconds by the portal's clock."""

    body: bytes
    sent: float
    arrived: float

    @property
    def document(self) -> dict[str, Any]:
        """What it said, read anew each time. RefusedError when it is no JSON object."""
        return parsed(self.body)

    @property
    def clock_offset(self) -> float:
        """By how many seconds the agent's clock is ahead, as NTP reckons it (half a round trip is its accuracy)."""
        return self.offset_of(self.document)

    def offset_of(self, document: Mapping[str, Any]) -> float:
        """The same, of a document that was read already."""
        received, answered = _clock(document)
        return ((received - self.sent) + (answered - self.arrived)) / 2

    @property
    def round_trip(self) -> float:
        """Seconds on the way, without what the agent took."""
        return self.way_of(self.document)

    def way_of(self, document: Mapping[str, Any]) -> float:
        """The same, of a document that was read already."""
        received, answered = _clock(document)
        return max(0.0, (self.arrived - self.sent) - (answered - received))


def _clock(document: Mapping[str, Any]) -> tuple[float, float]:
    received, answered = map(float, document["clock"])
    if not (math.isfinite(received) and math.isfinite(answered)):
        raise ValueError("its clock is no number")
    return received, answered


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an agent did not answer, since when (Unix seconds), and when it last did (None: not to this process)."""

    reason: str
    since: float
    last_ok: float | None


@dataclass(frozen=True, slots=True)
class Round:
    """What asking brought: by node an answer or a failure; seconds until the last one, bytes sent and received."""

    answers: Mapping[str, Answer]
    failures: Mapping[str, Failure]
    seconds: float
    bytes: int
