"""Whether the checkpoints that lie in depots are still there: a node may be lost, and a Grid is built anew."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence

from gridportal.base.errors import GridPortalError
from gridportal.base.reasons import Code, Reason
from monitoring.clusters.selectors import compute_names, configured
from monitoring.telemetry.services import depots
from scheduling.checkpoints.models import Checkpoint
from scheduling.runs.services import checkpoint_facts, job_depots
from scheduling.runs.services.checkpoint_facts import Health

log = logging.getLogger(__name__)
#: So many at a time, the newest.
_MOST = 500


def look_into_depots() -> int:
    """Find the checkpoints with a shard of which no depot has a copy; how many are newly found.

    A depot that does not answer may have its shards still; a node that the cluster no longer has, has none.
    """
    return sum(_look(name) for name in configured())


def _look(cluster: str) -> int:
    whole = Checkpoint.objects.filter(job__cluster=cluster, health=Health.WHOLE, job__runtime_support__freed_at=None)
    rows = list(whole.exclude(depots=[]).select_related("job").order_by("-pk")[:_MOST])
    if not rows:
        return 0
    try:
        has = depots.usage(configured()[cluster], {node for row in rows for node in row.depots})
    except GridPortalError as error:
        log.info("The depots of %s were not asked for their checkpoints: %s", cluster, error)
        return 0
    known = set(compute_names(cluster))
    absent = {node: () for row in rows for node in row.depots if known and node not in known}
    return sum(_judge(row, {**has, **absent}) for row in rows)


def _judge(row: Checkpoint, has: Mapping[str, Collection[str]]) -> bool:
    """Whether a shard is gone; the row says so then, unless the program has let go of it meanwhile."""
    name = job_depots.name(row.job)
    empty = [node for node in row.depots if node in has and name not in has[node]]
    gone = sorted(set(_gone(row, empty)))
    if not gone:
        return False
    problem = Reason.of(Code.SHARDS_GONE, nodes=gone)
    same = Checkpoint.objects.filter(pk=row.pk, health=Health.WHOLE, written_at=row.written_at)
    log.info("job %s: checkpoint %s is looked for on %s in vain", row.job_id, row.number, gone)
    return bool(same.update(health=Health.INCOMPLETE, problem=problem))


def _gone(row: Checkpoint, empty: Sequence[str]) -> Iterator[str]:
    """The nodes of those shards all of whose copies were on `empty` nodes."""
    if not empty or (manifest := checkpoint_facts.manifest(row.job, row.number)) is None:
        return
    for nodes in manifest.copies:
        if set(nodes).issubset(empty):
            yield from nodes
