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
from scheduling.checkpoints.commands import moving_jobs as command
from scheduling.jobs.models import Application, Job
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
        ({"ranks": "3"}, "ranks is 3; accepted is 1, 2, 4 or 8 for NAS EP."),
        ({"ranks": "many"}, "ranks is 'many'; accepted is a whole number, or nothing."),
        ({"nodes": "n9"}, "nodes is 'n9'; accepted is compute nodes of grid."),
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

    assert json.loads(said("move", str(job.pk), "--as", "user", "--nodes", "n4,n3", "--json"))["nodes"] == ["n4", "n3"]
    look(job)
    obey(job, fake_grid)
    look(job)
    restored(job, fake_grid)
    look(job)
    (move,) = json.loads(said("moves", str(job.pk), "--json"))["moves"]
    assert (move["state"], move["nodes"], move["seconds"]["reading"]) == ("moved", ["n4", "n3"], 0.002)
    assert "moved" in said("moves", str(job.pk))
    (kept,) = json.loads(said("checkpoints", str(job.pk), "--json"))["checkpoints"]
    assert (kept["number"], kept["health"]) == (1, "whole")
    assert "the job's folder" in " ".join(said("checkpoints", str(job.pk)).split())
    end_well(job, fake_grid)
    look(job)
    assert (newest(job).state, job.state) == ("succeeded", "succeeded")
