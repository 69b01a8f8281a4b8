"""What a move of one job would cost: the paper's worst case, and as predicted from this cluster and this program.

Source: Migration 2003, table I and 8.3. Predicted are the phases that can be: reading with redistribution by simulating
the reads between the nodes, the wait in the queue by the queue's own forecast, writing, start and the rest by what
earlier moves took, and the start, where nobody has moved yet, by what this run took; a phase that nobody can predict
costs what the worst case says. What is done on the nodes that the job leaves is slowed down as the job is now.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from django.utils import timezone

from gridportal.base.errors import GridPortalError
from gridportal.network.topology import Topology
from gridportal.runtime.srs.redistribution import Message
from monitoring.clusters.selectors import traits
from scheduling.checkpoints.core import redistribution_time
from scheduling.checkpoints.core.arrays_elsewhere import reads
from scheduling.checkpoints.models import Checkpoint, RuntimeSupport
from scheduling.checkpoints.services.reserving import NodeChoice
from scheduling.contracts.selectors import promises
from scheduling.rescheduling.core.move_cost import CostKind, CostPhase, MoveCost, predicted, worst_case
from scheduling.rescheduling.core.slowed_phases import EarlierMove, estimates, slowdown_of
from scheduling.rescheduling.models import ReschedulingPolicy
from scheduling.rescheduling.selectors import measured_phases
from scheduling.rescheduling.services import queue_waits
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.checkpoint_manifest import ArrayFacts
from scheduling.runs.core.continuation_states import ContinuationState
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport

#: So many of the latest moves of an application are looked at.
_LATEST = 20


def without_nodes(policy: ReschedulingPolicy) -> dict[CostKind, MoveCost]:
    """The costs of a move to nowhere: as the worst case has it."""
    worst = worst_case(policy.cost_scale)
    return {CostKind.PREDICTED: predicted({}, worst), CostKind.WORST_CASE: worst}


def costs(run: Run, choice: NodeChoice, policy: ReschedulingPolicy) -> dict[CostKind, MoveCost]:
    """Both costs of moving the job of `run` to the nodes of `choice`."""
    worst = worst_case(policy.cost_scale)
    return {CostKind.PREDICTED: predicted(predicted_phases(run, choice), worst), CostKind.WORST_CASE: worst}


def predicted_phases(run: Run, choice: NodeChoice) -> dict[CostPhase, float]:
    """Seconds of each phase that somebody can predict."""
    slowdown = slowdown_now(run, choice.topology)
    phases = {**_own_start(run), **_earlier(run, slowdown), **_chosen_in(choice), **_wait(run, choice)}
    reading = _redistribution(run, choice)
    return phases if reading is None else {**phases, CostPhase.REDISTRIBUTION: reading}


def _earlier(run: Run, slowdown: float) -> dict[CostPhase, float]:
    """By what each phase took in earlier moves of the application on its cluster."""
    rows = Continuation.objects.filter(
        job__application=run.job.application_id, job__cluster=run.job.cluster, state=ContinuationState.MOVED
    )
    latest = rows.select_related("source__placement", "source__contract").order_by("-pk")[:_LATEST]
    return estimates([EarlierMove(measured_phases(row), _slowdown_then(row.source)) for row in latest], slowdown)


def slowdown_now(run: Run, topology: Topology) -> float:
    """How slow the nodes of a running `run` are for it: by its contract, else by the load that `topology` has there."""
    contract = promises.contract_of(run)
    view = promises.view_of(contract) if contract and contract.monitor_state.judged else None
    if view is not None:
        return slowdown_of(view.ratio, run.placement.objective.min_cpu)
    free = [node.effective_cpu for node in topology.nodes if node.id in set(run.placement.nodes)]
    return slowdown_of(1.0, min(free, default=None))


def _slowdown_then(run: Run) -> float:
    """How slow its nodes were when it was stopped; as they were when they were chosen where it had no contract."""
    contract = getattr(run, "contract", None)
    view = promises.view_of(contract) if contract else None
    return slowdown_of(view.ratio if view else 1.0, run.placement.objective.min_cpu)


def _own_start(run: Run) -> dict[CostPhase, float]:
    """What this run took from when it was handed over, or where runs wait in a queue from when it began there, until
    it computed."""
    first = PhaseReport.objects.filter(run=run).order_by("at").first()
    handed = run.started_at if traits(run.job.cluster).has_queue else run.created_at
    if first is None or handed is None or run.goes_on_from is not None:
        return {}
    took = (first.at - handed).total_seconds() - first.seconds
    clocks_agree = 0 <= took <= (timezone.now() - handed).total_seconds()
    return {CostPhase.START: took} if clocks_agree else {}


def _wait(run: Run, choice: NodeChoice) -> dict[CostPhase, float]:
    """The wait in the queue, where somebody knows it."""
    wait = queue_waits.seconds(run, choice.nodes)
    return {} if wait is None else {CostPhase.QUEUE: wait}


def _chosen_in(choice: NodeChoice) -> dict[CostPhase, float]:
    """What looking at the network and choosing took just now; it is to be done once more."""
    return {
        CostPhase.TELEMETRY: choice.took.telemetry,
        CostPhase.RESOURCES: choice.took.information,
        CostPhase.SCHEDULE: choice.schedule,
    }


def _redistribution(run: Run, choice: NodeChoice) -> float | None:
    """Seconds of the reads, simulated, array by array where the program has told its map; None where it has not said
    which data it has."""
    old, new = list(run.placement.nodes), list(choice.nodes)
    support = RuntimeSupport.objects.filter(job=run.job).first()
    if support is not None and support.arrays:
        with suppress(GridPortalError):  # a layout that only the program can make anew, or no path
            arrays = [ArrayFacts.read(each) for each in support.arrays]
            return redistribution_time.reading_seconds(choice.topology, reads(arrays, old, new), {})
    size = _bytes(run, support)
    if not size:
        return None
    try:
        return seconds_of_reading(choice.topology, size, old, new)
    except GridPortalError:
        return None  # a pair without a path, or a network that nobody has measured: the worst case counts


def seconds_of_reading(topology: Topology, size: int, old: Sequence[str], new: Sequence[str]) -> float:
    """Seconds until every new rank has read its part of `size` bytes.

    On as many ranks as before a program lays its data out as before: each rank reads what the rank of its number held,
    from one node. On another number each reads an equal share from every old rank, which is what block-cyclic layouts
    on both sides come to. Raises ImpossibleError for a pair without a path.
    """
    if len(old) == len(new):
        messages = [Message(rank, rank, math.ceil(size / len(old))) for rank in range(len(old))]
    else:
        share = math.ceil(size / (len(old) * len(new)))
        messages = [Message(source, target, share) for source in range(len(old)) for target in range(len(new))]
    return redistribution_time.seconds(topology, redistribution_time.bytes_between(messages, old, new), {})


def _bytes(run: Run, support: RuntimeSupport | None) -> int:
    """Bytes of all data of the job: as its program has said, else of its newest checkpoint; 0 where nobody knows."""
    if support is not None and support.bytes:
        return support.bytes
    newest = Checkpoint.objects.filter(job=run.job).first()
    return newest.bytes if newest else 0
