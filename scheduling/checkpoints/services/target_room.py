"""Whether the nodes that a move names, or any for as many ranks as it asks for, have room when all of them are free.

The slots of nodes count as they do for a new job (`placing.services.rank_room`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gridportal.base.errors import InputError
from gridportal.base.rank_places import ranks_by_node
from monitoring.clusters import selectors
from scheduling.checkpoints.core.targets import Target
from scheduling.checkpoints.services.reserving import spec_on
from scheduling.jobs.core.cluster_options import default_partition
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.models import Job
from scheduling.placing.core.room import NodeRoom
from scheduling.placing.selectors import rooms
from scheduling.placing.services.rank_room import least_nodes
from scheduling.placing.services.requests import with_cluster_defaults


def check_room(job: Job, asked: Target, before: Sequence[str]) -> None:
    """Raises InputError where there is no such room. `before`: where the job ran, rank by rank."""
    if asked.nodes:
        _check_named(job, asked)
    else:
        _check_count(job, asked, before)


def _check_named(job: Job, asked: Target) -> None:
    known, needs = rooms.rooms(job.cluster), job.rank_request
    for name, ranks in ranks_by_node(asked.nodes).items():
        most = _slots(known[name], needs) if name in known else ranks
        if ranks > most:
            raise InputError(
                "nodes", f"{ranks} ranks on {name}", f"at most {most} there, so many slots it has for them"
            )


def _slots(room: NodeRoom, needs: RankRequest) -> int:
    """Who names a node may have more ranks there than the job asked for, where its processors are known."""
    return room.slots(needs if room.cpus is None else replace(needs, ranks_per_node=None))


def _check_count(job: Job, asked: Target, before: Sequence[str]) -> None:
    needs = spec_on(job, asked.ranks, before).rank_request
    offers, size = selectors.offers_and_size(job.cluster)
    if size and needs.least_nodes() > size:
        have = f"a number that takes at most {size} nodes, all that {job.cluster} has; these take {needs.least_nodes()}"
        raise InputError("ranks", asked.ranks, have)
    options = with_cluster_defaults(job.options, job.cluster)
    try:
        least_nodes(needs, job.cluster, options.partition or default_partition(offers))
    except InputError as error:
        raise InputError("ranks", asked.ranks, error.accepted) from error
