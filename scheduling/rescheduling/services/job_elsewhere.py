"""Where a job could go, by what it would still take there and what the move costs.

Source: Migration 2003, 6.2 and 8.3. ret_new is predicted by the model whose promise the contract is; where that knows
nothing of other nodes, it is the promise itself on processors as free as they are there.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from gridportal.base.errors import Described, GridPortalError, InputError
from monitoring.clusters import selectors as clusters
from scheduling.checkpoints.services.reserving import NodeChoice, PlannedMove, choose_elsewhere
from scheduling.contracts.core.outlook import Outlook, remaining_elsewhere
from scheduling.contracts.models import Contract
from scheduling.contracts.selectors import promises
from scheduling.contracts.services.opening import network_for
from scheduling.jobs.models import Job
from scheduling.performance.core.performance_model import RunQuestion
from scheduling.rescheduling.core import counts_to_weigh
from scheduling.rescheduling.core.move_cost import CostKind, MoveCost
from scheduling.rescheduling.core.weighing_stage import Watcher, WeighingStage, unwatched
from scheduling.rescheduling.models import ReschedulingPolicy
from scheduling.rescheduling.services import costing
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.skeletons.services.predicting import predict_all

log = logging.getLogger(__name__)
#: Least part of a processor that a prediction counts with.
_LEAST_CPU = 0.01


@dataclass(frozen=True, slots=True)
class JobElsewhere:
    """Where the job could go, what it would still take there, and what the move costs by each kind."""

    choice: NodeChoice | None
    ret_new: float | None
    costs: dict[CostKind, MoveCost]

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(self.choice.nodes) if self.choice else ()

    @property
    def documents(self) -> dict[str, Any]:
        """Both costs as JSON, by kind."""
        return {kind.value: cost.document() for kind, cost in self.costs.items()}

    def done_in(self, kind: CostKind) -> float:
        """Seconds until the job would be done there, the move included."""
        return math.inf if self.ret_new is None else self.ret_new + self.costs[kind].total


def running(job: Job) -> Run:
    """The run that would be stopped. Raises InputError where none runs."""
    run = job.runs.filter(state=RunState.RUNNING).select_related("job__application", "placement").first()
    if run is None:
        raise InputError("job", Described(f"{job.pk}, which is {job.state}"), "one whose program runs")
    return run


def best_elsewhere(
    run: Run,
    contract: Contract | None,
    view: Outlook | None,
    policy: ReschedulingPolicy,
    planned: Sequence[PlannedMove],
    watch: Watcher = unwatched,
    proposed: Sequence[PlannedMove] = (),
) -> JobElsewhere:
    """Where it would be done first, as far as that can be foretold; of choices that nobody can foretell the first.

    `planned`: moves that count as made; `proposed`: others, whose nodes are left to them as long as there are more."""
    choices = _choices(run, policy, [*planned, *proposed], watch)
    if not choices and proposed:
        choices = _choices(run, policy, planned, watch)
    found = []
    for done, choice in enumerate(choices):
        watch(WeighingStage.PREDICTING, done, len(choices))
        found.append(there(run, contract, view, policy, choice))
    if not found:
        return JobElsewhere(None, None, costing.without_nodes(policy))
    return min(found, key=lambda each: each.done_in(CostKind(policy.cost_kind)))


def _choices(run: Run, policy: ReschedulingPolicy, planned: Sequence[PlannedMove], watch: Watcher) -> list[NodeChoice]:
    """Nodes for as many ranks as it has, and for other numbers where its cluster lets moves change that."""
    now, counts = len(run.placement.nodes), [len(run.placement.nodes)]
    if policy.changes_ranks:
        sites = Counter(node.labels.get("site") for node in clusters.compute_states(run.job.cluster))
        counts = counts_to_weigh.worth_weighing(now, run.job.application.rank_limits, sites.values())
    found: dict[tuple[str, ...], NodeChoice] = {}
    questions = list(product(counts, (False, True)))
    for done, (count, anywhere) in enumerate(questions):
        watch(WeighingStage.CHOOSING, done, len(questions))
        try:
            choice = choose_elsewhere(run, ranks=count, planned=planned, anywhere=anywhere)
        except GridPortalError as error:
            log.info("job %s: no other nodes for %s ranks now: %s", run.job_id, count, error)
            continue
        found.setdefault(choice.nodes, choice)
    return [choice for choice in found.values() if choice.nodes != tuple(run.placement.nodes)]


def there(
    run: Run, contract: Contract | None, view: Outlook | None, policy: ReschedulingPolicy, choice: NodeChoice
) -> JobElsewhere:
    """What this choice comes to."""
    whole = _predicted_there(run, contract, choice)
    ret_new = remaining_elsewhere(view, whole) if view and whole is not None else None
    return JobElsewhere(choice, ret_new, costing.costs(run, choice, policy))


def _predicted_there(run: Run, contract: Contract | None, choice: NodeChoice) -> float | None:
    """Seconds of the whole run there: as the promise's own model says, else the promise on the processors there, as if
    the work was shared evenly by the ranks."""
    promised = contract.prediction if contract else None
    if promised is None:
        return None
    network = network_for(run.job.cluster, tuple(choice.nodes), choice.min_cpu)
    question = RunQuestion(run.job.application.slug, run.job.parameters, tuple(choice.nodes), network)
    answers = predict_all(question, run.job, choice.min_cpu).predictions
    factors = promises.corrections(run.job.application_id, len(choice.nodes)).get(promised.model, {})
    same = next((each.corrected(factors).total for each in answers if each.model == promised.model), None)
    if same is not None or promised.total is None:
        return same
    cpu_now, cpu_there = (
        max(1.0 if cpu is None else cpu, _LEAST_CPU) for cpu in (run.placement.objective.min_cpu, choice.min_cpu)
    )
    return promised.total * cpu_now / cpu_there * len(run.placement.nodes) / len(choice.nodes)
