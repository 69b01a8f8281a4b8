import socket

import pytest

from gridportal.runtime.phases import LEAD
from tests.gridportal.workloads import mpi

SLOW_RANKS = "tests.gridportal.runtime.slow_ranks"
RANKS = 3


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("run")
    assert mpi.run(RANKS, SLOW_RANKS, run_dir=run_dir).returncode == 0
    return mpi.events(run_dir)


def test_rank_0_alone_writes_one_line_per_event_in_order(told):
    assert [event["event"] for event in told] == ["start", "phase", "phase", "result"]
    assert sorted(event["t"] for event in told) == [event["t"] for event in told]


def test_the_start_names_program_fields_and_the_host_of_every_rank(told):
    start = {name: value for name, value in told[0].items() if name != "t"}
    hosts = [socket.gethostname()] * RANKS
    assert start == {"event": "start", "program": "slow", "class": "T", "ranks": RANKS, "hosts": hosts}


def test_a_phase_lasts_as_long_as_on_its_slowest_rank(told):
    assert told[1]["seconds"] >= 0.05 * (RANKS - 1)


def test_a_phase_without_messages_has_no_split_and_no_iteration(told):
    assert set(told[1]) == {"t", "event", "phase", "seconds"}


def test_time_inside_the_communication_clock_is_split_off(told):
    assert told[2]["communicate"] >= 0.05 * (RANKS - 1)
    assert told[2]["compute"] < told[2]["communicate"] <= told[2]["seconds"]
    assert (told[2]["iteration"], told[2]["of"]) == (1, 2)


def test_figures_that_json_cannot_say_become_null(told):
    assert told[3]["verified"] is None
    assert told[3]["seconds"] == RANKS - 1
    assert told[3]["figures"] == {"error": None, "count": 3, "rates": [0.5, None]}


def test_without_a_run_directory_nothing_is_written_and_the_program_runs():
    done = mpi.run(2, SLOW_RANKS)
    assert (done.returncode, done.stdout.count("ranks agree")) == (0, 2)


def test_a_run_directory_that_is_missing_ends_all_ranks_with_its_name(tmp_path):
    missing = tmp_path / "missing"
    done = mpi.run(2, "gridportal.workloads.ep", run_dir=missing)
    assert done.returncode == 1
    assert f"GRIDPORTAL_RUN_DIR is '{missing}', where progress.jsonl cannot be written" in done.stderr


def test_a_rank_that_is_far_ahead_waits_for_rank_0(tmp_path):
    done = mpi.run(2, "tests.gridportal.runtime.far_ahead", run_dir=tmp_path)
    assert (done.returncode, done.stdout) == (0, "rank 1 waited\n")
    assert len(mpi.events(tmp_path)) == LEAD + 1


def test_a_second_run_in_the_same_directory_is_appended(tmp_path):
    for _ in range(2):
        mpi.run(2, SLOW_RANKS, run_dir=tmp_path)
    assert [event["event"] for event in mpi.events(tmp_path)].count("start") == 2
