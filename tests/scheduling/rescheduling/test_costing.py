"""How long reading is predicted to take: from one node on as many ranks as before, else from all of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.network.topology import Topology, parse
from scheduling.checkpoints.models import RuntimeSupport
from scheduling.checkpoints.services.reserving import choose_elsewhere
from scheduling.placing.services.start_forecast import GroupForecasts
from scheduling.rescheduling.core.move_cost import CostKind, CostPhase, worst_case
from scheduling.rescheduling.models import ReschedulingPolicy
from scheduling.rescheduling.services import costing, queue_waits
from scheduling.rescheduling.services.costing import seconds_of_reading
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints import stoppable_jobs as stoppable

MB = 1_000_000


@pytest.fixture
def pairs() -> Topology:
    """Four nodes with paths of 8 Mbit/s between each two, which share nothing."""
    names = "abcd"
    links = [{"source": one, "target": other, "capacity": 8e6} for one in names for other in names if one != other]
    return parse(
        {"directed": True, "graph": {"kind": "pairs"}, "nodes": [{"id": name} for name in names], "links": links}
    )


def test_on_as_many_ranks_each_reads_from_one_node(pairs: Topology) -> None:
    assert seconds_of_reading(pairs, 8 * MB, ["a", "b"], ["c", "d"]) == pytest.approx(4.0)


def test_on_another_number_each_reads_from_all(pairs: Topology) -> None:
    assert seconds_of_reading(pairs, 8 * MB, ["a", "b", "c"], ["d"]) == pytest.approx(8 / 3, rel=1e-3)


def test_what_stays_on_its_node_takes_no_time(pairs: Topology) -> None:
    assert seconds_of_reading(pairs, 8 * MB, ["a", "b"], ["a", "b"]) == 0.0


@pytest.fixture
def run(fake_grid: FakeGrid, submit: Any, application: Any) -> Run:
    """It computed 7 s after it was handed over, and reported its first phase of 2 s then."""
    stoppable.stoppable(application)
    found = stoppable.newest(stoppable.running(submit))
    handed = timezone.now() - timedelta(seconds=60)
    Run.objects.filter(pk=found.pk).update(created_at=handed)
    PhaseReport.objects.create(run=found, at=handed + timedelta(seconds=9), phase="step", seconds=2.0)
    found.refresh_from_db()
    return found


def test_without_earlier_moves_the_start_takes_what_it_took_this_run(run: Run) -> None:
    both = costing.costs(run, choose_elsewhere(run), ReschedulingPolicy(cluster="grid"))
    assert both[CostKind.PREDICTED].seconds[CostPhase.START] == pytest.approx(7.0)
    assert both[CostKind.PREDICTED].seconds[CostPhase.QUEUE] == 0.0
    assert both[CostKind.WORST_CASE] == worst_case()


@pytest.mark.parametrize(
    ("layout", "new", "seconds"),
    [
        ("block:2", ["c", "c", "d", "d"], 4.0),  # not 2, as from all four pairs at once
        ("replicated:2", ["c", "d"], 8.0),  # not 4, for each needs all of it
        ("shares:500000,500000", ["c", "c", "d", "d"], 2.0),  # nobody knows how: equal shares from each
    ],
)
def test_the_map_of_the_program_says_who_reads_what(
    run: Run, pairs: Topology, layout: str, new: list[str], seconds: float
) -> None:
    array = {"name": "x", "dtype": "<f8", "shape": [MB], "layout": layout}
    RuntimeSupport.objects.update_or_create(job=run.job, defaults={"arrays": [array], "bytes": 8 * MB, "ranks": 2})
    run.placement.nodes = ["a", "b"]
    choice = choose_elsewhere(stoppable.newest(run.job))._replace(topology=pairs, nodes=tuple(new))
    assert costing._redistribution(run, choice) == pytest.approx(seconds, rel=1e-3)


def test_what_slurm_foresees_of_the_other_nodes_is_the_wait(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own nodes are free by then, so nobody asks for these."""
    own, soon = run.placement.nodes[0], timezone.now() + timedelta(seconds=100)
    asked = []

    def forecast(job: Any, groups: list[list[str]], owner: Any) -> GroupForecasts:
        asked.extend(groups)
        return GroupForecasts({("n9",): soon})

    monkeypatch.setattr(queue_waits, "forecast_starts", forecast)
    assert queue_waits.seconds(run, [own, "n9"]) == pytest.approx(100.0, abs=5.0)
    assert asked == [["n9"]]
    assert queue_waits.seconds(run, run.placement.nodes) == 0.0


def test_nodes_that_another_job_has_are_free_at_the_end_of_its_time(run: Run, submit: Any) -> None:
    other = stoppable.running(submit)
    nodes = stoppable.newest(other).placement.nodes
    other.started_at, other.time_limit = timezone.now(), 300
    other.save()
    assert queue_waits.seconds(run, nodes) == pytest.approx(300.0, abs=10.0)
    other.time_limit = None
    other.save()
    assert queue_waits.seconds(run, nodes) is None
