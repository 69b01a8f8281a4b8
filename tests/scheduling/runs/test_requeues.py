"""A run that Slurm puts back, in every order in which its answers and the exit record of an attempt may come."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gridportal.base.batch_system import BackendState, RunStatus
from gridportal.base.reasons import Code
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.placing.services import following, rounds
from tests.examples import examples
from tests.scheduling.runs.fake_queue import FakeQueue

#: What may happen between two polls, and the polls themselves: one that Slurm answers, one that leaves the run out.
STEPS = ("told to stop", "put back", "cleaned up", "starts", "poll", "missed")


@dataclass
class Attempts:
    """The run as Slurm has it: in its queue, running, or being cleaned up after an attempt."""

    queue: FakeQueue
    number: str
    record: Path
    restarts: int = 0
    where: str = "queue"

    def step(self, what: str) -> None:
        """What cannot happen where the run is does not."""
        if what in ("told to stop", "put back") and self.where == "running":
            self.record.write_text('{"exit_code": 143, "ended_at": 1790000000.0}', encoding="utf-8")
        if what == "put back" and self.where == "running":
            self.where, self.restarts = "cleaning", self.restarts + 1
        elif what == "cleaned up" and self.where == "cleaning":
            self.where = "queue"
        elif what == "starts" and self.where == "queue":
            self.record.unlink(missing_ok=True)  # the first thing that the script does
            self.where = "running"
        self.queue.status[self.number] = self.answer()

    def answer(self) -> RunStatus:
        """What squeue says."""
        if self.where == "queue":
            again = self.restarts > 0
            return RunStatus(
                BackendState.PENDING,
                cause=Code.PLAIN_TEXT,
                facts={"text": "It waits."},
                restarts=self.restarts,
                delayed=again,
            )
        cause = Code.CLEANING_UP if self.where == "cleaning" else Code.NONE
        return RunStatus(BackendState.RUNNING, started_at=time.time(), cause=cause)


@settings(
    max_examples=examples(15, fuzz=60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(st.sampled_from(STEPS), min_size=3, max_size=25))
def test_no_order_of_answers_ends_a_run_that_was_put_back(
    submit: Callable[..., Job], fake_queue: FakeQueue, steps: list[str]
) -> None:
    job = submit(1, busy_policy="wait")
    rounds.place_and_start_all(job.cluster)
    run = job.runs.get()
    attempts = Attempts(fake_queue, run.backend_id, Path(run.run_dir, "exit.json"))
    for what in ("starts", "poll", *steps):
        attempts.step(what)
        if what == "missed":
            del fake_queue.status[run.backend_id]
        if what in ("poll", "missed"):
            following.poll_runs()
            job.refresh_from_db()
            assert job.state in ("starting", "running"), (job.state, message(job.reason))
    ends_well(attempts)
    following.poll_runs()
    job.refresh_from_db()
    assert job.state == "succeeded", message(job.reason)
    assert [event.to_state for event in job.events.all()].count("succeeded") == 1
    assert job.runs.count() == 1


def ends_well(attempts: Attempts) -> None:
    attempts.step("cleaned up")
    attempts.step("starts")
    attempts.record.write_text('{"exit_code": 0, "ended_at": 1790000001.0}', encoding="utf-8")
    attempts.queue.end(attempts.number)
