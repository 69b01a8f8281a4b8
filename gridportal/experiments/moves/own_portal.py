"""The portal of a case: `python -m gridportal.experiments.moves.own_portal CASE ANSWER`, both JSON files.

It calls what beat and workers call, over and over, until the jobs of the case are over: placing, following runs,
contracts, rescheduler. Nothing here decides: load comes when the case says so, and where the case says that the portal
is overruled, an operator's move is asked for and approved as on the page.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridportal.base import bounded_json
from gridportal.base.errors import BackendError, ConflictError, InputError
from gridportal.experiments.moves.case_process import CLUSTER
from gridportal.experiments.moves.move_case import CaseJob, MoveCase, Rule
from gridportal.web.command_database import set_up_django

if TYPE_CHECKING:
    from gridportal.accounts.models import User
    from scheduling.jobs.models import Job
    from scheduling.rescheduling.models import MoveDecision

_PAUSE = 0.3
_APPLICATION, _METHOD, _BLOCK = "dense-qr", "compute", 32
_NAME = "experiment"
#: Where no contract calls, an operator moves the job so many seconds after the load came, or the first job was over.
_LATEST = 15.0
_PHASES = ("writing", "telemetry", "information", "schedule", "other", "start", "reading", "total", "paused")


def main(order: Path, answer: Path) -> None:
    """Run the case of `order`; what came of it goes to `answer`.

    Ctrl-C reaches all processes of a terminal, and asks the experiment to stop after this case: it does not end it. A
    handler that does nothing, and not SIG_IGN, which the programs of jobs would inherit.
    """
    signal.signal(signal.SIGINT, lambda *_: None)
    _prepare()
    found = CaseRun(MoveCase.read(bounded_json.load(order, order.name))).run()
    answer.write_text(json.dumps(found), encoding="utf-8")


def _prepare() -> None:
    set_up_django()
    from gridportal.database import portal_tables
    from scheduling.jobs.services.registering import install_catalogue
    from scheduling.performance.services.benchmarks import kernel_rates

    portal_tables.bring_up_to_date()
    install_catalogue()
    kernel_rates()  # measured when a job runs already, they would hold up its load and its contract


class CaseRun:
    """A case while it runs."""

    def __init__(self, case: MoveCase) -> None:
        from gridportal.accounts.models import User
        from gridportal.testbed.client import Grid
        from monitoring.clusters.selectors import setting

        self.case = case
        self.actor: User = User.objects.filter(username=_NAME).first() or User.objects.create_superuser(_NAME)
        self.grid = Grid(str(setting(CLUSTER).state_dir))
        self.jobs: list[Job] = []
        self.loaded_at: float | None = None
        self.overruled = self.cut = False
        self.refusals: list[dict[str, Any]] = []

    def run(self) -> dict[str, Any]:
        """Until all jobs are over. Raises BackendError when that takes too long."""
        from scheduling.rescheduling.services import policies

        rule = "automatic" if self.case.rule is Rule.PORTAL else "observe"
        rules = {"policy": rule, "cost_kind": "predicted", "cost_scale": self.case.cost_scale, "changes_ranks": True}
        rested = {"node_cooldown": 0}  # the runs before, whose moves are of the same database, were on other Grids
        policies.change_policy(self.actor, CLUSTER, {**rules, **rested})
        until = time.monotonic() + self.case.patience
        while len(self.jobs) < len(self.case.jobs) or not all(job.is_final for job in self.jobs):
            if time.monotonic() > until:
                raise BackendError(f"The jobs of a case were not over after {self.case.patience:.0f} s.")
            self._submit_due()
            self._load_due()
            self._overrule_due()
            self._end_due()
            _beat()
            for job in self.jobs:
                job.refresh_from_db()
            time.sleep(_PAUSE)
        _beat()
        return self._answer()

    @property
    def _began(self) -> float | None:
        """When the first job began to run, Unix seconds."""
        first = self.jobs[0] if self.jobs else None
        return first.started_at.timestamp() if first and first.started_at else None

    def _passed(self) -> float | None:
        return None if self._began is None else time.time() - self._began

    def _submit_due(self) -> None:
        place = len(self.jobs)
        if place == len(self.case.jobs):
            return
        asked, passed = self.case.jobs[place], self._passed()
        if place == 0 or (passed is not None and passed >= asked.after):
            self.jobs.append(_submitted(self.actor, asked))

    def _load_due(self) -> None:
        load, passed = self.case.load, self._passed()
        if load is None or self.loaded_at is not None or passed is None or passed < load.after:
            return
        placement = self.jobs[0].placements.order_by("pk").first()
        if placement is not None and not self.jobs[0].is_final:
            self.grid.load(sorted(set(placement.nodes)), load.processes, load.seconds)
            self.loaded_at = time.time()

    def _overrule_due(self) -> None:
        """Move the job once the portal has declined, or has not been asked for long."""
        since = self._overruled_after()
        if self.case.rule is not Rule.MOVE or self.overruled or since is None or self.jobs[-1].is_final:
            return
        if not self._is_declined(since) and time.time() < since + _LATEST:
            return
        try:
            self.overruled = self._overrule()
        except (InputError, ConflictError) as error:  # it does not run yet, or not any more: the next round tries again
            self._refused(str(error))

    def _end_due(self) -> None:
        """End the jobs of a run that stays once it has shown enough."""
        from scheduling.placing.services.submission import cancel_job

        enough = self.case.enough
        if enough is None or self.cut or len(self.jobs) < len(self.case.jobs):
            return
        if time.time() < self.jobs[-1].created_at.timestamp() + enough or self.jobs[-1].is_final:
            return
        self.cut = True
        for job in self.jobs:
            if not job.is_final:
                cancel_job(self.actor, job)

    def _overrule(self) -> bool:
        """Whether the move was decided. A proposal that is open already is taken up."""
        from scheduling.rescheduling.core.decision_states import DecisionState
        from scheduling.rescheduling.services import deciding, weighing_jobs

        job, why = self.jobs[-1], "The opposite of what the portal decides."
        decision = job.move_decisions.filter(state=DecisionState.PROPOSED).first()
        decision = decision or weighing_jobs.weigh_on_request(self.actor, job)
        if decision.state != DecisionState.PROPOSED:
            self._refused(f"The portal declines: {decision.verdict}.")
            return False
        if self.case.to:
            deciding.override(self.actor, decision, list(self.case.to), why)
        else:
            deciding.approve(self.actor, decision, why)
        return True

    def _refused(self, why: str) -> None:
        """Keep why the move was not made, each reason once in a row."""
        if not self.refusals or self.refusals[-1]["why"] != why:
            self.refusals.append({"at": time.time() - self.jobs[-1].created_at.timestamp(), "why": why})

    def _overruled_after(self) -> float | None:
        """When the load came, else when the first job was over, else when the only one began."""
        if self.case.load:
            return self.loaded_at
        ended = self.jobs[0].ended_at
        return self._began if len(self.case.jobs) == 1 else (ended.timestamp() if ended else None)

    def _is_declined(self, since: float) -> bool:
        from scheduling.rescheduling.models import MoveDecision

        return any(each.created_at.timestamp() > since for each in MoveDecision.objects.filter(job=self.jobs[-1]))

    def _answer(self) -> dict[str, Any]:
        job = self.jobs[-1]
        zero = job.created_at.timestamp()
        decisions = [_decision(each, zero) for each in job.move_decisions.order_by("pk")]
        continuations = [
            {"state": each.state, "ranks": each.ranks, **{name: getattr(each, name) for name in _PHASES}}
            for each in job.continuations.order_by("pk")
        ]
        return {
            "jobs": [_job(each) for each in self.jobs],
            "loaded": None if self.loaded_at is None else self.loaded_at - zero,
            "decisions": decisions,
            "moves": continuations,
            "moved": any(each["state"] == "moved" for each in continuations),
            "cut": self.cut,
            "refusals": self.refusals,
            "calls": list(_calls(job, zero)),
            "contracts": list(_contracts(job)),
        }


def _beat() -> None:
    """What beat starts, once."""
    from scheduling import tasks

    tasks.poll_runs(CLUSTER)
    tasks.advance_jobs()
    tasks.judge_contracts()
    tasks.reschedule()


def _submitted(actor: User, asked: CaseJob) -> Job:
    from scheduling import tasks
    from scheduling.jobs.models import Application
    from scheduling.jobs.services.job_spec import JobSpec
    from scheduling.placing.services.submission import submit_job

    spec = JobSpec(
        application=Application.objects.get(slug=_APPLICATION),
        parameters={"size": asked.rows, "block": _BLOCK},
        node_count=asked.ranks,
        ranks=asked.ranks,
        method=_METHOD,
        cluster=CLUSTER,
    )
    job = submit_job(actor, spec)
    tasks.place_jobs(CLUSTER)
    job.refresh_from_db()
    return job


def _decision(row: MoveDecision, zero: float) -> dict[str, Any]:
    from scheduling.messages import message

    totals = {kind: cost.total for kind, cost in row.costs_by_kind.items()}
    gains = {kind: _gain(row.ret_current, row.ret_new, total) for kind, total in totals.items()}
    return {
        "at": row.created_at.timestamp() - zero,
        "mode": row.mode,
        "state": row.state,
        "verdict": row.verdict,
        "why": message(last.reason) if (last := row.events.last()) else "",
        "nodes": list(row.nodes),
        "complete": row.complete,
        "ret_current": row.ret_current,
        "ret_new": row.ret_new,
        "average": row.average,
        "threshold": row.threshold,
        "costs": totals,
        "phases": {kind: dict(cost.seconds) for kind, cost in row.costs_by_kind.items()},
        "gains": gains,
    }


def _gain(ret_current: float | None, ret_new: float | None, cost: float) -> float | None:
    from scheduling.rescheduling.core.weighing import MoveFigures

    return MoveFigures(ret_current, ret_new).gain(cost)


def _job(job: Job) -> dict[str, Any]:
    from scheduling.messages import message

    ended = job.ended_at.timestamp() if job.ended_at else None
    runs = [
        {"nodes": list(run.placement.nodes), "state": run.state, "seconds": run.seconds, "verified": run.is_verified}
        for run in job.runs.order_by("number").select_related("placement")
    ]
    return {
        "state": job.state,
        "reason": message(job.reason),
        "seconds": None if ended is None else ended - job.created_at.timestamp(),
        "runs": runs,
    }


def _calls(job: Job, zero: float) -> Iterator[dict[str, Any]]:
    from scheduling.contracts.models import ContractCall

    for call in ContractCall.objects.filter(contract__run__job=job).order_by("pk"):
        yield {"at": call.at.timestamp() - zero, "average": call.average, "ret_current": call.ret_current}


def _contracts(job: Job) -> Iterator[dict[str, Any]]:
    from scheduling.contracts.models import Contract

    for contract in Contract.objects.filter(run__job=job).order_by("pk"):
        promised, state = contract.prediction, contract.monitor_state
        yield {
            "model": promised.model if promised else "",
            "promised": promised.total if promised else None,
            "phases": {each.phase: each.total for each in promised.phases} if promised else {},
            "average": state.average,
            "reported": {name: [each.share, each.actual, each.predicted] for name, each in state.phases.items()},
        }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
