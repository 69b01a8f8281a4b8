"""A script whose interpreter is missing is not said to be missing itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.reasons import Code, Reason
from scheduling.messages import message
from scheduling.runs.models import Run
from scheduling.runs.services.missing_interpreter import interpreter_of, with_interpreter


@pytest.fixture
def run(make_job: Any, people: Any, tmp_path: Path) -> Run:
    run: Run = make_job(people["user"], "running").runs.get()
    run.run_dir = str(tmp_path)
    return run


def not_there(program: str) -> Reason:
    return Reason.of(Code.NO_PROGRAM, program=program, error="No such file or directory", nodes=["quad2"])


@pytest.mark.parametrize("name", ["./script", "{folder}/script"])
def test_its_interpreter_is_named(run: Run, tmp_path: Path, name: str) -> None:
    program = name.format(folder=tmp_path)
    (tmp_path / "script").write_text("#!/no/such/interp -x\necho\n")
    said = message(with_interpreter(run, not_there(program)))
    first_line = "its first line names /no/such/interp, which does not exist."
    assert said == f"The program {program} does not start on quad2: {first_line}"


@pytest.mark.parametrize("text", ["#!/bin/sh\n", "no script", "", "#!\n"])
def test_another_file_is_left_as_it_was_found(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "script").write_text(text)
    assert with_interpreter(run, not_there("./script")) == not_there("./script")


def test_a_file_that_is_not_the_jobs_own_is_not_read(run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "script"
    other.write_text("#!/secret/interp\n")
    assert with_interpreter(run, not_there(str(other))) == not_there(str(other))
    run.job.application.command = [str(other)]
    assert "/secret/interp" in message(with_interpreter(run, not_there(str(other))))


def test_what_is_no_file_does_not_stop_the_portal(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert [interpreter_of(tmp_path / name) for name in ("pipe", "absent", "a\0b", ".")] == ["", "", "", ""]
