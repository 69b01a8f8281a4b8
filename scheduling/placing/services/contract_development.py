"""Contract development: whether a job accepts what it would be promised on the nodes that were chosen.

Source: Migration 2003, 3 and figure 1: the contract developer approves or rejects; rejected, the application manager
begins with the resource selection again. What makes it reject, the paper does not say. Here: a program that cannot be
stopped and go on, and that would be ended by its time limit with nothing done. The nodes of a rejected contract are
left out of the next selection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from gridportal.base.errors import ImpossibleError
from gridportal.base.reasons import Code, Reason
from gridportal.network.topology import Topology
from scheduling.jobs.models import Job
from scheduling.performance.core.performance_model import RunQuestion
from scheduling.performance.core.phase_prediction import Prediction
from scheduling.placing.services.choosing import Choice, WaitsError
from scheduling.runs.services.isolation import isolated
from scheduling.skeletons.services.predicting import predict_all

#: Selections for one job in a row.
MOST = 3
#: A contract is rejected when even the shortest prediction is so many times the limit: models err.
MARGIN = 1.25
#: Seconds that a plug-in has here: all jobs that wait are placed after this one. When the run starts it has more.
PATIENCE = 3.0

Rejected = Mapping[str, Reason]


def develop(
    job: Job, select: Callable[[Rejected], Choice], topology: Topology, most: int = MOST
) -> tuple[Choice, Rejected]:
    """The first choice whose contract is approved, and the nodes of those that were rejected with the reason.

    `select` chooses on all nodes but those. Raises WaitsError, with the first rejection, when none of `most` choices is
    approved, and as `select` does.
    """
    rejected: dict[str, Reason] = {}
    first: Reason | None = None
    for _ in range(most):
        try:
            choice = select(rejected)
        except (WaitsError, ImpossibleError):
            if first is None:
                raise
            break
        why = rejection(job, choice.selection.nodes, choice.selection.objective.min_cpu, topology)
        if why is None:
            return choice, rejected
        first = first or why
        rejected |= dict.fromkeys(choice.selection.nodes, why)
    assert first is not None  # noqa: S101 - at least one choice is looked at
    raise WaitsError(first, refused=True)


def rejection(job: Job, nodes: Iterable[str], min_cpu: float | None, topology: Topology) -> Reason | None:
    """Why the contract on these nodes is rejected; None where it is approved, or nobody can predict anything."""
    if job.time_limit is None or job.application.stop_means:
        return None
    question = RunQuestion(job.application.slug, job.parameters, tuple(nodes), topology)
    answers = isolated(f"contract of job {job.pk}", partial(predict_all, question, job, min_cpu, PATIENCE)).value
    shortest = _shortest(answers.predictions) if answers else None
    if shortest is None or shortest[0] <= MARGIN * job.time_limit:
        return None
    seconds, model = shortest
    facts = {"nodes": list(dict.fromkeys(nodes)), "seconds": seconds, "limit": float(job.time_limit), "model": model}
    return Reason.of(Code.CONTRACT_REJECTED, **facts)


def _shortest(predictions: Iterable[Prediction]) -> tuple[float, str] | None:
    return min(((each.total, each.model) for each in predictions if each.total is not None), default=None)
