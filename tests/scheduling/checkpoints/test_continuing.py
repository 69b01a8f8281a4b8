"""A job is stopped with a checkpoint and goes on elsewhere, or goes on where it is; each end is told as a value."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.errors import ConflictError, InputError
from gridportal.base.reasons import Code
from monitoring.clusters.models import Cluster
from scheduling.checkpoints.services.requesting import problem, stop_and_continue
from scheduling.jobs.core.states import LIFE
from scheduling.jobs.models import Application, Job
from scheduling.maintenance.models import MaintenanceWindow
from scheduling.messages import message
from scheduling.placing.selectors import rooms
from scheduling.placing.services.submission import cancel_job
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.services import job_folder
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import (
    end_well,
    is_asked,
    leave_checkpoint,
    look,
    newest,
    obey,
    restored,
    running,
    stoppable,
)

Submit = Callable[..., Job]


@pytest.fixture
def program(application: Application, fake_grid: FakeGrid) -> Application:
    return stoppable(application)


def told_in_order(job: Job) -> list[str]:
    events = list(job.events.all())
    for before, event in itertools.pairwise(events):
        assert event.from_state == before.to_state
        assert LIFE.may_follow(event.from_state, event.to_state)
    assert events[-1].to_state == job.state
    return [event.to_state for event in events]


def test_it_goes_on_on_the_nodes_and_ranks_that_were_asked_for(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    fake_grid.names = [f"n{number}" for number in range(1, 9)]
    job = running(submit)
    first = newest(job)
    wanted = [name for name in fake_grid.names if name not in first.placement.nodes][:4]
    asked = stop_and_continue(job, by=people["user"], nodes=wanted, reason="those are faster")
    assert (asked.state, job.state, is_asked(job)) == ("asked", "running", False)
    look(job)
    assert (job.state, is_asked(job), newest(job).state) == ("moving", True, "halting")
    assert message(job.reason) == (
        f"user stopped it with a checkpoint (those are faster); it goes on with 4 ranks on {' '.join(wanted)}."
    )
    assert set(rooms.holders()) == {*first.placement.nodes, *wanted}
    obey(job, fake_grid)
    look(job)
    second = newest(job)
    first.refresh_from_db()
    assert (first.state, first.exit_code) == ("checkpointed", 0)
    assert (second.number, second.placement.nodes, second.goes_on_from) == (2, wanted, 1)
    assert fake_grid.on_nodes[second.key] == wanted
    assert "-n 4 " in second.script
    assert not is_asked(job)
    asked.refresh_from_db()
    assert (job.state, asked.state, job.ranks, job.node_count) == ("running", "reading", 2, 2)
    restored(job, fake_grid)
    look(job)
    asked.refresh_from_db()
    assert (asked.state, asked.checkpoint, asked.writing, asked.reading) == ("moved", 1, 0.004, 0.002)
    parts = (asked.writing, asked.telemetry, asked.information, asked.schedule, asked.other, asked.start, asked.reading)
    assert sum(parts) == pytest.approx(asked.total)
    assert set(rooms.holders()) == set(wanted)
    end_well(job, fake_grid)
    look(job)
    assert job.state == "succeeded"
    assert told_in_order(job) == [
        "queued",
        "placing",
        "starting",
        "running",
        "moving",
        "starting",
        "running",
        "succeeded",
    ]
    assert job.started_at == first.started_at


def test_without_nodes_the_portal_chooses_them_again(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    asked = stop_and_continue(job, by=people["user"], ranks=4)
    look(job)
    asked.refresh_from_db()
    assert asked.placement is not None
    assert sorted(asked.placement.nodes) == ["n1", "n2", "n3", "n4"]
    assert asked.placement.candidates
    assert None not in (asked.telemetry, asked.information, asked.schedule)


@pytest.mark.parametrize(
    ("asking", "said"),
    [
        ({"ranks": 3}, "ranks is 3; accepted is 1, 2, 4 or 8 for NAS EP."),
        ({"nodes": ["n1", "n2", "n3"], "ranks": 2}, "nodes is 'n1', 'n2', 'n3'; accepted is at most 2, one for each"),
        ({"nodes": ["n1", "n9"]}, "nodes is 'n9'; accepted is compute nodes of grid."),
        ({"reason": "x" * 501}, "reason is 'x"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_stopped(
    submit: Submit, program: Application, people: Any, asking: dict[str, Any], said: str
) -> None:
    job = running(submit)
    with pytest.raises(InputError) as caught:
        stop_and_continue(job, by=people["user"], **asking)
    assert str(caught.value).startswith(said)
    look(job)
    assert (job.state, is_asked(job), job.continuations.count()) == ("running", False, 0)


def test_nodes_of_another_job_are_refused(submit: Submit, program: Application, people: Any) -> None:
    job, other = running(submit), running(submit)
    with pytest.raises(InputError, match=f"job {other.pk} has this one"):
        stop_and_continue(job, by=people["user"], nodes=newest(other).placement.nodes)


def test_a_program_that_cannot_be_stopped_and_a_job_that_does_not_run_are_refused(
    submit: Submit, fake_grid: FakeGrid, application: Application, people: Any
) -> None:
    job = running(submit)
    with pytest.raises(InputError, match="NAS EP, which cannot be stopped and go on"):
        stop_and_continue(job, by=people["user"])
    stoppable(application)
    job = Job.objects.get(pk=job.pk)
    assert problem(job) == ""
    end_well(job, fake_grid)
    look(job)
    with pytest.raises(InputError, match="which is succeeded"):
        stop_and_continue(job, by=people["user"])


def test_the_second_of_two_people_sees_a_conflict(submit: Submit, program: Application, people: Any) -> None:
    job = running(submit)
    stop_and_continue(job, by=people["user"])
    with pytest.raises(ConflictError, match=r"is being moved already: user asked for it; its state is asked\."):
        stop_and_continue(job, by=people["operator"])


def test_a_node_in_maintenance_is_refused_at_once(submit: Submit, program: Application, people: Any) -> None:
    job, now = running(submit), timezone.now()
    other = next(name for name in ("n3", "n4") if name not in job.runs.get().placement.nodes)
    MaintenanceWindow.objects.create(
        cluster=Cluster.objects.get(name=job.cluster),
        nodes=[other],
        start=now,
        end=now + timedelta(hours=1),
        why="fans",
    )
    with pytest.raises(
        InputError, match=rf"nodes is '{other}'; .* this one does not: It is maintained until .*\(fans\)"
    ):
        stop_and_continue(job, by=people["user"], nodes=[other, "n1"])
    assert not job.continuations.exists()


def test_without_free_nodes_nothing_is_stopped(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job, _ = running(submit), running(submit)
    asked = stop_and_continue(job, by=people["user"], ranks=4)
    look(job)
    asked.refresh_from_db()
    assert (asked.state, job.state, is_asked(job)) == ("refused", "running", False)
    assert message(asked.reason).startswith("Nothing was stopped: ")
    end_well(job, fake_grid)
    assert look(job).state == "succeeded"


def test_a_program_that_can_write_no_checkpoint_goes_on(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    asked = stop_and_continue(job, by=people["user"])
    look(job)
    answer = {"at": 1.0, "problem": "No space left on device"}
    (job_folder.checkpoints(job) / "not-stopped.json").write_text(json.dumps(answer), encoding="utf-8")
    look(job)
    asked.refresh_from_db()
    assert (asked.state, job.state, newest(job).state, is_asked(job)) == ("not stopped", "running", "running", False)
    assert message(asked.reason) == (
        "The program stays where it is, because it could not write a checkpoint: No space left on device."
    )
    end_well(job, fake_grid)
    assert look(job).state == "succeeded"
    assert told_in_order(job)[-4:] == ["running", "moving", "running", "succeeded"]


def test_a_program_that_does_not_stop_in_time_goes_on_and_one_that_stops_late_is_started_again(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    asked = stop_and_continue(job, by=people["user"])
    look(job)
    Continuation.objects.update(stop_sent_at=timezone.now() - timedelta(seconds=61))
    look(job)
    asked.refresh_from_db()
    assert (asked.state, job.state) == ("not stopped", "running")
    assert message(asked.reason) == "The program stays where it is: it did not stop within 60 s."
    obey(job, fake_grid)
    look(job)
    look(job)
    assert (job.state, job.runs.count()) == ("running", 2)
    assert [row.state for row in job.continuations.all()] == ["not stopped", "reading"]


def test_a_program_that_ends_meanwhile_has_succeeded(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    asked = stop_and_continue(job, by=people["user"])
    look(job)
    end_well(job, fake_grid)
    look(job)
    asked.refresh_from_db()
    assert (asked.state, job.state, job.runs.count()) == ("ended", "succeeded", 1)
    assert message(asked.reason) == "The program came to its end before it stopped."
    assert rooms.holders() == {}


def test_one_that_does_not_start_there_goes_back_once_and_then_fails(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    before = newest(job).placement.nodes
    asked = stop_and_continue(job, by=people["user"], nodes=["n3", "n4"])
    look(job)
    obey(job, fake_grid)
    look(job)
    fake_grid.end(newest(job).key, 3)
    look(job)
    asked.refresh_from_db()
    assert (job.state, newest(job).placement.nodes, newest(job).number) == ("running", before, 3)
    assert (asked.state, asked.back, job.ended_at) == ("reading", True, None)
    assert message(asked.reason).startswith("It did not start there, and goes back to where it ran.")
    restored(job, fake_grid)
    look(job)
    asked.refresh_from_db()
    assert (asked.state, job.state, asked.reading) == ("failed", "running", 0.002)
    fake_grid.end(newest(job).key, 3)
    look(job)
    assert (job.state, job.runs.count()) == ("failed", 3)
    assert told_in_order(job)[-6:] == ["starting", "running", "moving", "starting", "running", "failed"]


def test_one_that_does_not_start_where_it_was_either_fails_and_keeps_its_checkpoint(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    asked = stop_and_continue(job, by=people["user"], nodes=["n3", "n4"])
    look(job)
    obey(job, fake_grid)
    for _ in range(2):
        look(job)
        fake_grid.end(newest(job).key, 3)
    look(job)
    look(job)
    asked.refresh_from_db()
    assert (job.state, asked.state, job.runs.count()) == ("failed", "failed", 3)
    assert (job_folder.checkpoints(job) / "checkpoint-00000001" / "manifest.json").exists()
    assert rooms.holders() == {}


def test_a_job_may_be_cancelled_at_each_moment(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    def until(step: str) -> Job:
        job = running(submit)
        stop_and_continue(job, by=people["user"])
        if step == "asked":
            return job
        look(job)
        if step == "stopping":
            return job
        obey(job, fake_grid)
        return look(job)

    for step in ("asked", "stopping", "reading"):
        job = until(step)
        assert job.continuations.get().state == step
        cancel_job(people["user"], job)
        for _ in range(3):
            look(job)
        assert (job.state, job.continuations.get().state) == ("cancelled", "cancelled"), step
        assert rooms.holders() == {}


def test_a_stop_that_nobody_asked_for_waits_for_a_person_who_lets_it_go_on(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit, time_limit=100)
    obey(job, fake_grid)
    look(job)
    assert (job.state, newest(job).state, rooms.holders()) == ("stopped", "checkpointed", {})
    assert message(job.reason) == "It stopped with checkpoint 1; let it go on from there, or cancel it."
    stop_and_continue(job, by=people["user"], nodes=["n4", "n3"])
    look(job)
    assert (job.state, newest(job).placement.nodes, newest(job).goes_on_from) == ("running", ["n4", "n3"], 1)
    restored(job, fake_grid)
    end_well(job, fake_grid)
    look(job)
    look(job)
    assert (job.state, job.continuations.get().state) == ("succeeded", "moved")


def test_a_stopped_job_that_finds_no_nodes_did_not_go_on(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit, time_limit=100)
    obey(job, fake_grid)
    look(job)
    for _ in range(2):
        running(submit)
    asked = stop_and_continue(job, by=people["user"])
    look(job)
    asked.refresh_from_db()
    assert (asked.state, asked.reason.code) == ("refused", Code.CONTINUE_REFUSED)
    assert message(asked.reason).startswith("It did not go on: ")


def test_a_stopped_job_can_be_cancelled(submit: Submit, fake_grid: FakeGrid, program: Application, people: Any) -> None:
    job = running(submit)
    obey(job, fake_grid)
    look(job)
    assert cancel_job(people["user"], job).state == "cancelled"


def test_at_its_time_limit_it_goes_on_by_itself_where_that_was_asked_for(
    submit: Submit, fake_grid: FakeGrid, program: Application
) -> None:
    job = running(submit, time_limit=100, continues=True)
    run = newest(job)
    run.started_at = timezone.now() - timedelta(seconds=90)
    run.save(update_fields=["started_at"])
    obey(job, fake_grid)
    look(job)
    look(job)
    assert (job.state, newest(job).number, job.continuations.get().by) == ("running", 2, "portal")


def test_one_that_stops_long_before_its_limit_does_not_go_on_by_itself(
    submit: Submit, fake_grid: FakeGrid, program: Application
) -> None:
    job = running(submit, time_limit=100, continues=True)
    obey(job, fake_grid)
    look(job)
    assert job.state == "stopped"


def test_who_says_that_it_stopped_and_left_no_checkpoint_has_failed(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    asked = stop_and_continue(job, by=people["user"])
    look(job)
    (leave_checkpoint(job, 1) / "0-1.raw").unlink()
    fake_grid.write(newest(job).key, {"event": "stopped", "checkpoint": 1, "seconds": 0.5})
    fake_grid.end(newest(job).key)
    look(job)
    asked.refresh_from_db()
    assert (job.state, asked.state) == ("failed", "failed")
    assert message(job.reason) == (
        "The program stopped with checkpoint 1, but neither that nor an earlier one can be read."
    )


def test_a_pattern_whose_size_follows_from_the_ranks_is_that_of_the_new_count(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit, pattern="mesh-2d")
    assert job.pattern == "mesh-2d:1x2"
    asked = stop_and_continue(job, by=people["user"], ranks=4)
    look(job)
    asked.refresh_from_db()
    assert asked.placement is not None
    assert (asked.state, asked.placement.pattern, job.pattern) == ("stopping", "mesh-2d:2x2", "mesh-2d:1x2")
