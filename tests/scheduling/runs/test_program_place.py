"""A program below /tmp is said to be where no node of an emulated Grid finds it, also once its job has failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gridportal.base.batch_system import BackendState, RunStatus
from gridportal.base.reasons import Code
from scheduling.messages import message
from scheduling.messages.failure_labels import failure_label
from scheduling.runs.services.ending import ending_of

pytestmark = pytest.mark.django_db


def failed(make_job: Any, people: Any, folder: Path, command: str, line: str) -> Any:
    """Why a run of this command failed, of which its launcher wrote this line."""
    run = make_job(people["user"], "running").runs.get()
    run.run_dir = str(folder)
    (folder / "output.log").write_text(f"[proxy:0@n2] HYDU_create_process (launch.c:73): {line}\n")
    run.job.application.command = [command]
    ending = ending_of(run, RunStatus(BackendState.FINISHED, exit_code=255), None)
    assert ending.to == "failed"
    return ending.reason


def test_the_folder_is_named_that_each_node_has_of_its_own(make_job: Any, people: Any, tmp_path: Path) -> None:
    line = "execvp error on file /tmp/ring (No such file or directory)"
    reason = failed(make_job, people, tmp_path, "/tmp/ring", line)
    assert reason.code is Code.PROGRAM_NOT_SHARED
    assert message(reason).startswith("Each node of grid has a /tmp of its own, so it does not find /tmp/ring.")
    assert failure_label(reason.code.value) == "program not found"


@pytest.mark.parametrize(
    ("command", "program", "error"),
    [
        ("/opt/ring", "/opt/ring", "No such file or directory"),
        ("/opt/ring", "/tmp/other", "No such file or directory"),
        ("/tmp/ring", "/tmp/ring", "Permission denied"),
    ],
)
def test_another_program_does_not_start_for_another_reason(
    make_job: Any, people: Any, tmp_path: Path, command: str, program: str, error: str
) -> None:
    reason = failed(make_job, people, tmp_path, command, f"execvp error on file {program} ({error})")
    assert (reason.code, reason.facts["program"]) == (Code.NO_PROGRAM, program)
