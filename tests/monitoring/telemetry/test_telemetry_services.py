"""Measuring: what is written, who may measure, and what happens when the Grid is not there."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from gridportal.base.errors import BackendError
from monitoring import tasks
from monitoring.clusters import selectors as clusters_selectors
from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.selectors import series
from monitoring.status.selectors import network_status
from monitoring.telemetry.adapters.grid import GridTelemetry
from monitoring.telemetry.services import clusters, reach, sweeps
from tests.fake_grid import FakeGrid


@pytest.fixture
def grid(monkeypatch: pytest.MonkeyPatch) -> FakeGrid:
    fake = FakeGrid()
    monkeypatch.setattr(reach, "telemetry", lambda cluster="grid": GridTelemetry(fake))
    return fake


def seen(subject: str, metric: str) -> list[float]:
    now = timezone.now()
    return series.history("grid", subject, metric, now - timedelta(minutes=1), now).value.tolist()


@pytest.mark.django_db
def test_a_sweep_writes_links_nodes_and_readings(grid: FakeGrid) -> None:
    grid.rates[("n1", "n2")] = 20e6
    grid.cpus["n3"] = 0.25
    cluster = sweeps.measure()
    status = network_status.network_status()
    assert status is not None
    rates = {(link.source, link.target): link.bandwidth for link in status.topology.links}
    assert (rates[("n1", "n2")], rates[("n2", "n1")]) == (20e6, 90e6)
    assert status.topology.node("n3").cpu == 0.25
    assert all(link.capacity == 100e6 for link in status.topology.links)
    assert (status.topology.kind, status.topology.directed) == ("pairs", True)
    assert cluster.probe_seconds == 0.1
    assert seen("n1>n2", "bandwidth") == [20e6]


@pytest.mark.django_db
def test_before_any_measurement_peaks_stand_in_and_it_says_so(grid: FakeGrid) -> None:
    assert network_status.network_status() is None
    clusters.refresh_cluster(GridTelemetry(grid).facts())
    status = network_status.network_status()
    assert status is not None
    assert not status.measured
    assert {link.bandwidth for link in status.topology.links} == {100e6}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("measured", "selected"),
    [(48.26e6, 48e6), (48.51e6, 49e6), (99.9e6, 100e6), (1e3, 1e6), (0.0, 0.0)],
)
def test_the_selection_sees_whole_percents_of_the_peak_and_rows_what_was_measured(
    grid: FakeGrid, measured: float, selected: float
) -> None:
    grid.rates[("n1", "n2")] = measured
    grid.cpus["n1"] = 0.98765
    sweeps.measure()
    status = network_status.network_status()
    assert status is not None
    rates = {(link.source, link.target): link.bandwidth for link in status.topology.links}
    assert rates[("n1", "n2")] == selected
    assert status.topology.node("n1").cpu == 0.99
    row = clusters_selectors.links("grid").get(source__name="n1", target__name="n2")
    assert (row.bandwidth, row.source.cpu) == (measured, 0.98765)
    assert seen("n1>n2", "bandwidth") == [measured]


@pytest.mark.django_db
def test_the_peak_of_a_network_is_that_of_its_best_link(grid: FakeGrid) -> None:
    assert clusters_selectors.peak_bandwidth() is None
    sweeps.measure()
    assert clusters_selectors.peak_bandwidth() == 100e6


@pytest.mark.django_db
def test_a_network_status_takes_four_queries(grid: FakeGrid, django_assert_num_queries: Any) -> None:
    sweeps.measure()
    with django_assert_num_queries(4):
        network_status.network_status()


@pytest.mark.django_db
def test_a_young_measurement_is_kept_and_an_old_one_repeated(grid: FakeGrid) -> None:
    sweeps.measure()
    sweeps.measure(max_age=30)
    assert grid.asked.count("probe") == 1
    Cluster.objects.update(measured_at=timezone.now() - timedelta(seconds=31))
    sweeps.measure(max_age=30)
    sweeps.measure()
    assert grid.asked.count("probe") == 3


@pytest.mark.django_db
def test_a_grid_that_is_down_is_written_down_and_raised(grid: FakeGrid) -> None:
    sweeps.measure()
    grid.down = True
    with pytest.raises(BackendError):
        sweeps.measure()
    cluster = Cluster.objects.get()
    assert "No Grid is up" in cluster.error
    assert cluster.measuring_until is None
    tasks.measure_network(max_age=0)
    grid.down = False
    assert sweeps.measure().error == ""


@pytest.mark.django_db
def test_another_topology_replaces_the_old_and_the_same_one_keeps_what_was_measured(grid: FakeGrid) -> None:
    sweeps.measure()
    clusters.refresh_cluster(GridTelemetry(grid).facts())
    assert Link.objects.exclude(bandwidth=None).count() == 12
    grid.names, grid.name = ["m1", "m2"], "small"
    sweeps.refresh_loads()
    assert list(Node.objects.values_list("name", flat=True)) == ["m1", "m2"]
    assert Link.objects.count() == 2
    assert Cluster.objects.get().topology == "small"


@pytest.mark.django_db
def test_loads_are_refreshed_without_a_transfer(grid: FakeGrid) -> None:
    sweeps.measure()
    grid.cpus["n2"] = 0.5
    sweeps.refresh_loads()
    assert Node.objects.get(name="n2").cpu == 0.5
    assert grid.asked.count("probe") == 1


@pytest.mark.django_db
def test_a_network_on_which_programs_run_is_measured_less_often(grid: FakeGrid) -> None:
    tasks.measure_network()
    Cluster.objects.update(measured_at=timezone.now() - timedelta(seconds=100))
    grid.loads["n2"] = 1.0
    tasks.measure_network()
    assert grid.asked.count("probe") == 1
    grid.loads.clear()
    tasks.measure_network()
    assert grid.asked.count("probe") == 2


@pytest.mark.django_db
def test_the_lease_of_a_killed_measurer_runs_out(grid: FakeGrid) -> None:
    sweeps.measure()
    soon = timezone.now() + timedelta(seconds=0.3)
    Cluster.objects.update(measuring_until=soon)
    assert sweeps.measure().measuring_until is None
    assert grid.asked.count("probe") == 2


@pytest.mark.django_db(transaction=True)
def test_two_workers_share_one_sweep(grid: FakeGrid, monkeypatch: pytest.MonkeyPatch) -> None:
    sweeps.measure()
    Cluster.objects.update(measured_at=timezone.now() - timedelta(hours=1))
    grid.asked.clear()
    sweeping, real = threading.Event(), grid.probe

    def slow() -> dict[str, Any]:
        sweeping.set()
        other_waits.wait(5)
        return real()

    other_waits = threading.Event()
    monkeypatch.setattr(grid, "probe", slow)
    wait = sweeps._wait

    def waiting(row: Cluster) -> Cluster:
        other_waits.set()
        return wait(row)

    monkeypatch.setattr(sweeps, "_wait", waiting)

    def other() -> None:
        try:
            sweeps.measure(max_age=30)
        finally:
            connection.close()

    thread = threading.Thread(target=other)
    thread.start()
    assert sweeping.wait(10)
    sweeps.measure(max_age=30)
    thread.join(10)
    assert grid.asked.count("probe") == 1


@pytest.mark.parametrize(
    "answer", [{}, {"at": 1}, {"at": 1, "seconds": 1, "bytes": 1, "pairs": [{"source": "n1"}], "nodes": []}]
)
def test_a_sweep_that_cannot_be_read_is_a_sentence(answer: dict[str, Any]) -> None:
    fake = FakeGrid()
    fake.probe = lambda: answer  # type: ignore[method-assign]
    with pytest.raises(BackendError, match="cannot be read"):
        GridTelemetry(fake).measure()
