"""A job that failed goes on from what it left while it ran; one whose program begins anew is told as that."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from typer.testing import CliRunner

from gridportal import cli
from gridportal.base.errors import ConflictError, InputError
from scheduling import tasks
from scheduling.checkpoints.models import RuntimeSupport
from scheduling.checkpoints.services import freeing
from scheduling.checkpoints.services.requesting import problem, stop_and_continue
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.registering import register_application
from scheduling.messages import message
from scheduling.placing.selectors import rooms
from scheduling.rescheduling.commands import moving_jobs
from scheduling.runs.services import job_folder
from scheduling.usage.models import UncountedJob
from scheduling.usage.services.counting_use import count_use
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import (
    end_well,
    leave_checkpoint,
    look,
    newest,
    restored,
    running,
    stoppable,
)
from tests.scheduling.checkpoints.test_continuing import told_in_order
from tests.scheduling.pages.test_moves import page, words_of

Submit = Callable[..., Job]
OWN = {"by": "own", "signal": "TERM", "restart": ["-r", "{file}"], "pattern": "*.restart"}


@pytest.fixture
def program(application: Application, fake_grid: FakeGrid) -> Application:
    return stoppable(application)


def failed(submit: Submit, grid: FakeGrid, *, checkpoint: int | None = 3, **asked: Any) -> Job:
    """It was killed after it had written a checkpoint by itself and computed 400 iterations."""
    job = running(submit, **asked)
    grid.write(newest(job).key, {"event": "phase", "phase": "step", "seconds": 0.1, "iteration": 400, "of": 5000})
    if checkpoint is not None:
        leave_checkpoint(job, checkpoint, at=time.time() + 1)
    grid.end(newest(job).key, exit_code=137)
    look(job)
    assert job.state == "failed"
    return job


def test_it_goes_on_from_its_last_checkpoint_on_other_nodes_and_ranks(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = failed(submit, fake_grid)
    assert (problem(job), rooms.holders()) == ("", {})
    move = stop_and_continue(job, by=people["user"], nodes=["n3", "n4", "n1", "n2"])
    assert (job.state, job.ended_at) == ("stopped", None)
    assert message(job.reason).startswith("It failed, and can go on from checkpoint 3: let it go on, or cancel it. ")
    look(job)
    second = newest(job)
    assert (second.number, second.placement.nodes, second.goes_on_from) == (2, ["n3", "n4", "n1", "n2"], 3)
    assert set(rooms.holders()) == {"n1", "n2", "n3", "n4"}
    restored(job, fake_grid, 3)
    end_well(job, fake_grid)
    look(job)
    look(job)
    move.refresh_from_db()
    assert (job.state, move.state, move.checkpoint) == ("succeeded", "moved", 3)
    assert told_in_order(job)[-6:] == ["failed", "stopped", "moving", "starting", "running", "succeeded"]


@pytest.mark.parametrize(
    ("asking", "said"),
    [
        ({"ranks": 3}, "ranks is 3; accepted is 1, 2, 4 or 8 for NAS EP."),
        ({"nodes": ["n1", "n9"]}, "nodes is 'n9'; accepted is compute nodes of grid."),
    ],
)
def test_what_cannot_be_is_said_and_it_stays_failed(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any, asking: dict[str, Any], said: str
) -> None:
    job = failed(submit, fake_grid)
    with pytest.raises(InputError) as caught:
        stop_and_continue(job, by=people["user"], **asking)
    job.refresh_from_db()
    assert (str(caught.value), job.state, job.continuations.count()) == (said, "failed", 0)


def test_one_that_left_nothing_or_whose_folder_was_freed_is_refused(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    for job in (failed(submit, fake_grid, checkpoint=None), failed(submit, fake_grid)):
        RuntimeSupport.objects.filter(job=job).update(freed_at=timezone.now())
        freeing.free_folder(job)
        assert "which has failed and left nothing to go on from" in problem(job)
        with pytest.raises(InputError, match="accepted is one that runs, has stopped with a checkpoint, or has failed"):
            stop_and_continue(job, by=people["user"])


def test_a_damaged_checkpoint_does_not_count(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = failed(submit, fake_grid)
    (job_folder.checkpoints(job) / "checkpoint-00000003" / "0-1.raw").unlink()
    with pytest.raises(InputError, match="left nothing to go on from"):
        stop_and_continue(job, by=people["user"])


@pytest.mark.parametrize(("nodes", "goes_on"), [(["gone1", "gone2"], False), (["gone1", "n2"], True)])
def test_what_is_only_in_depots_of_nodes_that_are_gone_is_refused_at_once(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any, nodes: list[str], goes_on: bool
) -> None:
    job = failed(submit, fake_grid)
    file = job_folder.checkpoints(job) / "checkpoint-00000003" / "manifest.json"
    document = json.loads(file.read_text())
    for shard, node in zip(document["arrays"][0]["shards"], nodes, strict=True):
        shard |= {"file": None, "depots": [node]}
    file.write_text(json.dumps(document | {"version": 2, "token": "0" * 16}))
    if goes_on:
        stop_and_continue(job, by=people["user"])
        return
    with pytest.raises(InputError, match="checkpoint 3 is in depots of nodes that grid has no more: gone1, gone2"):
        stop_and_continue(job, by=people["user"])
    assert not job.continuations.exists()


def test_the_second_of_two_people_sees_a_conflict(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = failed(submit, fake_grid)
    stop_and_continue(job, by=people["user"])
    with pytest.raises(ConflictError, match="is being moved already"):
        stop_and_continue(Job.objects.get(pk=job.pk), by=people["operator"])


def test_where_it_cannot_start_it_fails_again_and_takes_no_nodes_that_it_left_before(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = failed(submit, fake_grid)
    left = newest(job).placement.nodes
    other = running(submit)
    assert set(newest(other).placement.nodes) & set(left)
    move = stop_and_continue(job, by=people["user"])
    look(job)
    assert set(newest(job).placement.nodes).isdisjoint(newest(other).placement.nodes)
    fake_grid.end(newest(job).key, 3)
    look(job)
    move.refresh_from_db()
    assert (job.state, move.state, job.runs.count()) == ("failed", "failed", 2)
    assert problem(job) == ""


def test_without_free_nodes_it_waits_for_a_person(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = failed(submit, fake_grid)
    others = [running(submit), running(submit)]
    move = stop_and_continue(job, by=people["user"])
    look(job)
    move.refresh_from_db()
    assert (move.state, job.state, len(others)) == ("refused", "stopped", 2)


def test_a_program_of_its_own_restart_goes_on_from_its_last_file(
    submit: Submit, fake_grid: FakeGrid, application: Application, people: Any
) -> None:
    means = {"command": ["melt", "-folder", "{checkpoints}", "{restart}"], "stop_means": OWN}
    register_application("tests", means, application)
    job = running(submit)
    for name, size in (("a.restart", 100), ("b.restart", 10)):
        (job_folder.checkpoints(job) / name).write_bytes(b"x" * size)
    fake_grid.end(newest(job).key, exit_code=137)
    look(job)
    assert job.state == "failed"
    move = stop_and_continue(job, by=people["user"], nodes=["n4", "n3"])
    look(job)
    move.refresh_from_db()
    assert f"-r {job_folder.checkpoints(job)}/a.restart" in newest(job).script
    assert (job.state, move.state, newest(job).placement.nodes) == ("running", "moved", ["n4", "n3"])


def test_a_program_that_begins_anew_is_told_as_that(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = failed(submit, fake_grid)
    move = stop_and_continue(job, by=people["user"])
    look(job)
    move.refresh_from_db()
    assert move.state == "reading"
    fake_grid.write(newest(job).key, {"event": "anew"})
    look(job)
    move.refresh_from_db()
    assert (move.state, job.state, newest(job).begins_anew) == ("started anew", "running", True)
    assert "its program found no checkpoint." in message(move.reason)
    assert (move.reading, move.total) != (None, None)


def test_one_whose_only_checkpoint_was_damaged_is_told_that(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = failed(submit, fake_grid)
    move = stop_and_continue(job, by=people["user"])
    look(job)
    (whole,) = job_folder.checkpoints(job).glob("checkpoint-*")
    whole.rename(f"{whole}.bad")
    fake_grid.write(newest(job).key, {"event": "anew"})
    look(job)
    move.refresh_from_db()
    assert move.state == "started anew"
    assert "checkpoint 3 is damaged, and no other one is whole." in message(move.reason)


def test_one_that_ends_without_having_read_anything_began_anew(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = failed(submit, fake_grid)
    move = stop_and_continue(job, by=people["user"])
    look(job)
    end_well(job, fake_grid)
    look(job)
    move.refresh_from_db()
    assert (move.state, job.state) == ("started anew", "succeeded")


def test_a_file_that_went_while_it_was_stopped_is_told_as_a_new_beginning(
    submit: Submit, fake_grid: FakeGrid, application: Application, people: Any
) -> None:
    means = {"command": ["melt", "-folder", "{checkpoints}", "{restart}"], "stop_means": OWN}
    register_application("tests", means, application)
    job = running(submit)
    file = job_folder.checkpoints(job) / "a.restart"
    file.write_bytes(b"x")
    fake_grid.end(newest(job).key, exit_code=137)
    look(job)
    move = stop_and_continue(job, by=people["user"])
    file.unlink()
    look(job)
    move.refresh_from_db()
    assert (move.state, newest(job).begins_anew) == ("started anew", True)


def test_its_use_is_counted_once_nothing_can_change_any_more(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = failed(submit, fake_grid)
    later = timezone.now() + timedelta(hours=1)
    count_use(later)
    assert list(UncountedJob.objects.values_list("pk", flat=True)) == [job.pk]
    freeing.free_folder(job)
    count_use(later)
    assert not UncountedJob.objects.exists()


def test_nobody_frees_what_a_job_goes_on_from(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any, settings: Any
) -> None:
    job = failed(submit, fake_grid)
    Job.objects.filter(pk=job.pk).update(ended_at=datetime(2020, 1, 1, tzinfo=UTC))
    stop_and_continue(job, by=people["user"])
    tasks.free_checkpoints()
    assert (job_folder.checkpoints(job) / "checkpoint-00000003").exists()


def test_the_page_says_from_what_it_continues(
    submit: Submit, fake_grid: FakeGrid, program: Application, client_as: Callable[[str], Client]
) -> None:
    job, client = failed(submit, fake_grid), client_as("user")
    at = job.checkpoints.get().written_at
    assert at is not None
    what = f"the checkpoint of {at:%H:%M}, iteration 400 of 5000"
    shown = page(client, job)
    assert f"Continue from {what}" in shown
    assert f"It continues from {what}." in shown
    answer = client.post(f"/jobs/{job.pk}/move", {"nodes": "", "ranks": ""}, follow=True)
    assert "then it goes on there from what it left" in words_of(answer)
    look(job)
    assert job.state == "running"


def test_rest_and_the_command_line_say_it_too(
    submit: Submit,
    fake_grid: FakeGrid,
    program: Application,
    client_as: Callable[[str], Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job, client = failed(submit, fake_grid), client_as("user")
    point = client.get(f"/api/jobs/{job.pk}/data").json()["goes_on_from"]
    assert (point["checkpoint"], point["file"], point["iteration"], point["of"]) == (3, "", 400, 5000)
    monkeypatch.setattr(moving_jobs, "database", nullcontext)
    told = CliRunner().invoke(cli.app, ["job", "checkpoints", str(job.pk)]).output
    assert f"Job {job.pk} would go on from the checkpoint of" in told
    line = ["job", "move", str(job.pk), "--as", "user", "--nodes", "n1 n2", "--json"]
    moved = json.loads(CliRunner().invoke(cli.app, line).output)
    assert (moved["goes_on_from"]["iteration"], moved["nodes"]) == (400, ["n1", "n2"])
    again = client.post(f"/api/jobs/{job.pk}/move", {}, content_type="application/json")
    assert again.status_code == 409
