import pytest

from tests.gridportal.workloads import mpi

HEAT = "gridportal.workloads.heat"
SMALL = ["--rows", "61", "--columns", "47", "--steps", "105"]


def result(run_dir):
    return mpi.events(run_dir)[-1]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("alone")
    assert mpi.run(1, HEAT, *SMALL, run_dir=run_dir).returncode == 0
    return result(run_dir)


@pytest.mark.parametrize("ranks", [6, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (2, 4))])
def test_the_result_is_the_same_bit_for_bit_on_any_number_of_ranks(ranks, alone, tmp_path):
    done = mpi.run(ranks, HEAT, *SMALL, run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)["verified"] is True
    assert result(tmp_path)["figures"]["checksum"] == alone["figures"]["checksum"]


def test_the_plate_decays_as_the_exact_solution(alone):
    assert 0 < alone["figures"]["error"] < 1e-12


def test_phases_cover_all_steps_and_split_off_the_halo(tmp_path):
    mpi.run(4, HEAT, *SMALL, "--every", "50", run_dir=tmp_path)
    start, phases = mpi.events(tmp_path)[0], mpi.phases(tmp_path)
    assert (start["rows"], start["columns"], start["steps"]) == (61, 47, 105)
    assert [phase["phase"] for phase in phases] == ["init", "steps", "steps", "steps", "verify"]
    assert all(phase["communicate"] > 0 and phase["compute"] > 0 for phase in phases[1:4])


@pytest.mark.parametrize(
    ("ranks", "arguments", "sentence"),
    [
        (1, ["--rows", "0"], "error: rows is 0; accepted is a whole number from 1 to 20000."),
        (1, ["--steps", "many"], "error: steps is 'many'; accepted is a whole number from 1 to 100000."),
        (1, ["--rows", "1", "--columns", "1"], "error: steps is 1000; accepted is 1 to 286 on 1 x 1 points"),
        (2, ["--rows", "1", "--columns", "1", "--steps", "5"], "error: ranks is 2; accepted is fewer ranks: 1 x 1"),
    ],
)
def test_wrong_input_gets_one_sentence_and_exit_code_2(ranks, arguments, sentence):
    done = mpi.run(ranks, HEAT, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1
