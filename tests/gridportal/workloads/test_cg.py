import json
import tempfile
from functools import cache
from pathlib import Path

import pytest

from gridportal.workloads.cg_grid import make_grid
from tests.gridportal.workloads import mpi

CG = "gridportal.workloads.cg"


@cache
def class_s(ranks):
    """What a run of class S told in its run directory, and how it ended: several tests look at it."""
    with tempfile.TemporaryDirectory() as folder:
        done = mpi.run(ranks, CG, "--class", "S", run_dir=Path(folder))
        return mpi.events(Path(folder)), done


@pytest.mark.parametrize("ranks", [1, 4, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (2, 8))])
def test_class_s_reaches_the_official_eigenvalue(ranks):
    events, done = class_s(ranks)
    assert done.returncode == 0, done.stderr
    assert "VERIFICATION SUCCESSFUL" in done.stdout
    result = events[-1]
    assert result["verified"] is True
    assert result["figures"]["zeta"] == pytest.approx(8.5971775078648, rel=1e-10)


def test_class_w_reaches_the_official_eigenvalue(tmp_path):
    assert mpi.run(2, CG, "--class", "w", run_dir=tmp_path).returncode == 0
    assert mpi.events(tmp_path)[-1]["figures"]["zeta"] == pytest.approx(10.362595087124, rel=1e-10)


def test_the_run_directory_hears_of_every_iteration():
    events, _ = class_s(4)
    start, result = events[0], events[-1]
    phases = [event for event in events if event["event"] == "phase"]
    assert (start["program"], start["class"], start["ranks"], len(start["hosts"])) == ("cg", "S", 4, 4)
    assert [phase["phase"] for phase in phases] == ["makea", "init"] + ["conj_grad"] * 15
    assert [(phase["iteration"], phase["of"]) for phase in phases[2:]] == [(i + 1, 15) for i in range(15)]
    assert all(0 < phase["communicate"] <= phase["seconds"] for phase in phases[2:])
    assert result["event"] == "result"


def test_one_rank_reports_no_communication():
    assert not any("communicate" in event for event in class_s(1)[0])


@cache
def messages_seen(ranks):
    done = mpi.run(ranks, "tests.gridportal.workloads.cg_partners")
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("ranks", [4, pytest.param(8, marks=pytest.mark.slow)])
def test_messages_go_to_the_partners_of_the_grid_only(ranks):
    seen = messages_seen(ranks)
    assert seen["verified"]
    assert seen["partners"] == [sorted(make_grid(rank, ranks, 1400).partners) for rank in range(ranks)]


def test_on_four_ranks_messages_run_between_three_pairs():
    partners = messages_seen(4)["partners"]
    pairs = {frozenset((rank, other)) for rank, others in enumerate(partners) for other in others}
    assert len(pairs) == 3


@pytest.mark.parametrize(
    ("ranks", "arguments", "sentence"),
    [
        (3, ["--class", "S"], "error: ranks is 3; accepted is a power of two such as 1, 2, 4 or 8."),
        (2, ["--class", "Q"], "error: class is 'Q'; accepted is one of S, W, A, B."),
    ],
)
def test_wrong_input_gets_one_sentence_and_exit_code_2(ranks, arguments, sentence):
    done = mpi.run(ranks, CG, *arguments)
    assert done.returncode == 2
    assert done.stderr.strip() == sentence
    assert done.stdout == ""
