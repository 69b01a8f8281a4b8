"""Parts are killed by SIGKILL. Who started them starts them again; a supervisor is started again by us."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from gridportal.base.errors import BackendError
from gridportal.testbed.client import Grid
from tests.chaos import parts, world
from tests.chaos.disturbances.base import Disturbance, Scene

_TWICE_AFTER = 1.5  # seconds between the two kills of one part
_MENDED_BY_GRIDD = ("slurmctld", "slurmd")


def known(scene: Scene) -> Iterable[Disturbance]:
    """One for each part that this portal has."""
    yield Nothing()
    yield KillSupervisor()
    for part in ("web", "web-child", "worker", "beat", "broker", "grid", "agent"):
        yield Kill(part)
    for part in ("broker", "worker", "web"):
        yield Kill(part, twice=True)
    if scene.has_postgres:
        yield Kill("database")
        yield Kill("database-backend")
    if scene.portal.has_slurm:
        for part in _MENDED_BY_GRIDD:
            yield KillSlurm(part)


@dataclass(frozen=True, slots=True)
class Nothing:
    """The measure of all others: how long a job takes when nothing was done."""

    name: str = "nothing"

    def begin(self, scene: Scene) -> str:
        """Nothing at all."""
        return "nothing"

    def end(self, scene: Scene) -> None:
        """Nothing is taken back."""


@dataclass(frozen=True, slots=True)
class Kill:
    """One process of a part, by chance, at once or twice in a row."""

    part: str
    twice: bool = False

    @property
    def name(self) -> str:
        """As it stands in the table."""
        return f"kill {self.part}{' twice' if self.twice else ''}"

    def begin(self, scene: Scene) -> str:
        """Kill it."""
        hit = [self._kill(scene)]
        if self.twice:
            time.sleep(_TWICE_AFTER)
            hit.append(self._kill(scene))
        return ", then ".join(hit)

    def end(self, scene: Scene) -> None:
        """The portal itself starts it again."""

    def _kill(self, scene: Scene) -> str:
        there = sorted(parts.of(self.part), key=lambda process: process.pid)
        return parts.kill([scene.rng.choice(there)] if there else [])


@dataclass(frozen=True, slots=True)
class KillSupervisor:
    """The supervisor itself: all its parts die with it."""

    name: str = "kill supervisor"

    def begin(self, scene: Scene) -> str:
        """Kill it."""
        return scene.portal.kill()

    def end(self, scene: Scene) -> None:
        """Start it again, as an administrator or systemd would."""
        scene.portal.start()


@dataclass(frozen=True, slots=True)
class KillSlurm:
    """A daemon of Slurm's, with jobs running; started again in the end, as systemd would."""

    part: str

    @property
    def name(self) -> str:
        """As it stands in the table."""
        return f"kill {self.part}"

    def begin(self, scene: Scene) -> str:
        """Kill it."""
        there = sorted(parts.of(self.part), key=lambda process: process.pid)
        return parts.kill([scene.rng.choice(there)] if there else [])

    def end(self, scene: Scene) -> None:
        """Start every daemon that has ended; one that refuses is tried again after the next disturbance."""
        grid = Grid(world.SLURM)
        for daemon in (grid.slurm_info() or {"daemons": []})["daemons"]:
            if daemon["state"] == "ended":
                what, _, node = daemon["name"].partition(":")
                _restart(grid, what, node or None)


def _restart(grid: Grid, what: str, node: str | None) -> None:
    for _ in range(5):
        try:
            grid.slurm("restart", what, node)
            return
        except BackendError:
            time.sleep(1)
    raise BackendError(f"{what} {node or ''} could not be started again.")
