"""From reports of agents to samples."""

from __future__ import annotations

from typing import Any

import pytest

from monitoring.history.core.samples import Sample
from monitoring.telemetry.core.reports import samples_of

BEFORE: dict[str, Any] = {
    "pid": 7,
    "up": 100.0,
    "cpu": 1.0,
    "load": 0.0,
    "memory": [5, 9],
    "disk": [6, 8],
    "interfaces": {"eth0": [1000, 500, 80.0, 40.0]},
    "runs": {},
    "peers": {"10.0.0.2": [100, 100]},
}
REPORT: dict[str, Any] = {
    **BEFORE,
    "up": 110.0,
    "cpu": 0.5,
    "load": 1.0,
    "interfaces": {"eth0": [11_000, 500, 1.0, 2.0]},
    "runs": {"/runs/7": {"load": 0.75, "tx": 1000, "rx": 0, "memory": 5e6}},
    "peers": {"10.0.0.2": [600, 100], "8.8.8.8": [9, 9]},
}


def figures(report: dict[str, Any], before: dict[str, Any] | None) -> dict[tuple[str, str], float]:
    found = list(samples_of("n1", report, before, 50.0, {"10.0.0.2": "n2", "10.0.0.1": "n1"}))
    assert all(isinstance(sample, Sample) and sample.at == 50.0 for sample in found)
    assert len({(sample.subject, sample.metric) for sample in found}) == len(found)
    return {(sample.subject, sample.metric): sample.value for sample in found}


def test_rates_are_means_since_the_report_before():
    found = figures(REPORT, BEFORE)
    assert found["n1:eth0", "tx"] == 8000.0
    assert found["n1:eth0", "rx"] == 0.0
    assert found["n1>n2", "tx"] == 400.0
    assert found["n1@7", "tx"] == 800.0
    assert ("n1>8.8.8.8", "tx") not in found


def test_infiniband_has_rates_of_its_own_between_two_reports():
    before, report = {**BEFORE, "infiniband": {"mlx5_0": [1000, 0]}}, {**REPORT, "infiniband": {"mlx5_0": [6000, 250]}}
    found = figures(report, before)
    assert (found["n1:mlx5_0", "ib_tx"], found["n1:mlx5_0", "ib_rx"]) == (4000.0, 200.0)
    assert ("n1:mlx5_0", "ib_tx") not in figures(report, BEFORE)
    assert ("n1:mlx5_0", "tx") not in found


def test_loads_of_runs_are_told_apart_from_the_rest():
    found = figures(REPORT, BEFORE)
    assert found["n1", "load"] == 1.0
    assert found["n1", "load_runs"] == found["n1@7", "load"] == 0.75
    assert found["n1@7", "memory"] == 5e6


def test_without_a_report_before_interfaces_have_the_last_second_and_the_rest_no_rate():
    found = figures(REPORT, None)
    assert found["n1:eth0", "tx"] == 1.0
    assert ("n1>n2", "tx") not in found
    assert ("n1@7", "tx") not in found


@pytest.mark.parametrize("change", [{"pid": 8}, {"up": 100.0}, {"up": 90.0}])
def test_another_life_of_the_agent_gives_no_rates_across(change: dict[str, Any]):
    assert figures({**REPORT, **change}, BEFORE)["n1:eth0", "tx"] == 1.0


def test_a_counter_that_fell_gives_no_rate():
    found = figures({**REPORT, "interfaces": {"eth0": [999, 500, 3.0, 4.0]}, "peers": {"10.0.0.2": [50, 0]}}, BEFORE)
    assert found["n1:eth0", "tx"] == 3.0
    assert ("n1>n2", "tx") not in found


@pytest.mark.parametrize(
    "change",
    [
        {"cpu": None},
        {"cpu": "x"},
        {"load": float("nan")},
        {"load": -1},
        {"memory": ["a", 1]},
        {"interfaces": 7},
        {"infiniband": 7},
        {"runs": {"a": 1}},
    ],
)
def test_what_cannot_be_read_is_refused(change: dict[str, Any]):
    with pytest.raises((ValueError, TypeError, LookupError, AttributeError)):
        figures({**REPORT, **change}, BEFORE)


def test_a_disk_that_nobody_could_look_at_is_absent():
    assert ("n1", "disk_free") not in figures({**REPORT, "disk": None}, None)
