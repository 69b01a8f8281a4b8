"""A fake Grid behind both adapters, and jobs submitted through the service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.fake_grid import FakeGrid
from tests.scheduling.fake_queue import FakeQueue


@pytest.fixture
def fake_grid(db: None, monkeypatch: pytest.MonkeyPatch) -> FakeGrid:
    """Four nodes; every service of both apps talks to it."""
    from monitoring import services as telemetry
    from monitoring.adapters.grid import GridTelemetry
    from scheduling import tasks
    from scheduling.adapters.grid import GridBackend
    from scheduling.services import running, starting, trial_runs, trials, trying

    monkeypatch.setattr(tasks, "_PAUSE", 0.0)  # nobody else submits
    monkeypatch.setattr(trials, "cores", lambda: 64)  # on few of them groups are tried one after the other
    grid = FakeGrid()
    monkeypatch.setattr(telemetry.reach, "telemetry", lambda cluster="grid": GridTelemetry(grid))
    for module in (running, starting, trial_runs, trying):
        monkeypatch.setattr(module, "backend", lambda *_, **__: GridBackend(grid))
    return grid


@pytest.fixture
def fake_queue(db: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> FakeQueue:
    """One Slurm cluster called hpc, of four nodes; every service of both apps talks to it."""
    from gridportal.clusters import Cluster
    from monitoring import services as telemetry
    from scheduling import tasks
    from scheduling.services import foresight, requeued, running, starting, trial_runs, trying
    from scheduling.services import queue as queue_service

    fake = FakeQueue()
    monkeypatch.setattr(tasks, "_PAUSE", 0.0)  # nobody else submits
    settings.CLUSTERS = {"hpc": Cluster(name="hpc", backend="slurm")}
    monkeypatch.setattr(telemetry.reach, "_slurm_source", lambda cluster: fake)
    monkeypatch.setattr(telemetry.sweeps, "_LOOK_AGE", 0.0)

    def backend(cluster: str, owner: Any = None, options: Any = None) -> FakeQueue:
        fake.chosen = options
        return fake

    for module in (running, starting, queue_service, requeued, foresight, trial_runs, trying):
        monkeypatch.setattr(module, "backend", backend)
    return fake


@pytest.fixture
def submit(people: dict[str, Any], application: Any) -> Callable[..., Any]:
    """submit(nodes=2, owner="user", **fields of JobSpec): a job that a person has just submitted."""
    from scheduling.core.requirements import Requirements
    from scheduling.services import JobSpec, submit_job

    def make(nodes: int = 2, owner: str = "user", **fields: Any) -> Any:
        values = {"parameters": {"klass": "S"}, "pattern": "ring", **fields}
        values["requirements"] = Requirements.read(values.get("requirements", {}))
        return submit_job(people[owner], JobSpec(application=application, node_count=nodes, **values))

    return make
