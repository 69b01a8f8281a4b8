"""What every source of telemetry answers."""

from __future__ import annotations

from typing import Protocol

from monitoring.core.measurement import ClusterFacts, Look, Measurement


class Telemetry(Protocol):
    """Where the figures of a cluster come from. Every question raises BackendError when it is not answered."""

    def facts(self) -> ClusterFacts:
        """Structure, peaks, and what a job may ask for."""

    def measure(self) -> Measurement:
        """One sweep over the network, where it can be measured; the loads of the nodes always."""

    def look(self) -> Look:
        """The nodes of this moment, without any transfer."""
