"""The sources of each cluster's figures, and what is noted of them: when they last answered, and why not.

A new kind of source is one line in MAKERS: a function that makes the adapter from the cluster's settings, or None
where the cluster has no such source.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from django.db.models import F
from django.utils import timezone

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import InputError
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import configured, setting
from monitoring.telemetry.adapters.base import SourceAdapter
from monitoring.telemetry.adapters.look import LookSource
from monitoring.telemetry.models import Source
from monitoring.telemetry.services import agents, outside, reach

__all__ = ["MAKERS", "SourceAdapter", "note_source", "source_row", "sources_of"]

Maker = Callable[[Setting], SourceAdapter | None]


def _look(name: str) -> Maker:
    """Cpu and load of the nodes, as the cluster itself says; of a Slurm the emulated Grid below it."""
    return lambda cluster: LookSource(name, name, lambda: reach.telemetry(cluster.name))


_grid = _look("grid")
_BY_BACKEND: dict[str, Maker] = {"grid": _grid, "slurm": outside.slurm, "local": _look("local")}


def _below(cluster: Setting) -> SourceAdapter | None:
    return _grid(cluster) if cluster.probe == "grid" and not cluster.traits.part_of_portal else None


def _own(cluster: Setting) -> SourceAdapter | None:
    return _BY_BACKEND[cluster.backend](cluster)


MAKERS: list[Maker] = [_below, _own, agents.source, outside.prometheus]


def sources_of(cluster: str) -> list[SourceAdapter]:
    """The sources of a cluster that is set up; their names differ. Raises InputError for a cluster that is not."""
    found = setting(cluster)
    made = [source for make in MAKERS if (source := make(found)) is not None]
    names = [source.name for source in made]
    if len(set(names)) < len(names):
        raise InputError("clusters", cluster, "sources of different names")
    return made


def note_source(
    cluster_name: str,
    source: str,
    *,
    kind: str = "",
    ok_at: float | None = None,
    error: str = "",
    lag: float | None = None,
    cost_bytes: int = 0,
    cost_seconds: float = 0.0,
) -> None:
    """Write down how asking a source went. `ok_at` (Unix seconds): it answered; an `error` stays until it
    does again, with when it was first told. What is older than the last answer changes neither.

    Costs and `lag` are those of this one time; costs are also added up.
    """
    row = source_row(cluster_name, source, kind)
    row.polled_at = timezone.now()
    began = row.error_at if row.error else None
    answered = datetime.fromtimestamp(ok_at, UTC) if ok_at is not None else None
    if answered and (row.last_ok is None or row.last_ok <= answered or row.last_ok > row.polled_at):
        row.last_ok, row.error, row.error_at = answered, "", None
    if error:
        row.error, row.error_at = error, began or row.polled_at
    if lag is not None:
        row.lag = lag
    row.cost_bytes, row.cost_seconds = cost_bytes, cost_seconds
    row.save(update_fields=["polled_at", "last_ok", "error", "error_at", "lag", "cost_bytes", "cost_seconds"])
    Source.objects.filter(pk=row.pk).update(
        total_bytes=F("total_bytes") + cost_bytes, total_seconds=F("total_seconds") + cost_seconds
    )


def source_row(cluster: str, name: str, kind: str = "") -> Source:
    """The source's row, made the first time."""
    owner, _ = Cluster.objects.get_or_create(name=cluster, defaults={"backend": _backend(cluster)})
    row, made = Source.objects.get_or_create(cluster=owner, name=name, defaults={"kind": kind or name})
    if not made and kind and row.kind != kind:
        Source.objects.filter(pk=row.pk).update(kind=kind)
    return row


def _backend(cluster: str) -> str:
    found = configured().get(cluster)
    return found.backend if found else "grid"
