"""How many ranks, and on which nodes, chosen together from what is known of a program's scaling."""

from __future__ import annotations

from dataclasses import replace

from gridportal.base.errors import ImpossibleError
from monitoring.status.selectors.network_status import network_status
from scheduling.jobs.core import ranks
from scheduling.jobs.core.scaling_table import ScalingTable
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.selectors.occupancy import occupancy
from scheduling.placing.services.choosing import answer, on_free_nodes
from scheduling.placing.services.requests import question, read_pattern, with_cluster_defaults
from scheduling.selection.core.counts.rank_counts import CountChoice, choose_count
from scheduling.selection.core.placement import Selection

#: So many numbers of ranks are looked at, the first of those that the program can have.
MOST_COUNTS = 12
#: Seconds for all of them, and for one at least.
SECONDS, LEAST = 0.6, 0.05


def best_count(spec: JobSpec, table: ScalingTable) -> CountChoice | None:
    """Of the numbers in the table each with its best free nodes at this moment; None where none is possible, or nothing
    is measured.

    Source: Selection 1999, 3.4 (variable number of execution nodes). Raises nothing: a number that cannot be says why.
    """
    status = network_status(spec.cluster, when=spec.requirements.figures)
    counts = [each for each in table.seconds if ranks.allows(spec.application.rank_limits, each)][:MOST_COUNTS]
    if status is None or not counts:
        return None
    options = with_cluster_defaults(spec.options, spec.cluster)
    budget = max(LEAST, SECONDS / len(counts))

    def best(count: int) -> Selection:
        one = with_count(spec, count)
        asked = replace(question(one, read_pattern(one)), time_budget=budget, candidates=1)
        seen = occupancy(spec.cluster, options, spec.time_limit, one.rank_request, mpi=spec.application.mpi)
        return answer(status, on_free_nodes(asked, seen))

    try:
        return choose_count(counts, best, table.predict)
    except ImpossibleError:
        return None


def with_count(spec: JobSpec, count: int) -> JobSpec:
    """The same with another number of ranks: each on a node of its own where they were, else on nodes left open."""
    own_node = spec.rank_request.nodes_asked == spec.rank_request.total
    return replace(spec, ranks=count, node_count=count if own_node else None)
