"""What a cluster is asked when it foresees a start: the same as when the job is submitted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gridportal.base.batch_system import RunSpec
from gridportal.base.clusters import Cluster
from scheduling.jobs.models import Application
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.services import start_forecast


def test_a_start_is_foreseen_for_ranks_with_their_needs(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[RunSpec] = []

    def expected_start(spec: RunSpec, *, timeout: float | None = None) -> float:
        asked.append(spec)
        return 4e9

    settings.CLUSTERS = {"hpc": Cluster(name="hpc", backend="slurm")}
    there = SimpleNamespace(forecast=SimpleNamespace(expected_start=expected_start))
    monkeypatch.setattr(start_forecast, "backend", lambda *_: there)
    job = JobSpec(
        Application(command=["./solver"], launcher=["srun", "-n", "{ranks}"]),
        {},
        ranks=4,
        cpus_per_rank=2,
        memory_per_rank=300,
        gres_per_rank="gpu:1",
        cluster="hpc",
        time_limit=60,
    )
    found = start_forecast.forecast_starts(job, [("n1", "n2", "n1", "n2")], None)
    assert list(found.starts) == [("n1", "n2", "n1", "n2")]
    (spec,) = asked
    assert spec.finds_nodes
    assert (spec.nodes, spec.time_limit) == (("n1", "n2", "n1", "n2"), 60)
    assert (spec.cpus_per_rank, spec.memory_per_rank, spec.gres_per_rank) == (2, 300, "gpu:1")
