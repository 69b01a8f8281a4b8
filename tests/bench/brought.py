"""What the portal brings in a year, beside jobs read from a log: contracts, trials with their skeletons, moves, and
jobs on random nodes. The same rows for the same jobs."""

from __future__ import annotations

from random import Random

from django.utils import timezone

from scheduling.contracts.models import Contract
from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.rescheduling.models import MoveDecision
from scheduling.runs.models import Run
from scheduling.skeletons.models import SkeletonRun

_BATCH = 2000
#: One run of so many has a contract, one had its groups tried, one job was on random nodes, one was moved.
CONTRACTS, TRIALS, RANDOM, MOVES = 10, 50, 30, 200


def write_brought() -> None:
    """Give some of the jobs that are there what the portal would have done for them."""
    draw = Random(5)
    runs = Run.objects.filter(state="succeeded", started_at__isnull=False).order_by("pk")
    rows = list(runs.values_list("pk", "job_id", "placement_id", "started_at", "seconds"))
    Placement.objects.filter(nodes=[]).update(nodes=["n1", "n2"])
    _contracts([(pk, seconds) for pk, _, _, _, seconds in rows[::CONTRACTS]], draw)
    _trials([(job, placement, seconds) for _, job, placement, _, seconds in rows[1::TRIALS]], draw)
    _moves([(job, at, seconds) for _, job, _, at, seconds in rows[2::MOVES]], draw)
    numbers = [job for _, job, *_ in rows[3::RANDOM]]
    for begin in range(0, len(numbers), _BATCH):
        Job.objects.filter(pk__in=numbers[begin : begin + _BATCH]).update(method="random")


def _contracts(runs: list[tuple[int, float]], draw: Random) -> None:
    promised = {"model": "history", "phases": []}
    made = [
        Contract(
            run_id=pk,
            promised=promised,
            closed_at=timezone.now(),
            monitor={"actual": seconds, "predicted": seconds * draw.lognormvariate(0, 0.15)},
        )
        for pk, seconds in runs
    ]
    Contract.objects.bulk_create(made, batch_size=_BATCH)


def _trials(placed: list[tuple[int, int, float]], draw: Random) -> None:
    """Each on three groups, the second of which was taken."""
    for _, placement, seconds in placed:
        trial = {"groups": [0, 1, 2], "taken": 1, "by": "skeleton", "spent": 9.0, "won": 0.1 * seconds}
        Placement.objects.filter(pk=placement).update(trial=trial)
    made = [
        SkeletonRun(
            job_id=job,
            placement_id=placement,
            candidate=candidate,
            nodes=["n1"],
            key=f"bench-{placement}-{candidate}",
            run_dir="",
            script="",
            state="done",
            predicted=seconds * draw.lognormvariate(0, 0.1),
        )
        for job, placement, seconds in placed
        for candidate in range(3)
    ]
    SkeletonRun.objects.bulk_create(made, batch_size=_BATCH)


def _moves(jobs: list[tuple[int, object, float]], draw: Random) -> None:
    figures = {"ret_current": 4000.0, "ret_new": 2000.0, "cost": 400.0, "gain": 0.4, "threshold": 0.3, "average": 2.0}
    kinds = {"mode": "on-request", "policy": "ask", "verdict": "move", "cost_kind": "predicted", "costs": {}}
    nodes = {"nodes_now": ["n1", "n2"], "nodes": ["n3", "n4"], "complete": 0.5, "run_number": 1, "cluster": "year"}
    made = []
    for job, at, _ in jobs:
        outcome = {"gain": draw.gauss(0.3, 0.2), "saved": draw.gauss(900, 600), "took": draw.gauss(2400, 300)}
        life = {"state": draw.choice(("verified", "verified", "declined", "expired")), "created_at": at}
        made.append(MoveDecision(job_id=job, outcome=outcome, **life, **figures, **kinds, **nodes))
    MoveDecision.objects.bulk_create(made, batch_size=_BATCH)
