"""The cost of a redistribution: what moves, what is made of trials, and one real move on a Grid."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridportal.base.errors import BackendError
from gridportal.experiments import registry
from gridportal.experiments.interface import Trial
from gridportal.experiments.redistribution.measurement import NEW, RedistributionCost, Scale, new_layout
from gridportal.experiments.test_grid import own_grids
from gridportal.runtime.srs import layouts
from tests.gridportal.experiments import recorded
from tests.gridportal.testbed.conftest import need_namespaces


def test_matrices_go_to_two_by_four_ranks_and_what_all_have_to_all():
    assert new_layout({"layout": layouts.dump(layouts.parsed("block-cyclic:64x64:2x2"))}, 8).text == (
        "block-cyclic:64x64:2x4"
    )
    assert new_layout({"layout": layouts.dump(layouts.replicated(4))}, 8).text == "replicated:8"


def test_errors_are_fractions_of_the_real_time(tmp_path):
    moves = {"0/1000": (8.0, 10.0), "0/2000": (44.0, 40.0)}
    done = {
        key: {"size": int(key.split("/")[1]), "bytes": 1, "predicted": predicted, "seconds": seconds}
        for key, (predicted, seconds) in moves.items()
    }
    overall = recorded.summarized("redistribution", tmp_path, done)["overall"]
    assert overall["mean_error"] == pytest.approx(0.15)
    assert overall["worst_error"] == pytest.approx(0.2)
    assert overall["bias"] == pytest.approx(-0.05)
    assert overall["too_short_seconds"] == {"least": -4.0, "most": 2.0}


def test_the_papers_seconds_stand_beside_ours(tmp_path):
    experiment, result = registry.named("redistribution"), recorded.keep("redistribution", tmp_path)
    cells = [cell for table in experiment.tables(result) for row in table.rows for cell in row]
    assert "30.0 to 40.0" in cells
    assert "paper: 30.0 to 40.0 s, of up to 500 s" in experiment.finding(result)


@pytest.mark.grid
@pytest.mark.timeout(400)
def test_a_factorization_moves_over_the_slow_link_and_tells_what_reading_took(tmp_path: Path) -> None:
    need_namespaces()
    with own_grids(tmp_path) as grids:
        experiment = RedistributionCost(Scale((500,), 1), 1, tmp_path, grids)
        if not grids.on("grads").client.status()["cgroups"]:
            pytest.skip("No control group is writable here, so nodes have no share of the processor.")
        with pytest.raises(BackendError, match="the network was not measured"):
            experiment.perform(Trial("0/500", {"size": 500, "round": 0}), {})
        network, move = experiment.trials()
        done = {network.key: experiment.perform(network, {})}
        found = experiment.perform(move, done)
        assert found["nodes"] == list(NEW)
        assert found["bytes"] == 8 * (500 * 501 + 1)
        assert found["seconds"] > 8 * 500 * 500 / 2.5e6 * 0.5, "over a link of 20 Mbit/s"
        assert found["predicted"] > 0
        assert all(cpu < 0.2 for cpu in found["cpu"].values())
        left = [path for path in (grids.on("grads").client.directory / "depots").rglob("*") if path.is_file()]
        assert left == []
