"""Which processes made no progress for too long, and so have to be ended by their supervisor."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from gridportal.base.heartbeat import Board
from gridportal.serve import kernel_view
from gridportal.serve.progress import LONGEST_LOOK, Progress, Sample


class Beats(StrEnum):
    """Who of a process counts rounds."""

    NONE = "none"  # a server: only its death counts
    ITSELF = "itself"
    CHILDREN = "children"  # gunicorn's workers; of the one above them only that it is not stopped


@dataclass
class Watch:
    """The progress of the processes that do the work of one part."""

    beats: Beats
    progress: dict[int, Progress] = field(default_factory=dict)  # by process id
    _looks: int = 0  # at gunicorn's master while nobody had stopped it

    def look(self, pid: int, board: Board, elapsed: float) -> None:
        """Take a look at all of them, `elapsed` seconds after the one before."""
        rounds = board.rounds()
        pids = {pid, *kernel_view.children(pid)} if self.beats is Beats.CHILDREN else {pid}
        self.progress = {each: self.progress.get(each, Progress()) for each in pids}
        for each, progress in self.progress.items():
            progress.observe(self._sample(each, pid, rounds), elapsed)

    @property
    def silent(self) -> float:
        """Seconds since the last round of the one that was silent longest."""
        return max((progress.silent for progress in self.progress.values() if progress.is_slow), default=0.0)

    def stuck(self) -> list[int]:
        """The ids of those to be ended."""
        return [pid for pid, progress in self.progress.items() if progress.is_stuck]

    def forgive(self) -> None:
        """Count anew: they wait for somebody else."""
        for progress in self.progress.values():
            progress.forgive()

    def _sample(self, each: int, pid: int, rounds: dict[int, int]) -> Sample:
        if each == pid and self.beats is Beats.CHILDREN:
            state = kernel_view.state(each)
            self._looks += state != "T"
            return Sample(self._looks, state=state)
        return kernel_view.sample(each, rounds.get(each) or None)


@dataclass
class Clock:
    """How long ago the last look was, no more than a look may count."""

    last: float | None = None

    def elapsed(self, now: float) -> float:
        """Seconds since the call before this."""
        last, self.last = self.last, now
        return 0.0 if last is None else min(LONGEST_LOOK, max(0.0, now - last))
