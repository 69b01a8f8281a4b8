"""What it costs to tell the gain of a move to nodes that an operator names, on large clusters: processor seconds of the
page, without waiting for a measurement, and as multiples of one sort of a million numbers by Python in the same run."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from gridportal.network.sweep_result import ClusterFacts
from monitoring.telemetry.services import clusters
from scheduling.checkpoints.models import RuntimeSupport
from scheduling.contracts.models import Contract
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction
from scheduling.placing.services.snapshot import sweeps
from tests.bench.fabrics import fat_tree
from tests.bench.test_preview_bench import measure, numbers
from tests.scheduling.rescheduling.proposals import propose

pytestmark = [pytest.mark.bench, pytest.mark.django_db]
#: Processor seconds at most, by the number of nodes.
MOST = {1000: 2.0, 10_000: 10.0}


@pytest.mark.parametrize("ranks", [8, 64])
@pytest.mark.parametrize("count", MOST)
def test_the_gain_on_nodes_that_somebody_names(
    count: int, ranks: int, make_job: Any, people: Any, client_as: Any, monkeypatch: Any, capsys: Any
) -> None:
    for name in ("measure", "refresh_loads"):  # no cluster of this size answers here
        monkeypatch.setattr(sweeps, name, lambda *_, **__: None)
    topology = fat_tree(count)
    measure(clusters.refresh_cluster(ClusterFacts(topology, "", ""), "grid"), topology)
    names = [node.id for node in topology.compute_nodes()]
    now, there = names[:ranks], names[count // 2 :][:ranks]
    job = make_job(people["user"], "running", node_count=ranks, method="pattern", pattern="all-to-all")
    job.application.ranks = {"min": 1, "max": ranks}
    job.application.save()
    run = job.runs.get()
    run.placement.nodes = now
    run.placement.save()
    RuntimeSupport.objects.create(job=job, bytes=10**9)
    promised = Prediction("a model", (PhasePrediction("step", 100, (10.0,)),))
    Contract.objects.create(run=run, promised=promised.document())
    decision = propose(job, nodes_now=now, nodes=there)
    client, htmx = client_as("operator"), {"HX-Request": "true"}
    client.get("/help/")  # what is loaded once
    address = f"/migrations/{decision.pk}/elsewhere"
    took = []
    for _ in range(3):
        begun = time.process_time()
        answer = client.get(address, {"nodes": " ".join(there)}, headers=htmx)
        took.append(time.process_time() - begun)
        assert "there instead" in answer.content.decode()
    begun = time.process_time()
    assert sorted(numbers)
    unit = time.process_time() - begun
    with capsys.disabled():
        sys.stdout.write(
            f"\n  {ranks} ranks on a tree of {count}: first {took[0]:.2f} s, then {min(took[1:]):.2f} s of processor"
            f" ({min(took[1:]) / unit:.2f} sorts of a million numbers)"
        )
    assert took[0] < MOST[count]
