"""The Cactus experiment: its runs, its calibration, the set that the matcher selects, and what is made of trials."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from gridportal.base.errors import InputError
from gridportal.experiments import registry
from gridportal.experiments.cactus.choosing_sets import selected
from gridportal.experiments.cactus.machines import by_rank, line_of, machines, topology_file
from gridportal.experiments.cactus.measurement import measurement
from gridportal.experiments.cactus.plans import Kind, Part
from gridportal.experiments.cactus.predicting import box_of, calibrated, line_of_facts
from gridportal.experiments.plan import Plan
from gridportal.network import topology_files
from gridportal.testbed.layout import plan
from scheduling.performance.core.cactus_model import CactusBox, communication
from tests.gridportal.experiments import recorded
from tests.gridportal.experiments.cactus.recorded import COST, START_UP, hop, trials

ALL_SITES = "torc1-torc3-torc5-o"


def test_the_papers_division_is_the_mappers() -> None:
    loaded = machines(("dralion", "cirque"), 1.0, {"cirque": 2.0})
    assert {each.name: planes for each, planes in line_of(list(loaded.values()), 200)} == {"dralion": 146, "cirque": 54}


def test_a_machine_with_two_processors_has_two_ranks_with_half_of_its_planes_each() -> None:
    both = machines(("torc6", "o"), 0.2, {})
    nodes, shares = by_rank([(both["torc6"], 30), (both["o"], 10)])
    assert (nodes, shares) == (["torc6", "torc6", "o"], [15, 15, 10])


def test_a_grid_of_some_machines_keeps_their_relative_speeds_and_processors(tmp_path: Path) -> None:
    loaded = topology_files.load(topology_file(tmp_path, ("cmajor", "torc1"), 0.3))
    assert {node.id: node.speed for node in loaded.compute_nodes()} == {"cmajor": 0.14589, "torc1": 0.3}
    assert plan(loaded).cpus == {"cmajor": 1, "torc1": 2}


def test_parts_are_run_by_their_name() -> None:
    keys = [trial.key for trial in measurement(Plan("cactus", only="shares"), Path("none"), None).trials()]
    assert "shares/0/146" in keys
    assert {key.split("/")[0] for key in keys} == {"shares"}
    with pytest.raises(InputError, match="only is 'all'; accepted is one of computing, communication"):
        measurement(Plan("cactus", only="all"), Path("none"), None)


def test_calibration_gives_back_the_costs_by_which_runs_were_made() -> None:
    done = trials(random.Random(1))
    facts = next(each for each in done.values() if each["part"] == Part.COMMUNICATION and each["kind"] == Kind.RUN)
    known = calibrated(facts, done)
    assert known is not None
    assert known.cost.point == pytest.approx(COST.point)
    assert known.cost.iteration == pytest.approx(COST.iteration)
    box, line = box_of(facts), line_of_facts(facts)
    for place in range(len(line)):
        assert communication(box, line, place, known.hop) == pytest.approx(communication(box, line, place, hop))
    assert known.start_up == {"one": START_UP, "several": START_UP}


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [(("mystere", "o", "saltimbanco"), ("mystere", "o", "saltimbanco")), (("o", "saltimbanco", "torc6"), ("torc6",))],
)
def test_the_matcher_selects_the_sets_of_the_paper(candidates: tuple[str, ...], expected: tuple[str, ...]) -> None:
    done = trials(random.Random(1))
    name = "two-sites" if "torc6" in candidates else "one-site"
    known = calibrated({"part": "selection", "candidates": name}, done)
    assert known is not None
    chosen = selected(CactusBox(100, 100, 100, 73), list(machines(candidates, 0.2, {}).values()), known)
    assert (chosen.names, chosen.exact) == (expected, True)


def test_a_summary_has_errors_of_both_models_the_division_and_the_sets(tmp_path: Path) -> None:
    result = recorded.keep("cactus", tmp_path)
    for part in ("computing", "communication"):
        assert 0 < result[part]["mean_error"] <= result[part]["worst_error"] < 0.06
    assert result["computing"]["lockstep_worst_error"] > 0.1, "on two processors"
    assert result["shares"]["division"] == [146, 54]
    assert result["selection"]["two-sites"]["is_fastest"] is True
    assert len(result["selection"]["one-site"]["sets"]) == 7
    assert json.dumps(result, allow_nan=False)


def test_the_papers_figures_stand_beside_ours(tmp_path: Path) -> None:
    experiment, result = registry.named("cactus"), recorded.keep("cactus", tmp_path)
    cells = [cell for table in experiment.tables(result) for row in table.rows for cell in row]
    assert {"13.1", "6.2", "59.0", "146:54 (mapper)", "torc6 (selected)"} <= set(cells)
    assert "wanted: 5.0 %, paper: 6.2 %" in experiment.finding(result)
    assert "torc6 were selected, the fastest set." in experiment.finding(result)


def test_computing_is_held_against_a_run_just_before_it() -> None:
    keys = [trial.key for trial in measurement(Plan("cactus", only="computing"), Path("none"), None).trials()]
    for name in ("cmajor", "o", "torc1"):
        place = keys.index(f"computing/point/50/{name}")
        assert keys[place + 1 : place + 4] == [f"computing/{name}/50/{load}" for load in (0, 1, 2)]
    done, facts = trials(random.Random(1)), {}
    for key in (f"computing/{name}/50/1" for name in ("cmajor", "torc1")):
        facts = done[key]
        known = calibrated(facts, done)
        assert known is not None
        assert known.cost.point == pytest.approx(COST.point)
    slower = {key: {**each, "iteration": 2 * each["iteration"]} for key, each in done.items() if "50/torc1" in key}
    known = calibrated(facts, done | slower)
    assert known is not None
    assert known.cost.point > 1.9 * COST.point


def test_nodes_that_compute_at_the_same_time_ask_for_no_more_than_two_processors() -> None:
    for trial in measurement(Plan("cactus", full=True), Path("none"), None).trials():
        line = line_of_facts(trial.facts)
        assert sum(machine.speed * machine.cpus for machine, _ in line) <= 2.0, trial.key


def test_exchanges_between_sites_are_measured_with_planes_of_the_same_size_just_before() -> None:
    keys = [trial.key for trial in measurement(Plan("cactus", only="communication"), Path("none"), None).trials()]
    for side, depth in ((100, 100), (220, 420)):
        place = keys.index(f"communication/exchange/several/{side}")
        box = f"{side}x{side}x{depth}"
        assert keys[place + 1 : place + 3] == [f"communication/{each}/{box}" for each in (ALL_SITES, "torc1-o")]
    done = trials(random.Random(1))
    other = done["communication/exchange/several/220"]
    changed = done | {"communication/exchange/several/220": {**other, "iteration": 2 * other["iteration"]}}
    for box, grows in (("100x100x100", False), ("220x220x420", True)):
        facts = done[f"communication/torc1-o/{box}"]
        before, after = (calibrated(facts, each) for each in (done, changed))
        assert (before != after) is grows


def test_all_sets_of_six_machines_are_a_part_of_their_own_in_an_order_by_the_seed() -> None:
    def keys(seed: int) -> list[str]:
        trials = measurement(Plan("cactus", seed=seed, only="six"), Path("none"), None).trials()
        return [trial.key for trial in trials if trial.facts["kind"] == Kind.RUN]

    assert len(keys(1)) == 63
    assert (keys(1) == keys(2), set(keys(1)) == set(keys(2))) == (False, True)


def test_every_run_has_whole_iterations_and_a_share_for_each_rank() -> None:
    for trial in measurement(Plan("cactus", full=True), Path("none"), None).trials():
        assert len(trial.facts["nodes"]) == len(trial.facts["shares"])
        assert box_of(trial.facts).iterations >= 4
