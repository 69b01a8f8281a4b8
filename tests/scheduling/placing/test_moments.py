"""Which figures of the network a job goes by: those of now, or what is forecast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from monitoring.status.selectors import network_status as status_network
from monitoring.telemetry.core.figures import FORECAST, NOW, When
from monitoring.telemetry.services import sweeps
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.services import rounds
from scheduling.placing.services.preview import preview
from tests.fake_grid import FakeGrid

Submit = Callable[..., Job]


@pytest.fixture
def fading(fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch) -> list[When]:
    """A cluster whose best node's links are forecast to be nearly full; the moments that were asked about."""
    fake_grid.rates = {(a, b): 40e6 for a in ("n1", "n2") for b in fake_grid.names}
    sweeps.measure()
    real, asked = status_network.network_status, []

    def status(name: str = "grid", *, when: When = NOW, **more: Any) -> status_network.NetworkStatus | None:
        asked.append(when)
        found = real(name, when=when, **more)
        if found is None or when == NOW:
            return found
        links = tuple(
            replace(link, bandwidth=1e6) if "n3" in (link.source, link.target) else link
            for link in found.topology.links
        )
        return replace(found, topology=replace(found.topology, links=links))

    monkeypatch.setattr(status_network, "network_status", status)
    return asked


def test_a_job_that_goes_by_forecasts_avoids_what_will_be_slow(submit: Submit, fading: list[When]) -> None:
    job = submit(2, requirements={"network": "forecast"})
    rounds.place_and_start_all(job.cluster)
    assert "n3" not in job.runs.get().placement.nodes
    assert FORECAST in fading


def test_a_job_that_says_nothing_goes_by_the_network_as_it_is(submit: Submit, fading: list[When]) -> None:
    job = submit(2)
    rounds.place_and_start_all(job.cluster)
    assert sorted(job.runs.get().placement.nodes) == ["n3", "n4"]
    assert FORECAST not in fading


def test_the_preview_goes_by_the_same_figures(application: Any, fading: list[When]) -> None:
    def nodes(**more: Any) -> list[str]:
        found = list(preview(JobSpec(application, {}, 2, pattern="ring", **more)).candidates[0].nodes)
        return found

    assert "n3" in nodes()
    assert "n3" not in nodes(requirements=Requirements(network="forecast"))
