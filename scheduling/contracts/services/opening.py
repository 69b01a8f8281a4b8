"""Opening contracts: what a run that has just started is promised, by the model that has erred least so far.

A run that no model knows, and whose like never ran, is promised what its first reports say, if its nodes were idle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from gridportal.network.topology import Node, Topology
from monitoring.clusters import selectors as clusters
from scheduling.contracts.core.best_promise import choose
from scheduling.contracts.models import Contract
from scheduling.contracts.selectors import promises
from scheduling.jobs.models import Application
from scheduling.performance.core.fitted import LEAST_CPU
from scheduling.performance.core.performance_model import RunQuestion
from scheduling.performance.services.asking import Answers, ModelProblem
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services.isolation import isolated
from scheduling.skeletons.services.predicting import predict_all

#: Tells whose program it is that a model of another package failed: the program, the model, and what it said.
Tell = Callable[[Application, str, str], int]
#: So many contracts one pass opens; plug-ins take their time.
_MOST = 50


def open_contracts(cluster: str, tell: Tell | None = None) -> int:
    """Open those of the runs of a cluster that run and have none; how many. The cluster is read once for all. tell: of
    models that failed; without it nobody is told."""
    measured = cache(partial(_measured, cluster))
    return sum(_open_contract(run, measured, tell) for run in _without(cluster)[:_MOST])


def _open_contract(run: Run, measured: Callable[[], Topology | None], tell: Tell | None) -> bool:
    """Open one. Where that fails the run has a contract without a promise, which says why: it is not tried forever."""
    subject = f"contract of {run.key}"
    answers = isolated(subject, partial(_ask, run, measured))
    problem = ModelProblem("", str(answers.failure)) if answers.failure else None
    found = answers.value or Answers(problems=(problem,) if problem else ())
    opened = bool(isolated(subject, partial(_open, run, found)).value)
    for each in found.problems:
        if opened and tell and each.is_plugin:
            about = partial(tell, run.job.application, each.model, each.message)
            isolated(f"notice of a model of {run.key}", about)
    return opened


def _without(cluster: str) -> QuerySet[Run]:
    rows = Run.objects.filter(state=RunState.RUNNING, job__cluster=cluster, contract__isnull=True)
    return rows.filter(started_at__isnull=False).select_related("job__application", "placement").order_by("pk")


def _open(run: Run, answers: Answers) -> bool:
    """Write it down; whoever else did so meanwhile was first."""
    application = run.job.application_id
    factors = promises.corrections(application, len(run.placement.nodes))
    predictions = [each.corrected(factors.get(each.model, {})) for each in answers.predictions]
    promised, others = choose(predictions, promises.model_errors(application))
    contract = Contract(
        run=run,
        promised=promised.document() if promised else None,
        others=[each.document() for each in others],
        problems=[each.document() for each in answers.problems],
    )
    try:
        with transaction.atomic():
            contract.save()
    except IntegrityError:
        return False
    return True


def _ask(run: Run, measured: Callable[[], Topology | None]) -> Answers:
    min_cpu = run.placement.objective.min_cpu
    nodes = tuple(run.placement.nodes)
    network = _as_chosen(measured(), run.job.cluster, nodes, min_cpu)
    question = RunQuestion(run.job.application.slug, run.job.parameters, nodes, network)
    return predict_all(question, run.job, min_cpu)


def network_for(cluster: str, nodes: tuple[str, ...], min_cpu: float | None) -> Topology:
    """The cluster as measured, with the processors of these nodes as free as they were when they were chosen: by now
    the run itself computes on them. Of a cluster that nobody has measured just the nodes."""
    return _as_chosen(_measured(cluster), cluster, nodes, min_cpu)


def _measured(cluster: str) -> Topology | None:
    row = clusters.cluster(cluster)
    return None if row is None else clusters.last_measured(row, list(clusters.nodes(cluster)))


def _as_chosen(network: Topology | None, cluster: str, nodes: tuple[str, ...], min_cpu: float | None) -> Topology:
    if network is None:
        return Topology(cluster, False, "links", tuple(map(Node, dict.fromkeys(nodes))), ())
    chosen = set(nodes)
    rows = (_as_free(each, min_cpu) if each.id in chosen else each for each in network.nodes)
    return replace(network, nodes=tuple(rows))


def _as_free(node: Node, min_cpu: float | None) -> Node:
    free = node.speed if min_cpu is None else max(min_cpu, LEAST_CPU)
    return replace(node, cpu=min(1.0, free / node.speed))
