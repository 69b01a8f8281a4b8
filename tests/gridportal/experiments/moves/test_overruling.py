"""An operator who forces a move in a case: a proposal that is open is taken up, and what forbids the move is kept."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gridportal.experiments.moves import own_portal
from gridportal.experiments.moves.move_case import CaseJob, CaseLoad, MoveCase, Rule
from gridportal.experiments.moves.own_portal import CaseRun
from scheduling.jobs.models import Job
from scheduling.rescheduling.services import weighing_jobs
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import end_well, newest
from tests.scheduling.conftest import fake_grid, submit
from tests.scheduling.rescheduling.test_rescheduler import Slow, decision_of, slow_job

__all__ = ["fake_grid", "slow_job", "submit"]


@pytest.fixture
def forcing(people: Any) -> Any:
    """A case whose load came a while ago, with a job that is to be moved by force."""

    def make(job: Job) -> CaseRun:
        case = CaseRun.__new__(CaseRun)  # without a Grid
        case.case = MoveCase((CaseJob(100, 2),), CaseLoad(1, 0.0), Rule.MOVE)
        case.actor, case.jobs, case.loaded_at = people["operator"], [job], time.time() - 60
        case.overruled, case.cut, case.refusals = False, False, []
        return case

    return make


def test_a_proposal_that_is_open_already_is_approved(slow_job: Slow, forcing: Any, people: Any) -> None:
    job = slow_job()
    weighing_jobs.weigh_on_request(people["operator"], job)
    case = forcing(job)
    case._overrule_due()
    assert (decision_of(job).state, case.overruled, case.refusals) == ("approved", True, [])


def test_a_job_that_has_stayed_long_enough_is_cancelled(slow_job: Slow, forcing: Any) -> None:
    job = slow_job()
    case = forcing(job)
    passed = time.time() - job.created_at.timestamp()
    for enough, cut in ((None, False), (passed + 600.0, False), (passed - 1.0, True)):
        case.case = replace(case.case, rule=Rule.STAY, enough=enough)
        case._end_due()
        job.refresh_from_db()
        assert (case.cut, job.state in ("cancelling", "cancelled")) == (cut, cut)


def test_what_forbids_a_forced_move_is_kept_once(slow_job: Slow, fake_grid: FakeGrid, forcing: Any) -> None:
    job = slow_job()
    end_well(job, fake_grid)
    newest(job).__class__.objects.update(state="succeeded")
    case = forcing(job)
    case._overrule_due()
    case._overrule_due()
    (refusal,) = case.refusals
    assert "accepted is one whose program runs" in refusal["why"]
    assert not case.overruled


def test_ctrl_c_does_not_end_a_case_that_is_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(case: CaseRun) -> dict[str, Any]:
        signal.raise_signal(signal.SIGINT)
        return {"moved": True}

    before = signal.getsignal(signal.SIGINT)
    order, answer = tmp_path / "case.json", tmp_path / "answer.json"
    order.write_text(json.dumps(MoveCase((CaseJob(100, 2),)).document()), encoding="utf-8")
    monkeypatch.setattr(own_portal, "_prepare", lambda: None)
    monkeypatch.setattr(CaseRun, "__init__", lambda self, case: None)
    monkeypatch.setattr(CaseRun, "run", interrupted)
    try:
        own_portal.main(order, answer)
    finally:
        signal.signal(signal.SIGINT, before)
    assert json.loads(answer.read_text(encoding="utf-8")) == {"moved": True}
