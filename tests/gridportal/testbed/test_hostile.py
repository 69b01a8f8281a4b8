"""Values that no Grid can use are refused in one sentence, and the Grid still answers everyone else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gridportal.base.errors import InputError
from gridportal.testbed.client import Grid
from tests.gridportal.testbed.conftest import eventually

NAN, INF = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def quiet(plain: Grid) -> None:
    plain.load(stop=True)
    plain.traffic(stop=True)


@pytest.mark.parametrize("value", [NAN, INF, -INF, 0.0, -1.0, 1e300])
def test_seconds_are_finite_and_above_zero(plain: Grid, value: float, tmp_path: Path) -> None:
    for ask in (
        lambda: plain.load(["n1"], seconds=value),
        lambda: plain.traffic(seconds=value),
        lambda: plain.probe(["n1", "n2"], seconds=value),
    ):
        with pytest.raises(InputError, match=r"seconds is .*; accepted is seconds above 0"):
            ask()
    with pytest.raises(InputError, match=r"time_scale is .*; accepted is a number above 0, at most 1,000"):
        plain.traffic(time_scale=value)
    with pytest.raises(InputError, match=r"timeout is .*; accepted is seconds above 0"):
        plain.run(["n1"], ["true"], timeout=value)
    with pytest.raises(InputError, match=r"time_limit is .*; accepted is seconds above 0"):
        plain.submit(f"limit-{value}", "true", ["n1"], str(tmp_path), value)
    status = plain.status()
    assert not status["load"]
    assert not status["traffic"]


@pytest.mark.parametrize("streams", [10**8, 10_001, -1, 1.5, True])
def test_streams_have_a_bound(plain: Grid, streams: int) -> None:
    with pytest.raises(InputError, match=r"streams is .*; accepted is a whole number from 0 to 10,000"):
        plain.traffic(streams=streams)


def test_as_many_streams_as_are_accepted_leave_the_grid_answering(plain: Grid) -> None:
    about = plain.traffic(streams=10_000)
    assert about
    assert about["streams"] == 10_000
    assert plain.status()["traffic"]["seed"] == 0


def test_a_node_that_is_named_twice_is_loaded_once(plain: Grid) -> None:
    assert plain.load(["n1", "n1", "n2", "n1"], processes=2) == {"n1": 2, "n2": 2}


def test_load_has_a_bound_on_each_node_and_on_all(plain: Grid) -> None:
    plain.load(["n1"], processes=40)
    with pytest.raises(InputError, match="processes is 40; accepted is at most 64 on a node, and n1 has 40"):
        plain.load(["n2", "n1"], processes=40)
    many = [f"n{number}" for number in range(2, 8)]
    with pytest.raises(InputError, match="'40 on each of 6 nodes'; accepted is at most 256 on all nodes"):
        plain.load(many, processes=40)
    assert plain.status()["load"] == {"n1": 40}


def test_load_ends_after_its_seconds(plain: Grid) -> None:
    plain.load(["n1", "n2"], processes=2, seconds=0.2)
    until = time.monotonic() + 20
    while plain.status()["load"]:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_value_comes_back_as_it_was_given(plain: Grid) -> None:
    with pytest.raises(InputError, match=r"^node is 'zzz'; accepted"):
        plain.load(["zzz"])
    with pytest.raises(InputError, match=r"^processes is 0; accepted"):
        plain.load(["n1"], processes=0)


def test_a_node_is_as_busy_as_was_asked_and_idle_after_the_stop(plain: Grid) -> None:
    def running() -> int:
        return next(node["pids"] for node in plain.status()["nodes"] if node["id"] == "n4")

    idle = running()
    assert plain.load(["n4"], processes=5) == {"n4": 5}
    eventually(lambda: running() == idle + 5, "five busy processes")
    assert plain.load(["n4"], stop=True) == {}
    eventually(lambda: running() == idle, "their end")
