"""`gridportal doctor` tells of each Slurm cluster what is well and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gridportal.serve import doctor
from tests.gridportal.slurm.conftest import slurm
from tests.gridportal.slurm.fakes import FakeSlurm

__all__ = ["slurm"]


def finding(monkeypatch: pytest.MonkeyPatch, home: Path, **fields: object) -> doctor.Finding:
    monkeypatch.setenv("GRIDPORTAL_HOME", str(home))
    monkeypatch.setenv("GRIDPORTAL_CLUSTERS", json.dumps([{"name": "hpc", "backend": "slurm", **fields}]))
    (found,) = doctor._clusters()
    assert found.topic == "cluster hpc"
    return found


def test_a_cluster_that_does_not_answer_is_told_with_the_reason(
    slurm: FakeSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm.set(mode="down")
    found = finding(monkeypatch, tmp_path)
    assert (found.state, found.seen) == ("no", "no answer")
    assert "slurmctld" in found.advice


def test_a_cluster_that_cannot_be_read_is_one_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIDPORTAL_CLUSTERS", '[{"name": "hpc", "backend": "pbs"}]')
    (found,) = doctor._clusters()
    assert (found.topic, found.state) == ("clusters", "no")
    assert "one of grid, slurm, local" in found.seen


def test_run_directories_that_people_cannot_reach_are_told(
    slurm: FakeSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    tmp_path.chmod(0o755)
    as_person = ["sudo", "-n", "-u", "{user}"]
    found = finding(monkeypatch, tmp_path, prefix=as_person, read_prefix=[], runs=str(closed / "runs"))
    assert "is closed to others" in found.advice


def test_a_python_without_the_packages_is_told(
    slurm: FakeSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\necho ModuleNotFoundError: numpy >&2; exit 1\n")
    bare.chmod(0o755)
    assert "install gridportal[runtime]" in finding(monkeypatch, tmp_path, python=str(bare)).advice
    assert "was not tried" in finding(monkeypatch, tmp_path, python="/no/such/python").seen


def test_a_cluster_that_is_this_machine_says_how_many_ranks_and_that_nothing_keeps_jobs_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1, 2})
    found = finding(monkeypatch, tmp_path, backend="local", slots=3)
    assert (found.state, found.advice) == ("yes", "")
    assert "3 ranks at a time" in found.seen
    assert "nothing keeps them apart" in found.seen


def test_more_slots_than_processors_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1})
    found = finding(monkeypatch, tmp_path, backend="local", slots=3)
    assert found.state == "partly"
    assert "3 slots on 2 processors" in found.advice
