"""The summary of the slowdown experiment, from trials as they are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridportal.experiments.grid_programs import Program
from gridportal.experiments.slowdown.measurement import Scale, Slowdown

SCALE = Scale({"cg": Program("cg"), "ep": Program("ep")}, 2, 0.1, 1.0, "cg", 2)


def recorded(**seconds: dict[str, float]) -> dict[str, dict[str, float]]:
    return {
        f"{number}/{name}/{method}": {"seconds": value}
        for number in range(2)
        for name, methods in seconds.items()
        for method, value in methods.items()
    }


def test_slowdown_is_what_came_on_top_of_the_dedicated_time():
    done = recorded(
        cg={"dedicated": 2.0, "random": 3.0, "all-all": 2.6, "pattern-only": 2.5, "pattern": 2.2, "oracle": 2.1},
        ep={"dedicated": 1.0, "random": 1.0, "pattern": 1.0},
    )

    result = Slowdown(SCALE, 1, Path("none"), None).summarize(done)

    assert result["mean_slowdown"]["random"] == pytest.approx(0.5)
    assert result["mean_slowdown"]["pattern"] == pytest.approx(0.1)
    assert result["ratios"] == {"pattern/random": pytest.approx(0.2), "pattern/all-all": pytest.approx(1 / 3)}
    assert result["programs"]["ep"]["random"]["mean"] == pytest.approx(0.0)
    assert result["programs"]["cg"]["oracle"]["n"] == 2


def test_while_a_round_is_under_way_mean_and_interval_tell_of_the_same_runs():
    done = recorded(cg={"dedicated": 2.0, "random": 3.0, "pattern": 2.2}, ep={"dedicated": 1.0})
    scale = Scale({**SCALE.programs, "lu": Program("lu")}, 2, 0.1, 1.0, "cg", 2)
    done |= {"0/lu/dedicated": {"seconds": 1.0}, "0/lu/random": {"seconds": 4.0}}  # round 1 has not come to it
    done |= {"0/lu/pattern": {"seconds": 2.0}, "1/cg/random": {"seconds": 2.2}}

    result = Slowdown(scale, 1, Path("none"), None).summarize(done)

    for method in ("random", "pattern"):
        assert result["intervals"][method]["mean"] == pytest.approx(result["mean_slowdown"][method])
        assert result["intervals"][method]["n"] == 2
    assert "all-all" not in result["intervals"]


def test_nothing_is_claimed_of_what_has_not_run():
    result = Slowdown(SCALE, 1, Path("none"), None).summarize({})

    assert set(result["mean_slowdown"].values()) == {None}
    assert result["programs"]["cg"] == {}


def test_every_method_of_a_round_meets_the_same_network_and_is_listed_once():
    keys = [trial.key for trial in Slowdown(SCALE, 1, Path("none"), None).trials()]

    assert len(keys) == len(set(keys))
    assert keys.index("0/network") < keys.index("0/cg/dedicated") < keys.index("0/cg/pattern")
    assert "0/ep/oracle" not in keys
