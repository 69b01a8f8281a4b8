"""Checkpoints and moves on a job's page, over REST and on the command line; who may have a job moved."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponseBase
from django.test import Client
from typer.testing import CliRunner

from gridportal import cli
from scheduling.checkpoints.selectors import expected_of
from scheduling.jobs.models import Application, Job
from scheduling.rescheduling.commands import moving_jobs as command
from scheduling.runs.continuation_models import Continuation
from tests.fake_grid import FakeGrid
from tests.markup import markup
from tests.scheduling.checkpoints.stoppable_jobs import (
    end_well,
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


def words_of(answer: HttpResponseBase) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]*>", " ", markup(answer)).split()))


def page(client: Client, job: Job) -> str:
    return words_of(client.get(f"/jobs/{job.pk}/"))


def test_a_job_is_moved_from_its_page_and_the_page_says_where_it_is(
    submit: Submit, fake_grid: FakeGrid, program: Application, client_as: Any
) -> None:
    job, client = running(submit), client_as("user")
    assert "Stop and continue elsewhere" in page(client, job)
    answer = client.post(f"/jobs/{job.pk}/move", {"nodes": "n3, n4", "ranks": "", "reason": "faster"}, follow=True)
    assert "its nodes are chosen now" in words_of(answer)
    look(job)
    shown = page(client, job)
    assert "Stopping: its nodes are reserved, and the program is asked to write a checkpoint." in shown
    assert "Stop and continue elsewhere" not in shown
    obey(job, fake_grid)
    look(job)
    shown = page(client, job)
    assert "Redistributing: the program reads checkpoint 1." in shown
    assert "the job’s folder" in shown
    assert "whole" in shown
    restored(job, fake_grid)
    look(job)
    shown = page(client, job)
    for words in ("writing the checkpoint", "waiting for telemetry", "reading, redistributed", "faster"):
        assert words in shown


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"ranks": "3"}, "Ranks: 3 is not possible. Enter 1, 2, 4 or 8 for NAS EP."),
        ({"ranks": "many"}, "Ranks: 'many' is not possible. Enter a whole number, or nothing."),
        ({"nodes": "n9"}, "Nodes: 'n9' is not possible. Enter compute nodes of grid."),
    ],
)
def test_what_cannot_be_is_told_on_the_page(
    submit: Submit, program: Application, client_as: Any, sent: dict[str, str], said: str
) -> None:
    job = running(submit)
    answer = client_as("user").post(f"/jobs/{job.pk}/move", sent, follow=True)
    assert said in words_of(answer)
    assert not job.continuations.exists()


def test_jobs_of_programs_that_cannot_be_stopped_have_no_such_part(
    submit: Submit, fake_grid: FakeGrid, client_as: Any
) -> None:
    job = running(submit)
    assert "Checkpoints and moves" not in page(client_as("user"), job)
    answer = client_as("user").post(f"/api/jobs/{job.pk}/move", {}, content_type="application/json")
    assert (answer.status_code, "cannot be stopped" in answer.content.decode()) == (400, True)


def test_over_rest_a_job_is_moved_and_tells_its_data_and_what_each_phase_took(
    submit: Submit, fake_grid: FakeGrid, program: Application, client_as: Any
) -> None:
    job, client = running(submit), client_as("user")
    asked = client.post(f"/api/jobs/{job.pk}/move", {"nodes": ["n3", "n4"]}, content_type="application/json")
    assert (asked.status_code, asked.json()["state"], asked.json()["nodes"]) == (202, "asked", ["n3", "n4"])
    again = client_as("operator").post(f"/api/jobs/{job.pk}/move", {}, content_type="application/json")
    assert (again.status_code, "is being moved already: user asked for it" in again.content.decode()) == (409, True)
    look(job)
    assert client.get(f"/api/jobs/{job.pk}/data").json()["stop_asked"]
    obey(job, fake_grid)
    look(job)
    data = client.get(f"/api/jobs/{job.pk}/data").json()
    (kept,) = data["checkpoints"]
    assert (kept["number"], kept["bytes"], kept["health"], kept["ranks"]) == (1, 32, "whole", 2)
    assert kept["arrays"][0]["shape"] == [4]
    restored(job, fake_grid)
    look(job)
    (move,) = client.get(f"/api/jobs/{job.pk}/moves").json()
    assert (move["state"], move["source_run"], move["target_run"], move["nodes"]) == ("moved", 1, 2, ["n3", "n4"])
    assert None not in [
        move[name] for name in ("writing", "telemetry", "schedule", "other", "start", "reading", "total")
    ]


def test_before_a_move_its_dialog_says_what_it_is_expected_to_take(
    submit: Submit, fake_grid: FakeGrid, program: Application, client_as: Any
) -> None:
    job, client = running(submit), client_as("user")
    address = f"/jobs/{job.pk}/move/expected"
    assert address in markup(client.get(f"/jobs/{job.pk}/"))
    shown = words_of(client.get(address, {"nodes": "n3 n4", "ranks": ""}))
    assert re.search(r"Expected: \S+ (m?s|min) and what is not known on n3 n4, as the network is now", shown)
    assert "writing the checkpoint not known" in shown
    assert re.search(r"new schedule \d+\.\d\d s", shown)
    assert "Not known: no earlier move of NAS EP here tells it" in shown
    assert "Ranks: 3 is not possible. Enter 1, 2, 4 or 8 for NAS EP." in words_of(client.get(address, {"ranks": "3"}))
    assert (newest(job).state, job.continuations.count()) == ("running", 0)


def test_what_a_move_was_expected_to_take_stands_beside_what_it_took(
    submit: Submit, fake_grid: FakeGrid, program: Application, client_as: Any
) -> None:
    first, client = running(submit), client_as("user")
    _move_by_rest(client, first, fake_grid)
    end_well(first, fake_grid)
    look(first)
    job = running(submit)
    sent = {"nodes": ["n3", "n4"], "dry_run": True}
    asked = client.post(f"/api/jobs/{job.pk}/move", sent, content_type="application/json")
    said = asked.json()
    assert (asked.status_code, said["nodes"], job.continuations.count()) == (200, ["n3", "n4"], 0)
    measured = Continuation.objects.get(job=first)
    assert said["seconds"]["start"] == pytest.approx(measured.start)
    assert said["seconds"]["writing"] is not None
    assert said["total"] == pytest.approx(sum(said["seconds"].values()))
    assert "queue" not in said["seconds"]
    _move_by_rest(client, job, fake_grid)
    (move,) = client.get(f"/api/jobs/{job.pk}/moves").json()
    assert move["expected"]["start"] == pytest.approx(measured.start)
    shown = page(client, job)
    assert "Phase Expected, s Measured, s writing the checkpoint" in shown


def _move_by_rest(client: Client, job: Job, grid: FakeGrid) -> None:
    client.post(f"/api/jobs/{job.pk}/move", {"nodes": ["n3", "n4"]}, content_type="application/json")
    look(job)
    obey(job, grid)
    look(job)
    restored(job, grid)
    look(job)


def test_starting_is_expected_with_the_wait_in_the_queue(submit: Submit, program: Application) -> None:
    job = running(submit)
    move = Continuation(job=job, source=newest(job), ranks=2, expected={"queue": 4.0, "start": None})
    assert expected_of(move) == {"start": None, "total": None}
    move.expected = {"queue": 4.0, "start": 2.0, "other": 1.0}
    assert expected_of(move) == {"start": 6.0, "other": 1.0, "total": 7.0}
    move.expected = {}
    assert expected_of(move) == {}


def test_whose_the_job_is_not_may_not_move_it(submit: Submit, program: Application, client_as: Any) -> None:
    job = running(submit)
    answers = {
        role: client_as(role).post(f"/api/jobs/{job.pk}/move", {}, content_type="application/json").status_code
        for role in ("other", "manager", "operator")
    }
    assert answers == {"other": 404, "manager": 403, "operator": 202}


def test_on_the_command_line_a_job_is_moved_and_its_moves_are_tables(
    submit: Submit, fake_grid: FakeGrid, program: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import nullcontext

    monkeypatch.setattr(command, "database", nullcontext)
    runner, job = CliRunner(), running(submit)

    def said(*words: str) -> str:
        done = runner.invoke(cli.app, ["job", *words])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.output

    before = json.loads(said("move", str(job.pk), "--as", "user", "--nodes", "n4,n3", "--dry-run", "--json"))
    assert (before["expected"]["nodes"], before["expected"]["seconds"]["writing"]) == (["n4", "n3"], None)
    assert "not known" in said("move", str(job.pk), "--as", "user", "--dry-run")
    assert not job.continuations.exists()
    assert json.loads(said("move", str(job.pk), "--as", "user", "--nodes", "n4,n3", "--json"))["nodes"] == ["n4", "n3"]
    look(job)
    obey(job, fake_grid)
    look(job)
    restored(job, fake_grid)
    look(job)
    (move,) = json.loads(said("moves", str(job.pk), "--json"))["moves"]
    assert (move["state"], move["nodes"], move["seconds"]["reading"]) == ("moved", ["n4", "n3"], 0.002)
    assert move["expected"]["schedule"] > 0
    assert "moved" in (table := said("moves", str(job.pk)))
    assert "expected" in table
    (kept,) = json.loads(said("checkpoints", str(job.pk), "--json"))["checkpoints"]
    assert (kept["number"], kept["health"]) == (1, "whole")
    assert "the job's folder" in " ".join(said("checkpoints", str(job.pk)).split())
    end_well(job, fake_grid)
    look(job)
    assert (newest(job).state, job.state) == ("succeeded", "succeeded")
