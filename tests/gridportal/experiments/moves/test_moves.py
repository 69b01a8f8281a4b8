"""Experiments on moves: which decisions count as right, what a case is, and one case on a real Grid."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gridportal.base.errors import BackendError, InputError
from gridportal.experiments import registry
from gridportal.experiments.interface import Trial
from gridportal.experiments.moves import case_process, scaled_grid
from gridportal.experiments.moves.move_case import CaseJob, CaseLoad, MoveCase, Rule
from gridportal.experiments.moves.move_verdicts import outcomes
from gridportal.experiments.moves.request_nodes import MSC, OPUS
from gridportal.experiments.plan import Plan
from gridportal.experiments.test_grid import own_grids
from gridportal.network import topology_files
from gridportal.testbed.client import Grid
from tests.gridportal.experiments import recorded
from tests.gridportal.experiments.moves.recorded_moves import run
from tests.gridportal.testbed.conftest import need_namespaces
from tests.waiting import looks


def judged(portal, opposite):
    found = outcomes({"a": {"portal": portal, "opposite": opposite}})
    return {case["cost"]: (case["decided"], case["right"]) for case in found["cases"]}, found["wrong"]


def test_a_move_that_ends_sooner_is_right_and_one_that_the_worst_case_forbids_is_wrong():
    assert judged(run(moved=True, seconds=50), run(moved=False, seconds=50, worst_gain=0.2)) == (
        {"predicted": ("move", True), "worst-case": ("stay", False)},
        {"predicted": 0, "worst-case": 1},
    )


def test_to_stay_is_wrong_where_the_forced_move_ends_sooner():
    verdicts, wrong = judged(run(moved=False, seconds=50, gain=0.1), run(moved=True, seconds=50))
    assert (verdicts["predicted"], wrong["predicted"]) == (("stay", False), 1)


def test_of_equal_times_either_decision_is_right():
    verdicts, _ = judged(run(moved=True, seconds=101), run(moved=False, seconds=25))
    assert verdicts["predicted"] == ("move", True)


@pytest.mark.parametrize("opposite", [None, run(moved=True, seconds=50)])
def test_a_case_that_ran_one_way_only_is_not_judged(opposite):
    found = outcomes({"a": {"portal": run(moved=True, seconds=50), "opposite": opposite}})
    assert (found["cases"], found["wrong"]["predicted"], found["better"]) == ([], None, None)


def test_a_case_that_could_not_be_moved_says_why(tmp_path):
    never = run(moved=False, seconds=50) | {"refusals": [{"at": 9.0, "why": "The portal declines: no_nodes."}]}
    done = {"5/portal": run(moved=False, seconds=50), "5/opposite": never}
    result = recorded.summarized("migration-load", tmp_path, done)
    assert result["unjudged"] == {"5": "The portal declines: no_nodes."}
    assert ["5", "The portal declines: no_nodes."] in registry.named("migration-load").tables(result)[1].rows


def test_shares_saved_and_how_far_times_of_moved_runs_lie_apart(tmp_path):
    done = {}
    for case, seconds in {"3": 40.0, "5": 60.0}.items():
        done |= {f"{case}/portal": run(moved=True, seconds=seconds), f"{case}/opposite": run(moved=False, seconds=50.0)}
    result = recorded.summarized("migration-load", tmp_path, done)
    assert result["better"] == pytest.approx((1 - 40 / 200 + 1 - 60 / 200) / 2)
    assert result["spread"] == pytest.approx(0.2)
    assert "Of 2 decisions 0 were wrong with the predicted cost" in registry.named("migration-load").finding(result)


def test_the_papers_wrong_decisions_stand_beside_ours(tmp_path):
    experiment, result = registry.named("migration-size"), recorded.keep("migration-size", tmp_path)
    rows = {row[0]: row for row in experiment.tables(result)[0].rows}
    assert rows["8000"][-1] == "worst-case: stay, wrong; predicted: move, right"
    assert rows["12000"][-1] == "—"


def test_a_case_is_read_as_it_was_written():
    case = MoveCase((CaseJob(100, 4), CaseJob(200, 8, 3.0)), CaseLoad(10, 5.0), Rule.MOVE, to=("opus1",))
    assert MoveCase.read(json.loads(json.dumps(case.document()))) == case


def test_the_scaled_grid_keeps_the_papers_proportions(tmp_path):
    found = topology_files.load(scaled_grid.write(tmp_path, (*MSC, *OPUS), processors=1))
    speeds = {node.id: node.speed for node in found.compute_nodes()}
    assert set(speeds) == {*MSC, *OPUS}
    assert speeds["opus1"] / speeds["msc1"] == pytest.approx(450 / 933, rel=1e-3)
    assert {node.labels["cpus"] for node in found.compute_nodes()} == {"1"}
    assert min(link.capacity for link in found.links) == pytest.approx(20e6 * scaled_grid.network_factor(1))


def test_a_minute_of_the_paper_is_as_long_as_the_run_without_load_says(tmp_path):
    """Size 12,000 took some 25 minutes there; where nothing is known of that, a minute has its planned length."""
    done = {"idle": run(moved=False, seconds=50.0 / 4)}
    scales = [recorded.summarized(name, tmp_path / name, done)["scale"] for name in ("migration-time", "opportunistic")]
    assert [scale["minute"] for scale in scales] == [2.0, 2 * scaled_grid.MINUTE]
    assert [scale["worst_case"] for scale in scales] == pytest.approx([33.0, 33.0])
    case = MoveCase((CaseJob(100, 4), CaseJob(200, 8, 3.0)), CaseLoad(10, 5.0, 7.0)).scaled(2.0)
    assert (case.jobs[0].after, case.jobs[1].after, case.load) == (0.0, 6.0, CaseLoad(10, 10.0, 14.0))


def test_one_case_can_be_asked_for(tmp_path):
    measurement = registry.named("migration-size").measurement
    keys = [trial.key for trial in measurement(Plan("migration-size", only="8000"), tmp_path, None).trials()]
    assert keys == ["idle", "first-move", "8000/portal", "8000/opposite"]
    with pytest.raises(InputError, match="one of 8000, 9000"):
        measurement(Plan("migration-size", only="8"), tmp_path, None)


def test_the_opposite_of_what_is_not_known_is_not_run(tmp_path):
    trials = registry.named("migration-time").measurement(Plan("migration-time"), tmp_path, None)
    with pytest.raises(BackendError, match="the runs without load did not end well"):
        trials.perform(Trial("5/portal", {"case": "5"}), {})
    with pytest.raises(BackendError, match="Its opposite is not known"):
        trials.perform(Trial("5/opposite", {"case": "5"}), {"first-move": run(moved=True, seconds=50)})


def test_a_run_that_stays_may_take_twice_as_long_as_the_one_that_was_moved(tmp_path, monkeypatch):
    trials = registry.named("migration-load").measurement(Plan("migration-load"), tmp_path, None)
    asked = []
    monkeypatch.setattr(trials, "_run", lambda key, case, before: asked.append((case.rule, case.enough)))
    done = {"first-move": run(moved=True, seconds=50)}
    for moved in (True, False):
        trials.perform(Trial("5/opposite", {"case": "5"}), done | {"5/portal": run(moved=moved, seconds=60)})
    trials.perform(Trial("5/portal", {"case": "5"}), done)
    assert asked == [(Rule.STAY, 120.0), (Rule.MOVE, None), (Rule.PORTAL, None)]


def test_of_a_run_that_was_ended_early_the_time_is_a_least_one(tmp_path):
    done = {"5/portal": run(moved=True, seconds=60), "5/opposite": run(moved=False, seconds=45) | {"cut": True}}
    experiment, result = registry.named("migration-load"), recorded.summarized("migration-load", tmp_path, done)
    assert experiment.tables(result)[0].rows[0][1:3] == ["over 180.0", "60.0"]
    assert "ended at least 66.7 % sooner" in experiment.finding(result)
    assert "ended after 2 times the time" in experiment.finding(result)


def runs_on(grid: Grid, nodes: Sequence[str]) -> bool:
    """Whether a run is on all of these nodes."""
    return any(set(nodes) <= set(run["nodes"]) for run in grid.status()["runs"])


@pytest.mark.grid
@pytest.mark.timeout(400)  # more than its portal may take to start and has patience for
def test_a_job_is_moved_to_eight_nodes_by_the_portal_of_a_case(tmp_path: Path) -> None:
    need_namespaces()
    with own_grids(tmp_path) as grids:
        grid = grids.on(str(scaled_grid.write(tmp_path, (*MSC, *OPUS), processors=1)))
        if not grid.client.status()["cgroups"]:
            pytest.skip("No control group is writable here, so nodes have no share of the processor.")
        case = MoveCase((CaseJob(2400, 4),), CaseLoad(6, 1.0), Rule.MOVE, patience=200.0, to=OPUS)
        with ThreadPoolExecutor(1) as beside:
            ended = beside.submit(case_process.run, case, tmp_path / "case", grid.client.directory)
            for _ in looks(300):
                if ended.done() or runs_on(grid.client, OPUS):
                    break
            grid.client.load(stop=True)  # it has driven the job away, and would only take the processors of others
            found = ended.result()
    assert (found["moved"], found["jobs"][0]["state"]) == (True, "succeeded"), found
    first, second = found["jobs"][0]["runs"]
    assert (set(first["nodes"]), set(second["nodes"])) == (set(MSC), set(OPUS))


KILLED = """
import sys
from pathlib import Path
from gridportal.experiments.moves import case_process
from gridportal.experiments.moves.move_case import CaseJob, MoveCase
case_process._MODULE = "tests.gridportal.experiments.moves.waiting_portal"
case_process.run(MoveCase((CaseJob(100, 1),)), Path(sys.argv[1]), Path(sys.argv[1]))
"""


def test_the_portal_of_a_case_ends_with_the_experiment_that_is_killed(tmp_path):
    """Resumed, there would be two portals on one Grid."""
    told = tmp_path / "home" / "portal.pid"
    experiment = subprocess.Popen([sys.executable, "-c", KILLED, str(told.parent)])
    try:
        for _ in looks(60):
            if told.exists() and told.read_text().endswith("\n"):
                break
        portal = int(told.read_text())
        assert Path(f"/proc/{portal}").exists()
    finally:
        experiment.kill()
        experiment.wait(timeout=60)
    for _ in looks(60):
        if not Path(f"/proc/{portal}").exists():
            break
    assert not Path(f"/proc/{portal}").exists()
