"""Whether a group that somebody names is still what a job's request, and the ads of its nodes, ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monitoring.status.selectors.network_status import network_status
from scheduling.jobs.models import Job
from scheduling.matching.selectors import resource_ads
from scheduling.placing.services.choosing import answer
from scheduling.placing.services.matched_nodes import of_moved
from scheduling.placing.services.requests import question, read_pattern


def check_group(job: Job, nodes: Sequence[str]) -> None:
    """Raises ImpossibleError where the request does not match these nodes, all of them together, as they are now.

    Nothing is asked for a job without a request on a cluster without ads of administrators, nor while nothing is
    measured.
    """
    if not nodes or not (job.classad.strip() or resource_ads(job.cluster).exists()):
        return
    status = network_status(job.cluster, when=job.requirements.figures)
    if status is None:
        return
    others = frozenset(node.id for node in status.topology.compute_nodes()) - frozenset(nodes)
    asked = replace(question(job, read_pattern(job)), exclude=others, slots=None)
    asked = replace(asked, ranks=len(nodes), nodes=len(set(nodes)), ranks_per_node=None, pattern=None)
    of_moved(job, answer).check_named(status, asked, list(dict.fromkeys(nodes)))
