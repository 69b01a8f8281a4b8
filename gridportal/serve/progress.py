"""Whether a process makes progress: slow is not dead.

What counts against a process is time in which it could have gone on and did not. Time in which it waited for a
processor or for memory from the disk is not its fault, nor is time in which its supervisor was kept from looking
(a suspended laptop, a machine that is too busy for both). A process that spins without a round has its processor and
counts; one that is blocked counts; one that somebody stopped counts. Values in, values out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SLOW_AFTER = 5.0  # seconds without a round
STUCK_AFTER = 60.0  # seconds without a round in which there could have been one
STUCK_AT_START = 300.0  # the same before the first round
LONGEST_LOOK = 2.0  # seconds that one look counts at most: what is more, the supervisor was kept from looking


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at a process."""

    rounds: int | None  # None: it has not begun to count
    waits: Mapping[int, float] = field(default_factory=dict)  # thread: seconds it has waited for a processor in all
    faults: int = 0  # times it has waited for memory from a disk
    state: str = "S"  # the kernel's letter: R runs, S sleeps, D waits for a disk, T is stopped


@dataclass
class Progress:
    """How long a process has made none."""

    silent: float = 0.0  # seconds since its last round
    stalled: float = 0.0  # of these, seconds that count against it
    _last: Sample | None = None

    @property
    def is_slow(self) -> bool:
        """Whether people should hear of it: it had begun, and goes on slowly or not at all."""
        return self._has_begun and self.silent >= SLOW_AFTER

    @property
    def is_stuck(self) -> bool:
        """Whether it should be ended and started again."""
        return self.stalled >= (STUCK_AFTER if self._has_begun else STUCK_AT_START)

    @property
    def _has_begun(self) -> bool:
        return self._last is not None and self._last.rounds is not None

    def observe(self, sample: Sample, elapsed: float) -> None:
        """Take a look, `elapsed` seconds after the one before."""
        last, self._last = self._last, sample
        if last is None or sample.rounds != last.rounds:
            self.silent = self.stalled = 0.0
            return
        self.silent += elapsed
        self.stalled += lost(last, sample, elapsed)

    def forgive(self) -> None:
        """Start to count anew: it waits for somebody else."""
        self.stalled = 0.0


def lost(before: Sample, after: Sample, elapsed: float) -> float:
    """Seconds between two looks in which a process could have gone on.

    >>> lost(Sample(7), Sample(7), 0.5)
    0.5
    >>> lost(Sample(7, {1: 2.0}), Sample(7, {1: 2.4}), 0.5)  # it waited 0.4 s for a processor
    0.1
    """
    if after.state == "D" or after.faults > before.faults:
        return 0.0
    waited = max((total - before.waits.get(thread, 0.0) for thread, total in after.waits.items()), default=0.0)
    return round(max(0.0, min(elapsed, LONGEST_LOOK) - max(0.0, waited)), 6)
