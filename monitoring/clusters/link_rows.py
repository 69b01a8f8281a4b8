"""The links of a large cluster, read from the database straight into columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np
from django.db.models import TextField
from django.db.models.functions import Cast, Coalesce

from gridportal.network.link_table import Floats, Ints, LinkTable
from monitoring.clusters.models import Cluster, Link


class Named(Protocol):
    """A row of a node."""

    @property
    def pk(self) -> int: ...
    @property
    def name(self) -> str: ...


def link_table(cluster: Cluster, rows: Sequence[Named]) -> LinkTable:
    """All links of a cluster, in the order of their nodes among `rows`, all of its nodes. What no measurement crossed
    has its peak. One query; half a million links take about a second."""
    found = _rows(cluster)
    place = {node.pk: at for at, node in enumerate(rows)}
    source, target = (np.array([place[row[end]] for row in found], dtype=np.int64) for end in (0, 1))
    capacity, bandwidth, latency = (np.array([row[at] for row in found], dtype=np.float64) for at in (2, 3, 4))
    seconds = _seconds([row[5] for row in found])
    origin = [(row[6] or "probe") if row[5] else "" for row in found]
    order: Ints = np.lexsort((target, source))
    none: Floats = np.full(len(found), np.nan)
    return LinkTable(
        [node.name for node in rows],
        source[order],
        target[order],
        capacity[order],
        bandwidth[order],
        latency[order],
        used=none,
        low=none,
        high=none,
        measured_at=seconds[order],
        origin=[origin[at] for at in order.tolist()],
    )


def _rows(cluster: Cluster) -> list[tuple[Any, ...]]:
    """Moments as text: to make a datetime of each takes most of the time, and many links have the same."""
    links = Link.objects.filter(cluster=cluster).order_by()
    columns = ("source_id", "target_id", "capacity", Coalesce("bandwidth", "capacity"), Coalesce("latency", 0.0))
    return list(links.values_list(*columns, Cast("measured_at", TextField()), "origin"))


def _seconds(moments: Sequence[str | None]) -> Floats:
    """Unix seconds, NaN for none."""
    known = {text: _at(text) for text in set(moments) if text}
    return np.array([known.get(text, np.nan) if text else np.nan for text in moments], dtype=np.float64)


def _at(text: str) -> float:
    """SQLite keeps moments in UTC without saying so.

    >>> _at("1970-01-01 00:00:01.5"), _at("1970-01-01 00:00:01+00")
    (1.5, 1.0)
    """
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
