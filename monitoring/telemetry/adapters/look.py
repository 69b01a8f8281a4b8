"""The load of all nodes as a source of samples, from whoever runs the cluster: the emulated Grid or Slurm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from monitoring.history.core.samples import Collected, Sample
from monitoring.telemetry.adapters.base import Telemetry


@dataclass(frozen=True)
class LookSource:
    """One look per question; it costs the network nothing. `telemetry` is asked for anew each time."""

    name: str
    kind: str
    telemetry: Callable[[], Telemetry]

    def collect(self, now: float) -> Collected:
        """Cpu and load of every node. Raises BackendError."""
        loads = self.telemetry().look().loads
        samples = [Sample(load.node, "cpu", now, load.cpu) for load in loads]
        samples += [Sample(load.node, "load", now, load.load) for load in loads]
        return Collected(tuple(samples))
