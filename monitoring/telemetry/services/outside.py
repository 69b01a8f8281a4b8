"""Sources that are somebody else's: Slurm's own figures of its nodes, and a Prometheus that watches them."""

from __future__ import annotations

import os

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import BackendError
from monitoring.clusters.models import Node
from monitoring.history.core.samples import Collected
from monitoring.telemetry.adapters.base import SourceAdapter
from monitoring.telemetry.adapters.prometheus import PrometheusSource
from monitoring.telemetry.adapters.slurm_samples import SlurmSamples
from monitoring.telemetry.models import Source
from monitoring.telemetry.services.slurm_access import SlurmFacts


def slurm(cluster: Setting) -> SlurmSamples:
    """Slurm's figures; cpu and load only where no emulated Grid below measures them."""
    return SlurmSamples(lambda: SlurmFacts(cluster).nodes(), loads=cluster.probe != "grid")


def prometheus(cluster: Setting) -> SourceAdapter | None:
    """The Prometheus of the setting, from where the portal's knowledge ends, about the cluster's nodes only."""
    setting = cluster.prometheus
    if setting is None:
        return None
    header = os.environ.get(setting.authorization, "") if setting.authorization else ""
    if setting.authorization and not header:
        return _Unready("prometheus", f"The variable {setting.authorization} for {setting.url} is not set.")
    known = (
        Source.objects.filter(cluster__name=cluster.name, name="prometheus").values_list("last_ok", flat=True).first()
    )
    nodes = Node.objects.filter(cluster__name=cluster.name, kind="compute").values_list("name", flat=True)
    return PrometheusSource("prometheus", setting, header, frozenset(nodes), known.timestamp() if known else None)


class _Unready:
    """A source that cannot be asked, and says why where it would be."""

    def __init__(self, kind: str, why: str) -> None:
        self.name = self.kind = kind
        self._why = why

    def collect(self, now: float) -> Collected:
        raise BackendError(self._why)
