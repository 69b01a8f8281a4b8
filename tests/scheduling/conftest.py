"""A fake Grid behind both adapters, and jobs submitted through the service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from tests.fake_grid import FakeGrid
from tests.scheduling.runs.fake_queue import FakeQueue


@pytest.fixture
def fake_grid(db: None, monkeypatch: pytest.MonkeyPatch) -> FakeGrid:
    """Four nodes; every service of both apps talks to it."""
    from monitoring.telemetry.adapters.grid import GridTelemetry
    from monitoring.telemetry.services import reach
    from scheduling import tasks
    from scheduling.placing.services import trials
    from scheduling.runs.adapters.grid import GridBackend
    from scheduling.runs.services import follow, starting, submissions
    from scheduling.skeletons.services import trial_runs

    monkeypatch.setattr(tasks, "_PAUSE", 0.0)  # nobody else submits
    monkeypatch.setattr(trials, "cores", lambda: 64)  # on few of them groups are tried one after the other
    grid = FakeGrid()
    monkeypatch.setattr(reach, "telemetry", lambda cluster="grid": GridTelemetry(grid))
    for module in (follow, starting, submissions, trial_runs):
        monkeypatch.setattr(module, "backend", lambda *_, **__: GridBackend(grid))
    return grid


@pytest.fixture
def fake_queue(db: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> FakeQueue:
    """One Slurm cluster called hpc, of four nodes; every service of both apps talks to it."""
    from gridportal.base.clusters import Cluster
    from monitoring.telemetry.services import outside, reach, sweeps
    from scheduling import tasks
    from scheduling.placing.services import start_forecast as foresight
    from scheduling.runs.services import follow, requeued, starting, submissions
    from scheduling.runs.services import queue_actions as queue_service
    from scheduling.skeletons.services import trial_runs

    fake = FakeQueue()
    monkeypatch.setattr(tasks, "_PAUSE", 0.0)  # nobody else submits
    settings.CLUSTERS = {"hpc": Cluster(name="hpc", backend="slurm")}
    for module in (reach, outside):
        monkeypatch.setattr(module, "SlurmFacts", lambda cluster: fake)
    monkeypatch.setattr(sweeps, "_LOOK_AGE", 0.0)

    def backend(cluster: str, owner: Any = None, options: Any = None) -> FakeQueue:
        fake.chosen = options
        return fake

    for module in (follow, starting, submissions, queue_service, requeued, foresight, trial_runs):
        monkeypatch.setattr(module, "backend", backend)
    return fake


@pytest.fixture
def submit(people: dict[str, Any], application: Any) -> Callable[..., Any]:
    """submit(nodes=2, owner="user", **fields of JobSpec): a job that a person has just submitted."""
    from scheduling.jobs.core.cluster_options import ClusterOptions
    from scheduling.jobs.core.requirements import Requirements
    from scheduling.jobs.services.job_spec import JobSpec
    from scheduling.placing.services.submission import submit_job

    def make(nodes: int = 2, owner: str = "user", **fields: Any) -> Any:
        values = {"parameters": {"klass": "S"}, "pattern": "ring", **fields}
        values["requirements"] = Requirements.read(values.get("requirements", {}))
        values["options"] = ClusterOptions.read(values.get("options", {}))
        return submit_job(people[owner], JobSpec(application=application, node_count=nodes, **values))

    return make


@pytest.fixture
def make_run(people: Any, make_job: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """make_run() is a run that goes on, whose reports (`tests.scheduling.contracts.reported`) are of now."""
    from tests.scheduling.contracts import reported

    monkeypatch.setattr(reported, "AT", timezone.now().timestamp() - 30)

    def make() -> Any:
        run = make_job(people["user"], "running").runs.get()
        Path(run.run_dir, "progress.jsonl").touch()
        return run

    return make
