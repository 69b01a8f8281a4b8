"""A job on the map of its cluster: its nodes, its pairs by what they get, and another candidate beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from monitoring.status.charts import network_map
from monitoring.status.charts.network_map import Marked, MarkedGroup, Spot, Wire
from scheduling.jobs.models import Job
from scheduling.pages.charts import placement_map
from scheduling.placing.models import Placement
from scheduling.placing.services import rounds
from tests.fake_grid import FakeGrid

PLACES = {"n1": (0.0, 0.0), "n2": (1.0, 0.0), "n3": (1.0, 1.0)}
SPOTS = [Spot(name, "compute", 1.0) for name in PLACES]
LINES = [Wire("n1", "n2", 1e8, 9e7), Wire("n1", "n3", 1e8, 4e7)]


def traces(marked: Marked) -> list[dict[str, Any]]:
    return network_map.figure(SPOTS, LINES, PLACES, marked)["data"]


def dotted(trace: dict[str, Any]) -> bool:
    return trace.get("line", {}).get("dash") == "dot"


@pytest.fixture
def placed(submit: Callable[..., Job], fake_grid: FakeGrid) -> Placement:
    fake_grid.rates = {(a, b): 40e6 for a in ("n1", "n2") for b in fake_grid.names}
    job = submit(2, candidates=3)
    rounds.place_and_start_all(job.cluster)
    return job.runs.get().placement


def test_the_pairs_of_the_group_stand_on_top_by_what_they_get_and_the_rest_is_faint() -> None:
    group = MarkedGroup(("n1", "n3"), (Wire("n1", "n3", 1e8, 4e7),))
    lines = [trace for trace in traces(Marked(group)) if trace["mode"] == "lines"]
    assert [trace.get("opacity", 1.0) for trace in lines] == [network_map.FAINT, network_map.FAINT, 1.0]
    assert lines[-1]["line"]["color"] == "--a2"
    assert lines[-1]["x"][:2] == [0.0, 1.0]


def test_without_a_job_nothing_is_faint() -> None:
    assert all(trace.get("opacity", 1.0) == 1.0 for trace in traces(Marked()) if trace["mode"] == "lines")


def test_another_candidate_is_dotted_with_rings_around_its_nodes() -> None:
    chosen = MarkedGroup(("n1", "n2"), (Wire("n1", "n2", 1e8, 9e7),))
    beside = MarkedGroup(("n1", "n3"), (Wire("n1", "n3", 1e8, 4e7),))
    shown = traces(Marked(chosen, beside=beside))
    assert sum(dotted(trace) for trace in shown) == 1
    (rings,) = (trace for trace in shown if trace.get("marker", {}).get("symbol") == "circle-open")
    assert (rings["x"], rings["y"]) == ([0.0, 1.0], [0.0, 1.0])


@pytest.mark.parametrize(("y", "lines"), [(0.5, ["n1", ""]), (-0.5, ["", "n1"])])
def test_a_name_above_or_below_its_node_stands_outside_the_ring_of_another_candidate(
    y: float, lines: list[str]
) -> None:
    marked = Marked(MarkedGroup(("n2",)), beside=MarkedGroup(("n1",)))
    shown = network_map.figure(SPOTS[:2], [], {"n1": (0.0, y), "n2": (0.0, -y)}, marked)["data"]
    (dots,) = (trace for trace in shown if "customdata" in trace and "cliponaxis" in trace)
    assert [line.strip() for line in dots["text"][0].split("<br>")] == lines
    assert "" not in [line.strip() for line in dots["text"][1].split("<br>")]


def test_a_node_with_several_ranks_names_them() -> None:
    (dots,) = (
        trace
        for trace in traces(Marked(MarkedGroup(("n1", "n2", "n1"))))
        if "customdata" in trace and "cliponaxis" in trace
    )
    assert [text.strip() for text in dots["text"]] == ["n1 <br> ranks 0, 2", "n2 <br> rank 1", "n3"]


@pytest.mark.parametrize(
    ("asked", "shown"), [("2", 2), ("3", 3), ("1", None), ("4", None), ("x", None), ("", None), ("²", None)]
)
def test_only_a_candidate_that_there_is_stands_beside_it(placed: Placement, asked: str, shown: int | None) -> None:
    assert placement_map.beside(placed, asked) == shown


def test_the_page_draws_it_and_says_it_in_a_table(placed: Placement, people: Any) -> None:
    client = Client()
    client.force_login(people["operator"])
    page = client.get(f"/topology/?cluster=grid&job={placed.job_id}&beside=2").content.decode()
    assert "its bottleneck" in page
    assert "n3–n4" in page
    assert page.count("<td>taken</td>") == 1
    assert page.count("<td>group 2</td>") == 1
    assert "beside=3" in page
