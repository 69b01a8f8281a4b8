"""Runs and jobs go along with each other, in one step or not at all."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from gridportal.base import processes as shell
from gridportal.base.reasons import NOTHING, text_reason
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.messages import message
from scheduling.placing.selectors.rooms import holders
from scheduling.placing.services.storing import new_run
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services.steps import advance_run, note_submitted
from tests.servers import postgres_server

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def job(people: Any, make_job: Any) -> Job:
    return make_job(people["user"], "running")


def events(job: Job) -> list[tuple[str, str, int | None]]:
    return list(job.events.order_by("pk").values_list("from_state", "to_state", "run_number"))


def test_a_run_and_its_job_take_one_step_with_one_event(job: Job) -> None:
    run = job.runs.get()
    assert advance_run(run, RunState.FAILED, text_reason("why"), job={"attempts": 0}, exit_code=3)
    run.refresh_from_db()
    job.refresh_from_db()
    assert (run.state, run.exit_code, job.state, job.attempts, job.reason) == (
        "failed",
        3,
        "failed",
        0,
        text_reason("why"),
    )
    assert events(job)[-1] == ("running", "failed", 1)
    assert run.ended_at == run.state_since


@pytest.mark.parametrize("faster", ["job", "run"])
def test_nothing_is_written_when_somebody_else_was_faster_with_either(job: Job, faster: str) -> None:
    run = Run.objects.select_related("job").get(job=job)
    if faster == "job":
        assert advance(job, JobState.CANCELLING, reason=text_reason("by a person"))
    else:
        advance(Run.objects.get(pk=run.pk), RunState.MISSING)
    before = events(job)
    assert not advance_run(run, RunState.SUCCEEDED, NOTHING)
    assert events(job) == before
    assert (run.state, run.job.state) == ("running", "running")
    assert Run.objects.get(pk=run.pk).state == ("running" if faster == "job" else "missing")


def test_a_run_that_is_missed_and_found_again_is_told_and_keeps_its_nodes(job: Job) -> None:
    run = job.runs.get()
    assert advance_run(run, RunState.MISSING, NOTHING)
    assert set(holders(job.cluster)) == {"n1", "n2"}
    assert advance_run(run, RunState.RUNNING, NOTHING)
    assert events(job)[-2:] == [("running", "running", 1)] * 2
    assert "does not know run 1" in message(list(job.events.all())[-2].reason)
    assert Job.objects.get(pk=job.pk).state == "running"


def test_a_run_that_ended_with_a_checkpoint_does_not_end_its_job(job: Job) -> None:
    run = job.runs.get()
    assert advance_run(run, RunState.HALTING, NOTHING)
    assert run.job.state == "moving"
    assert advance_run(run, RunState.CHECKPOINTED, NOTHING)
    job.refresh_from_db()
    assert (job.state, job.ended_at, holders(job.cluster)) == ("moving", None, {})


def test_a_job_has_one_open_run_at_most(job: Job) -> None:
    first = job.runs.get()
    placement = first.placement
    placement.pk = None
    placement.save(force_insert=True)
    with pytest.raises(IntegrityError), transaction.atomic():
        new_run(job, placement, 2, NOTHING).save()
    first.job = job
    assert advance_run(first, RunState.CHECKPOINTED, NOTHING)
    new_run(job, placement, 2, NOTHING).save()


def test_a_submission_that_comes_late_leaves_a_run_that_is_being_stopped(job: Job) -> None:
    run = job.runs.get()
    Run.objects.filter(pk=run.pk).update(state="prepared", backend_id="")
    run.refresh_from_db()
    assert advance_run(run, RunState.STOPPING, NOTHING)
    note_submitted({run.pk: "17"})
    run.refresh_from_db()
    assert (run.state, run.backend_id) == ("stopping", "17")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "sqlite":
        yield ""
    else:
        with postgres_server() as url:
            yield url


@pytest.mark.timeout(300)
def test_rows_of_an_earlier_version_get_lives_of_their_own(database: str) -> None:
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    words = [sys.executable, "-m", "tests.scheduling.runs.earlier_rows"]
    done = shell.run(words, timeout=280, cwd=ROOT, env=env | {"DATABASE_URL": database})
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["states"] == found["expected"]
    assert found["since"] == ["2026-11-02", "2026-11-03", "2026-11-04"]
    assert found["moved"] == [["starting", "moving", 1], ["starting", "moving", 1], ["queued", "moving", 1]]
    (let_go,) = found["let_go"]
    assert let_go.endswith("what its cluster has: two open runs-1")
    assert found["second_open_run"] == "refused"
    lost = {"queued again while it is recalled": ["starting", "starting"]}
    lost["two open runs"] = ["running", "cancelled", "running"]
    assert found["back"] == found["before"] | lost
