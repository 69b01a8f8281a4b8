"""What programs note of themselves."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.chaos.ledger import Ledger, attempts


def ran(ledger: Ledger, *words: str, key: str = "job-7-run-1-ab") -> int:
    """The exit code of a program that is started as a job's script would."""
    env = {**os.environ, "GRIDPORTAL_RUN_DIR": f"/runs/{key}"}
    return subprocess.run(["sh", str(ledger.launcher), *words], env=env, timeout=60, check=False).returncode


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    made = Ledger(tmp_path / "ledger", most_jobs=9)
    made.make()
    return made


def test_a_program_that_ends_is_a_complete_attempt(ledger):
    assert ran(ledger, "sh", str(ledger.program), "0", "end") == 0
    (one,) = ledger.read()
    assert (one.key, one.job, one.is_trial, one.is_complete, one.overlaps) == ("job-7-run-1-ab", 7, False, True, False)
    assert one.began <= one.ended


def test_a_program_that_fails_is_not_complete_and_keeps_its_code(ledger):
    assert ran(ledger, "sh", str(ledger.program), "0", "fail") == 3
    (one,) = ledger.read()
    assert (one.is_complete, one.code) == (False, 3)


def test_a_program_that_is_killed_has_no_end(ledger):
    assert ran(ledger, "sh", "-c", "kill -9 $PPID") == -9
    (one,) = ledger.read()
    assert (one.ended, one.code, one.is_complete) == (None, None, False)


def test_the_same_job_started_while_it_runs_is_an_overlap(ledger):
    words = ["sh", str(ledger.launcher), "sh", "-c", "kill -9 $PPID"]
    assert ran(ledger, *words, key="job-7-run-2-cd") in (-9, 137)
    assert [one.overlaps for one in ledger.read()] == [False, True]


def test_two_starts_of_one_key_are_two_attempts(ledger):
    for _ in range(2):
        ran(ledger, "true")
    first, second = ledger.read()
    assert first.key == second.key
    assert first.id != second.id


def test_the_run_of_a_trial_is_told_apart(ledger):
    ran(ledger, "true", key="job-7-try-3-1-ab")
    assert ledger.read()[0].is_trial


def test_a_key_that_is_no_job_s_is_refused():
    with pytest.raises(ValueError, match="no run of a job"):
        attempts(["start nonsense u1 1.0 0 pid:[4] -"])
