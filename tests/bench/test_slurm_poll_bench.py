"""Following 1,000 runs on Slurm: one squeue a poll, and its time beside that of the bare command."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import processes as shell
from gridportal.base.clusters import Cluster
from gridportal.slurm import job_text
from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.placing.services import following
from scheduling.runs.models import Run
from tests.gridportal.slurm.fakes import FakeSlurm

pytestmark = pytest.mark.bench
RUNS = 1000


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> FakeSlurm:
    """Fake commands, first on PATH, of a cluster called hpc."""
    folder = tmp_path / "bin"
    folder.mkdir()
    fake = FakeSlurm(folder)
    fake.install()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    settings.CLUSTERS = {"hpc": Cluster(name="hpc", backend="slurm")}
    return fake


@pytest.fixture
def many(people: dict[str, Any], application: Any, slurm: FakeSlurm, tmp_path: Path) -> None:
    """1,000 running jobs, each with a directory that has a progress file."""
    fields = {"owner": people["user"], "application": application, "node_count": 1, "ranks": 1, "cluster": "hpc"}
    jobs = Job.objects.bulk_create([Job(**fields, state="running") for _ in range(RUNS)])
    placements = Placement.objects.bulk_create(
        [Placement(job=j, method="pattern", nodes=["n1"], seconds=0) for j in jobs]
    )
    runs = []
    whole = slurm.state()
    for number, (job, placement) in enumerate(zip(jobs, placements, strict=True), start=100):
        directory = tmp_path / "runs" / str(number)
        directory.mkdir(parents=True)
        directory.joinpath("progress.jsonl").touch()
        key = f"job-{job.pk}-run-1"
        runs.append(
            Run(
                job=job,
                placement=placement,
                key=key,
                backend="slurm",
                backend_id=str(number),
                state="running",
                run_dir=str(directory),
                script="",
            )
        )
        row = {"id": str(number), "state": "RUNNING", "exit_code": 0, "name": f"gp-{key}", "comment": key}
        whole["jobs"].append(row)
    Run.objects.bulk_create(runs)
    slurm.set(jobs=whole["jobs"])


@pytest.mark.usefixtures("many")
def test_a_poll_of_a_thousand_runs_is_one_squeue(slurm: FakeSlurm) -> None:
    following.poll_runs()
    before = len(slurm.calls())
    began = time.perf_counter()
    following.poll_runs()
    poll = time.perf_counter() - began
    calls = slurm.calls()[before:]
    assert [call["name"] for call in calls] == ["squeue"]
    began = time.perf_counter()
    shell.run(job_text.squeue_argv(), timeout=60)
    bare = time.perf_counter() - began
    print(f"\npoll of {RUNS} runs: {poll:.3f} s, {poll / bare:.1f} times the bare squeue ({bare:.3f} s)")  # noqa: T201
