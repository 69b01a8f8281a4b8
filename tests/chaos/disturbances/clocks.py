"""The wall clock of all the portal's processes is moved, and set right again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.chaos import clock
from tests.chaos.disturbances.base import Disturbance, Scene

_SHIFTS = (3600, -3600, 45, -45)  # seconds


def known(scene: Scene) -> Iterable[Disturbance]:
    """None where there is no C compiler."""
    return [Move(seconds) for seconds in _SHIFTS] if clock.compiler() else []


@dataclass(frozen=True, slots=True)
class Move:
    """So many seconds ahead, or back."""

    seconds: int

    @property
    def name(self) -> str:
        """As it stands in the table."""
        return f"clock {self.seconds:+d} s"

    def begin(self, scene: Scene) -> str:
        """Move it."""
        clock.shift(self.seconds)
        return "every process of the portal"

    def end(self, scene: Scene) -> None:
        """Set it right."""
        clock.shift(0)
