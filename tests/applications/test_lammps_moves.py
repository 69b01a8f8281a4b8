"""LAMMPS, which nobody instrumented, has a contract from its log, and the rescheduler moves it away from busy nodes."""

from __future__ import annotations

from typing import Any

import pytest

from gridportal.testbed.client import Grid
from tests.applications.conftest import example, need
from tests.scheduling.portal import Portal

pytestmark = pytest.mark.grid
STEPS, LOADING = 20_000, 12
#: Do what beat does until `condition`; all in one process, for to start one takes longer than most of the waiting.
TICK = """
    from scheduling.contracts.models import Contract
    from scheduling.rescheduling.models import MoveDecision

    def tick(condition):
        for _ in looks(250):
            if condition():
                return
            tasks.advance_jobs(); tasks.poll_runs("grid"); tasks.judge_contracts(); tasks.reschedule()
        told = [(each.verdict, each.state, each.ret_current, each.ret_new) for each in MoveDecision.objects.all()]
        raise AssertionError((told, [(job.state, message(job.reason)) for job in Job.objects.all()]))

    def promised(job, number):
        found = Contract.objects.filter(run__job=job, run__number=number, promised__isnull=False).first()
        return found and found.monitor_state.judged > 4
"""
START = """
    from scheduling.rescheduling.services import policies
    ada = User.objects.get(username="ada")
    rules = {{"policy": "automatic", "cost_scale": 0.01}}
    made = registering.register_application("tests", {fields!r})
    asked = job_spec.JobSpec(made, {{"cells": 8, "steps": {steps}}}, 2, cluster="grid", method="random", seed=5)
    job = submission.submit_job(ada, asked)
    policies.change_policy(ada, "grid", rules)
    tick(lambda: promised(job, 1))
    print(json.dumps([job.pk, job.runs.get().placement.nodes]))
"""
MOVED = """
    job = Job.objects.get(pk={job})
    tick(lambda: MoveDecision.objects.filter(job=job, state="moved").exists() and promised(job, 2))
    decision = MoveDecision.objects.get(job=job, state="moved")
    logs = [open(run.run_dir + "/output.log").read() for run in job.runs.order_by("number")]
    submission.cancel_job(User.objects.get(username="ada"), job)
    print(json.dumps({{"gain": decision.gain, "mode": decision.mode, "average": decision.average, "logs": logs,
        "nodes": job.runs.get(number=2).placement.nodes, "state": job.runs.get(number=1).state}}))
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_lammps_on_busy_nodes_is_moved_to_idle_ones(portal: Portal, grid: Grid) -> None:
    need("lmp", "mpirun.openmpi")
    fields: dict[str, Any] = example("lammps-restart.json") | {"slug": "lammps-moved", "name": "LAMMPS, moved"}
    job, nodes = portal.run(TICK + START.format(fields=fields, steps=STEPS))
    grid.load(nodes, processes=LOADING)
    try:
        moved = portal.run(TICK + MOVED.format(job=job))
    finally:
        grid.load(stop=True)
    assert (moved["state"], moved["mode"]) == ("checkpointed", "on-request")
    assert set(moved["nodes"]).isdisjoint(nodes)
    assert moved["average"] > 2
    assert moved["gain"] > 0.3
    first, second = (steps(log) for log in moved["logs"])
    assert first[-1] <= second[0] <= first[-1] + 60 < second[-1]


def steps(log: str) -> list[int]:
    """Of the lines that tell one."""
    rows = (line.split() for line in log.splitlines())
    return [int(row[0]) for row in rows if len(row) == 6 and row[0].isdigit()]
