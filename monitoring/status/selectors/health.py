"""How the telemetry of a cluster goes: its sources, what probing costs each link, and what the store takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db.models import Count, Min, Sum
from django.db.models.functions import Length

from gridportal.network import rounds
from gridportal.web.templatetags.units import duration
from monitoring.clusters.models import Cluster
from monitoring.history.core.samples import Live, Series
from monitoring.history.models import Block, Frame, Snapshot
from monitoring.history.selectors import series as telemetry
from monitoring.status.selectors.network_status import network_status
from monitoring.telemetry import selectors
from monitoring.telemetry.models import Source

#: Paths of that many nodes are looked at to tell what a sweep costs a link.
_MOST_NODES = 100
_SIZES_FOR = 60.0
_COST = ("cost_bytes", "cost_seconds", "total_bytes", "total_seconds")
_SHOWN = ("name", "kind", "stale", "partly", "age", "lag", "samples", *_COST)


@dataclass(frozen=True)
class LinkCost:
    """What probing takes of one direction of a link, as a share of what it could carry. `at`: None for an estimate
    from the last sweep and the usual time between two. `together`: bit/s that transfers at once last had over it, None
    where pairs alone tell of it."""

    source: str
    target: str
    share: float
    at: datetime | None
    together: float | None = None


@dataclass(frozen=True)
class StoreSize:
    """Series and samples that are kept, and the bytes that they take; by tier points of raw, minutes and hours.
    `oldest`: Unix seconds of the first."""

    series: int
    samples: int
    bytes: int
    tiers: dict[str, int]
    oldest: float | None

    @property
    def since(self) -> datetime | None:
        """When the oldest sample is of."""
        return None if self.oldest is None else datetime.fromtimestamp(self.oldest, UTC)

    @property
    def bytes_per_sample(self) -> float | None:
        """Without the newest values, which are one row whatever the history."""
        return self.bytes / self.samples if self.samples else None


@dataclass(frozen=True)
class Health:
    """`bound`: the share of a link that probing may take at most; `costs`: the links it takes most of first."""

    cluster: Cluster
    sources: Sequence[Source]
    bound: float
    costs: Sequence[LinkCost]
    store: StoreSize

    @property
    def stale(self) -> list[Source]:
        """Sources that do not answer."""
        return [source for source in self.sources if source.stale]


def health(cluster: Cluster) -> Health:
    """Some ten queries; the size of the store is looked up once a minute at most."""
    sources = selectors.sources(cluster.name)
    key = f"store-size-{cluster.pk}"
    kept = cache.get(key)
    size = StoreSize(**kept) if kept else store_size(cluster)
    if not kept:
        cache.set(key, asdict(size), _SIZES_FOR)
    return Health(cluster, sources, settings.PORTAL.probe_share, probing(cluster), size)


def as_document(health: Health) -> dict[str, Any]:
    """The same as one document: bytes, seconds, shares of a link's peak."""
    store = asdict(health.store) | {"bytes_per_sample": health.store.bytes_per_sample}
    return {
        "cluster": health.cluster.name,
        "sources": [
            {
                **{name: getattr(source, name) for name in _SHOWN},
                "last_ok": source.last_ok.timestamp() if source.last_ok else None,
                "reason": reason(source),
            }
            for source in health.sources
        ],
        "probing": {
            "bound": health.bound,
            "links": [
                {
                    "source": one.source,
                    "target": one.target,
                    "share": one.share,
                    "estimated": one.at is None,
                    "together": one.together,
                }
                for one in health.costs
            ],
        },
        "store": store,
    }


def reason(source: Source) -> str:
    """Why a source is stale, in words; empty when it is not."""
    if not source.stale:
        return ""
    if source.error:
        return source.error
    if source.age is None:
        return "It never answered; is a worker running?"
    return f"No answer for {duration(source.age)}: three questions were missed; is a worker running?"


def _ends(subject: str) -> tuple[str, str]:
    """The two nodes of a subject such as n1>n2."""
    source, target = subject.split(">", 1)
    return source, target


def probing(cluster: Cluster) -> list[LinkCost]:
    """What probing takes of each link, most first: as agents counted it, or estimated from the last sweep."""
    live = telemetry.live(cluster.name)
    counted = [
        LinkCost(*_ends(subject), one.value, datetime.fromtimestamp(one.at, UTC))
        for (subject, metric), one in live.items()
        if metric == "probe_share" and ">" in subject
    ]
    inner = set(cluster.nodes.filter(kind="network").values_list("name", flat=True))
    costs = [_with_together(cost, live, inner) for cost in counted or _of_sweeps(cluster)]
    return sorted(costs, key=lambda cost: (-cost.share, cost.source, cost.target))


def store_size(cluster: Cluster) -> StoreSize:
    """Counted over all rows of the cluster's history."""
    blocks = Block.objects.filter(page__cluster=cluster).values_list("tier")
    by_tier = {
        tier: (many or 0, size or 0)
        for tier, many, size in blocks.annotate(many=Sum("samples"), size=Sum(Length("data")))
    }
    fresh = Frame.objects.filter(page__cluster=cluster).aggregate(
        Sum("samples"), size=Sum(Length("data")), first=Min("oldest")
    )
    starts = Block.objects.filter(page__cluster=cluster).aggregate(first=Min("start"), many=Count("pk"))
    names = dict(Block.TIERS)
    tiers = {names[tier]: by_tier.get(tier, (0, 0))[0] for tier in names}
    tiers["raw"] += fresh["samples__sum"] or 0
    firsts = [first for first in (fresh["first"], starts["first"]) if first is not None]
    has_snapshot = Snapshot.objects.filter(cluster=cluster).exists()
    return StoreSize(
        len(telemetry.live(cluster.name)) if has_snapshot else 0,
        sum(tiers.values()),
        sum(size for _, size in by_tier.values()) + (fresh["size"] or 0),
        tiers,
        min(firsts) / 1000 if firsts else None,
    )


def _with_together(cost: LinkCost, live: Mapping[Series, Live], inner: Set[str]) -> LinkCost:
    """Between two nodes that compute it would be the rate of the pair. `inner`: names of the others."""
    together = live.get((f"{cost.source}>{cost.target}", "bandwidth"))
    return replace(cost, together=together.value) if together and inner & {cost.source, cost.target} else cost


def _of_sweeps(cluster: Cluster) -> list[LinkCost]:
    """A sweep sends about as much between every two nodes; the next comes after the usual time."""
    status = network_status(cluster.name) if cluster.probe_bytes else None
    names = [node.id for node in status.topology.compute_nodes()] if status else []
    if status is None or not 1 < len(names) <= _MOST_NODES:
        return []
    pairs = [(a, b) for a in names for b in names if a != b]
    ways = rounds.ways_of(status.topology)
    sent = [(pair, (cluster.probe_bytes or 0) // len(pairs)) for pair in pairs]
    capacity = {(link.source, link.target): link.capacity for link in status.topology.links}
    every = settings.PORTAL.measure_every
    return [
        LinkCost(a, b, 8 * size / every / (capacity.get((a, b)) or capacity[b, a]), None)
        for (a, b), size in rounds.carried(sent, ways).items()
    ]
