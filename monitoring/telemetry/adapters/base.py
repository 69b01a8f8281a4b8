"""What every source of telemetry answers."""

from __future__ import annotations

from typing import Protocol

from gridportal.network.sweep_result import ClusterFacts, Look, Measurement
from monitoring.history.core.samples import Collected


class Telemetry(Protocol):
    """Where the figures of a cluster come from. Every question raises BackendError when it is not answered."""

    def facts(self) -> ClusterFacts:
        """Structure, peaks, and what a job may ask for."""

    def measure(self) -> Measurement:
        """One sweep over the network, where it can be measured; the loads of the nodes always."""

    def look(self) -> Look:
        """The nodes of this moment, without any transfer."""


class SourceAdapter(Protocol):
    """A source that is asked for samples at regular times. `name` is its own within the cluster, `kind` what it is."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...

    def collect(self, now: float) -> Collected:
        """Everything that it has to tell, once. `now` is Unix seconds. Raises BackendError when it does not answer."""
