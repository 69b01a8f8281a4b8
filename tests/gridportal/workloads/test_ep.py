import signal
import time

import pytest

from tests.gridportal.workloads import mpi

EP = "gridportal.workloads.ep"
OFFICIAL_COUNT = 13176389


@pytest.mark.parametrize("ranks", [1, 4, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (2, 8))])
def test_class_s_reaches_the_official_sums(ranks, tmp_path):
    done = mpi.run(ranks, EP, "--class", "S", run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = mpi.events(tmp_path)[-1]["figures"]
    assert figures["sum_x"] == pytest.approx(-3.247834652034740e3, rel=1e-8)
    assert figures["sum_y"] == pytest.approx(-6.958407078382297e3, rel=1e-8)
    assert sum(figures["counts"]) == figures["gaussian_pairs"] == OFFICIAL_COUNT


def test_any_number_of_ranks_will_do_and_every_phase_is_told_though_they_share_unevenly(tmp_path):
    assert mpi.run(3, EP, run_dir=tmp_path).returncode == 0
    names = [event["phase"] for event in mpi.events(tmp_path) if event["event"] == "phase"]
    assert names == ["init"] + ["gaussian_pairs"] * 16 + ["sum"]


def test_an_unknown_option_gets_one_sentence_and_exit_code_2():
    done = mpi.run(2, EP, "--klass", "S")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--klass" in done.stderr


def test_a_terminated_program_dies_without_a_result(tmp_path):
    process = mpi.start(2, EP, "--class", "B", run_dir=tmp_path)
    try:
        wait_for_first_phase(tmp_path)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)  # ends only when every rank has closed its output
    finally:
        process.kill()
        process.communicate(timeout=20)
    assert process.returncode != 0
    assert all(event["event"] != "result" for event in mpi.events(tmp_path))


def wait_for_first_phase(run_dir):
    deadline = time.monotonic() + 30
    while '"phase"' not in (path.read_text() if (path := run_dir / "progress.jsonl").exists() else ""):
        assert time.monotonic() < deadline, "no phase was reported"
        time.sleep(0.05)
