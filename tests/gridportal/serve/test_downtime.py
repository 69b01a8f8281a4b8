"""Jobs survive a portal that is down: `gridportal serve` ends, the job goes on and ends, and is told finished once."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.errors import BackendError
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests.gridportal.serve.demo.demo_process import environment, free_port
from tests.gridportal.test_serve import family_of, home, serving, wait_until
from tests.warm_python import WarmPython

pytestmark = [pytest.mark.grid, pytest.mark.redis, pytest.mark.postgres, pytest.mark.timeout(400)]
__all__ = ["home"]

_JOIN = """
import json, sys
from gridportal.base import home; home.join()
from gridportal.web.command_database import set_up_django; set_up_django()
from gridportal.accounts.models import User
from scheduling import tasks
from scheduling.jobs.services import job_spec, registering
from scheduling.placing.services import placing, submission
from scheduling.messages import message
from scheduling.models import Application, Job
"""
_SUBMIT = """
registering.register_application("tests", {"slug": "sleep", "name": "Sleep", "ranks": {"min": 1, "max": 8},
    "command": ["bash", "-c", "echo begun >> begun; until [ -e go ]; do sleep 0.2; done"],
    "pattern": "ring", "parameters": []})
asked = job_spec.JobSpec(Application.objects.get(slug="sleep"), {}, 1)
job = submission.submit_job(User.objects.create_user("ada"), asked)
tasks.place_soon(job)
"""
_STORY = """
job = Job.objects.get()
print(json.dumps({"state": job.state, "reason": message(job.reason), "events": [e.to_state for e in job.events.all()],
    "runs": [run.run_dir for run in job.runs.all()]}))
"""


@pytest.fixture
def grid(tmp_path: Path) -> Iterator[Grid]:
    """cmu8 with a Slurm, which is no part of the portal."""
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        pytest.skip(str(error))
    launch.up("cmu8", tmp_path / "grid", with_parent=True, slurm="slurm")
    yield Grid(tmp_path / "grid")
    Grid(tmp_path / "grid").down()


def test_a_job_that_ends_while_the_portal_is_down_is_told_finished_once(
    grid: Grid, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hpc = {"name": "hpc", "backend": "slurm", "state_dir": str(grid.directory)}
    monkeypatch.setenv("GRIDPORTAL_CLUSTERS", json.dumps([hpc]))
    with serving(home, free_port(), "--workers", "1") as process:
        with asking(home) as asked:
            asked(_SUBMIT)
            wait_until(lambda: asked(_STORY)["state"] == "running", 120)
            (directory,) = asked(_STORY)["runs"]
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=120)
        wait_until(lambda: family_of(home) == [] or only_the_job(home, directory), 60)
    assert not Path(directory, "exit.json").exists(), "the job ended with the portal"
    Path(directory, "go").touch()
    wait_until(Path(directory, "exit.json").exists, 60)
    with serving(home, free_port(), "--workers", "1") as process:
        with asking(home) as asked:
            wait_until(lambda: asked(_STORY)["state"] == "succeeded", 120)
            story = asked(_STORY)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=120)
    assert story["events"] == ["queued", "placing", "starting", "running", "succeeded"]
    assert story["runs"] == [directory]
    assert Path(directory, "begun").read_text() == "begun\n"


def only_the_job(home: Path, directory: str) -> bool:
    """Whether all that is left under the home are the processes of the job's own run."""
    return all(works_in(pid, directory) for pid in family_of(home))


def works_in(pid: int, directory: str) -> bool:
    try:
        return Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(directory)
    except FileNotFoundError:  # it ended since it was listed
        return True


@contextmanager
def asking(home: Path) -> Iterator[Callable[[str], Any]]:
    """asked(code): what a command of the portal that is up answers, each in a process of its own."""
    python = WarmPython([sys.executable], _JOIN, environment(home))

    def asked(code: str) -> Any:
        done = python.end(python.start(code), 120)
        assert done.returncode == 0, done.err[-2000:]
        return json.loads(done.out) if done.out.strip() else None

    yield asked
    python.close()
