"""Jobs of programs with a restart of their own: asked by a signal to the script, judged by the file that they leave."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.errors import InputError
from monitoring.clusters.models import Node
from scheduling.checkpoints.services.requesting import stop_and_continue
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.registering import register_application
from scheduling.messages import message
from scheduling.runs.services import job_folder
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import look, newest, running
from tests.scheduling.pages.test_moves import page

Submit = Callable[..., Job]
MEANS: dict[str, Any] = {
    "by": "own",
    "seconds": 60,
    "signal": "TERM",
    "restart": ["-r", "{file}"],
    "pattern": "melt.*.restart",
    "ranks": {"max": 4},
}


@pytest.fixture
def program(application: Application, fake_grid: FakeGrid) -> Application:
    fields = {"command": ["melt", "-folder", "{checkpoints}", "{restart}"], "stop_means": MEANS}
    return register_application("tests", fields, application)


def asked_at(job: Job, at: float) -> None:
    """The script has asked the program."""
    file = Path(newest(job).run_dir, "stop.asked")
    file.touch()
    os.utime(file, (at, at))


def leave(job: Job, name: str, at: float, size: int = 100) -> Path:
    file = job_folder.checkpoints(job) / name
    file.write_bytes(b"x" * size)
    os.utime(file, (at, at))
    return file


def ask(job: Job, people: Any, **where: Any) -> Any:
    found = stop_and_continue(job, by=people["user"], **where)
    look(job)
    return found


def test_it_is_asked_by_its_script_and_goes_on_from_its_file(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    first = newest(job)
    assert f"melt -folder {job_folder.checkpoints(job)} " in first.script
    assert "signal_ranks TERM" in first.script
    moved = ask(job, people, ranks=4)
    assert fake_grid.signals == [(first.key, signal.SIGUSR1)]
    now = time.time()
    asked_at(job, now)
    leave(job, "melt.100.restart", now - 500)
    file = leave(job, "melt.200.restart", now + 1)
    fake_grid.end(first.key)
    look(job)
    first.refresh_from_db()
    second = newest(job)
    assert first.state == "checkpointed"
    assert f"-r {file} " in second.script
    assert "-n 4 " in second.script
    told = [message(event.reason) for event in job.events.all()]
    assert any(text.startswith("It goes on from melt.200.restart") for text in told)
    moved.refresh_from_db()
    assert (job.state, moved.state) == ("running", "moved")
    fake_grid.end(second.key)
    look(job)
    assert job.state == "succeeded"


def test_a_count_that_its_restart_cannot_take_is_refused_before_anything_is_stopped(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    with pytest.raises(InputError, match="from 1 to 4 for a restart of"):
        stop_and_continue(job, by=people["user"], ranks=8)
    look(job)
    assert (job.state, fake_grid.signals) == ("running", [])


@pytest.mark.parametrize("code", [0, 143])
def test_one_that_ends_by_the_signal_it_was_asked_by_has_stopped_too(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any, code: int
) -> None:
    job = running(submit)
    ask(job, people)
    asked_at(job, time.time())
    leave(job, "melt.1.restart", time.time())
    first = newest(job)
    fake_grid.end(first.key, exit_code=code)
    look(job)
    first.refresh_from_db()
    assert first.state == "checkpointed"


def test_one_that_fails_has_not_stopped_whatever_it_left(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    ask(job, people)
    asked_at(job, time.time())
    leave(job, "melt.1.restart", time.time())
    fake_grid.end(newest(job).key, exit_code=7)
    look(job)
    assert (job.state, newest(job).state) == ("failed", "failed")


def test_one_that_left_nothing_new_has_failed_and_says_why(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    ask(job, people)
    asked_at(job, time.time())
    leave(job, "melt.1.restart", time.time() - 500)
    fake_grid.end(newest(job).key)
    look(job)
    assert job.state == "failed"
    assert "left no new file melt.*.restart" in message(job.reason)


def test_a_line_of_success_tells_that_it_had_come_to_its_end(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    register_application("tests", {"output_patterns": {"success": "^hello"}}, program)
    job = running(submit)
    ask(job, people)
    asked_at(job, time.time())
    fake_grid.end(newest(job).key)
    look(job)
    assert job.state == "succeeded"


def test_one_that_nobody_asked_has_come_to_its_end(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    leave(job, "melt.1.restart", time.time())
    fake_grid.end(newest(job).key)
    look(job)
    assert job.state == "succeeded"


def test_one_that_stopped_for_its_time_limit_waits_for_a_person(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    asked_at(job, time.time())
    leave(job, "melt.9.restart", time.time())
    fake_grid.end(newest(job).key)
    look(job)
    assert job.state == "stopped"
    assert "melt.9.restart" in message(job.reason)
    ask(job, people)
    assert "melt.9.restart" in newest(job).script


def test_nodes_asked_for_by_name_are_those_that_it_goes_on_on(
    submit: Submit, fake_grid: FakeGrid, program: Application, people: Any
) -> None:
    job = running(submit)
    Node.objects.update(labels={"cpus": "2"})
    move = ask(job, people, nodes=["n4", "n3"], ranks=4)
    asked_at(job, time.time())
    leave(job, "melt.5.restart", time.time() + 1)
    fake_grid.end(newest(job).key)
    look(job)
    move.refresh_from_db()
    assert (move.state, newest(job).placement.nodes) == ("moved", ["n4", "n4", "n3", "n3"])
    assert "melt.5.restart" in newest(job).script


def test_its_files_are_told_with_what_is_wrong_with_them(
    submit: Submit, fake_grid: FakeGrid, program: Application, client_as: Any
) -> None:
    job, now = running(submit), time.time()
    for number, size in ((1, 1000), (2, 10), (3, 0)):
        leave(job, f"melt.{number}.restart", now - 10 + number, size)
    look(job)
    data = client_as("user").get(f"/api/jobs/{job.pk}/data").json()
    assert [(file["name"], file["bytes"], file["health"]) for file in data["restart_files"]] == [
        ("melt.3.restart", 0, "empty"),
        ("melt.2.restart", 10, "cut off"),
        ("melt.1.restart", 1000, "whole"),
    ]
    assert data["goes_on_from"]["file"] == "melt.1.restart"
    shown = page(client_as("user"), job)
    for words in (
        "Restart files",
        "melt.3.restart",
        "It is empty.",
        "It has less than half of the one before",
        "whole",
    ):
        assert words in shown
    leave(job, "melt.3.restart", now, 2000)
    look(job)
    data = client_as("user").get(f"/api/jobs/{job.pk}/data").json()
    assert data["goes_on_from"]["file"] == "melt.3.restart"
