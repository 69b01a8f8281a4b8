"""Parts stand still, longer than a lease lasts, and go on as if nothing had been."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.chaos import parts
from tests.chaos.disturbances.base import Disturbance, Scene

_PAST_A_LEASE = 6.0  # seconds more than the schedule says; a lease is 4 s here


def known(scene: Scene) -> Iterable[Disturbance]:
    """One for each part that this portal has."""
    names = ["supervisor", "web-child", "worker", "beat", "broker", "grid"]
    names += ["database-backend", "database"] if scene.has_postgres else []
    names += ["slurmctld", "slurmd"] if scene.portal.has_slurm else []
    return [Stop(name) for name in names]


@dataclass(slots=True)
class Stop:
    """Every process of a part: SIGSTOP, and SIGCONT in the end."""

    part: str
    stopped: list[parts.Process] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As it stands in the table."""
        return f"stop {self.part}"

    def begin(self, scene: Scene) -> str:
        """Stop them, and give leases the time to run out."""
        self.stopped = parts.of(self.part)
        for process in self.stopped:
            process.send(signal.SIGSTOP)
        time.sleep(_PAST_A_LEASE)
        return ", ".join(f"{process.part} {process.pid}" for process in self.stopped) or "nobody was there"

    def end(self, scene: Scene) -> None:
        """Let them go on; the supervisor may have ended some."""
        for process in self.stopped:
            process.send(signal.SIGCONT)
