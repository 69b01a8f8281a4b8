"""The player in C does what the one in Python does, with the application's own MPI, and refuses what it cannot."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import run_files
from gridportal.base.errors import BackendError
from gridportal.runtime import player_times
from scheduling.runs.adapters import player as players
from scheduling.skeletons.adapters import skeleton_runs
from scheduling.skeletons.core.skeleton.player_plan import plan
from tests.scheduling.portal import wait_for
from tests.scheduling.skeletons.playing import LAUNCHERS, MPICH, RANKS, document, everything, farm, player

Plays = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this session's players are kept."""
    return tmp_path_factory.mktemp("players")


@pytest.fixture
def plays(cache: Path, tmp_path: Path) -> Plays:
    """plays(document, mpicc) -> what the skeleton found."""

    def go(of: dict[str, Any], mpicc: str = MPICH) -> dict[str, Any]:
        file = tmp_path / run_files.SKELETON
        file.write_text(json.dumps(of))
        return skeleton_runs.here(file, of["ranks"], 60.0, player(mpicc, cache))

    return go


@pytest.mark.parametrize("mpicc", LAUNCHERS, ids=["mpich", "openmpi"])
def test_all_operations_are_played_by_each_mpi(plays: Plays, mpicc: str) -> None:
    found = plays(everything(), mpicc)
    assert ("Open MPI" if "openmpi" in mpicc else "MPICH") in found["mpi"]
    assert found["seconds"] > 3e-4 / 2
    assert found["work_asked"] == pytest.approx(3e-4)
    assert found["predicted"] == pytest.approx(found["communicating"] + found["working"])
    assert found["init"] > 0


@pytest.mark.parametrize("region", [8.0, 3e6, 1e12])
def test_work_that_touches_memory_is_as_much(plays: Plays, region: float) -> None:
    """Also where there is more to touch than a second allows, and in a region that no node has."""
    of = everything()
    of["player"] = {"near": 1e5, "touched": 1e12 if region > 8 else 1e3, "region": region}
    found = plays(of)
    assert found["work_asked"] == pytest.approx(3e-4)
    assert found["predicted"] == pytest.approx(found["communicating"] + found["working"])


@pytest.mark.parametrize(
    ("before", "after", "call", "taken"),
    [
        pytest.param(1e8, 1e8, 1e-3, 0.2, id="as-it-was"),
        pytest.param(1e8, 6e7, 1e-3, 0.2, id="slower-than-when-it-began"),
        pytest.param(6e7, 1e8, 1e-3, 0.2, id="faster-than-when-it-began"),
        pytest.param(1e8, 4e7, 1e-3, 0.25, id="slower-than-the-work-allows"),
        pytest.param(1e8, 1e8, 1e-5, 0.2, id="calls-too-short-to-be-watched"),
    ],
)
def test_work_takes_what_was_asked_for_though_memory_is_faster_or_slower_than_when_it_began(
    paced: Path, before: float, after: float, call: float, taken: float
) -> None:
    argv = [paced, *map(str, (before, after, call, round(0.2 / call)))]
    found = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout
    assert float(found) == pytest.approx(taken, rel=0.02)


@pytest.fixture(scope="session")
def paced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The player's work on a processor whose clock counts what was done."""
    built = tmp_path_factory.mktemp("paced") / "paced"
    source = Path(__file__).with_name("paced.c")
    subprocess.run([MPICH, "-O2", "-o", built, source], check=True, timeout=60)
    return built


def test_the_python_player_plays_the_same(tmp_path: Path) -> None:
    file = tmp_path / run_files.SKELETON
    file.write_text(json.dumps(everything()))
    found = skeleton_runs.here(file, RANKS, 60.0)
    assert found["work_asked"] == pytest.approx(3e-4)


def test_times_are_those_of_the_skeleton(plays: Plays) -> None:
    """Rank 1 waits for rank 0's work, which stands for ten times as much."""
    there, back = {"to": 1, "bytes": 8, "tag": 0}, {"from": 0, "from_bytes": 8, "from_tag": 0}
    lines = [[{"op": "work", "seconds": 0.02}, {"op": "send", **there}], [{"op": "recv", **back}]]
    of = document(lines, [{"loop": 4, "body": [0]}], times=40)
    of["application"]["work"] = [0.8, 0.0]
    found = plays(of)
    assert found["work_asked"] in (pytest.approx(0.08), 0.0)
    assert found["predicted"] > 5 * found["seconds"]


@pytest.mark.parametrize("mpicc", LAUNCHERS, ids=["mpich", "openmpi"])
def test_a_master_gives_the_next_task_to_whoever_comes_first(cache: Path, tmp_path: Path, mpicc: str) -> None:
    """The first task is as long as ninety of the others together: who has it gets no other one."""
    ours, of = player(mpicc, cache), farm([[0.45, 100_000, 4], *[[0.005, 100_000, 70_000]] * 20], 21)
    (tmp_path / "plan").write_text(plan(of, players.rate(ours.program())))
    argv = [word.format(ranks=RANKS) for word in LAUNCHERS[mpicc]]
    subprocess.run(
        [*argv, str(ours.program()), str(tmp_path / "plan"), str(tmp_path / "times")], timeout=60, check=True
    )

    played = player_times.read((tmp_path / "times").read_bytes(), RANKS, 2)

    assert sorted(rank.asked for rank in played.ranks) == pytest.approx([0.0, 0.1, 0.45])
    long = max(played.ranks, key=lambda rank: rank.asked)
    main, closing = long.log
    assert main[3] < closing[3]
    assert main[3] + closing[3] == pytest.approx(long.worked)
    assert main[1] < closing[0] <= closing[1]


def test_the_python_player_gives_tasks_alike(tmp_path: Path) -> None:
    file = tmp_path / run_files.SKELETON
    file.write_text(json.dumps(farm([[0.002, 100_000, 4]] * 5, 30)))
    found = skeleton_runs.here(file, RANKS, 60.0)
    assert found["predicted"] > 5 * found["seconds"]


PLAN = plan(everything(), 1e5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "The skeleton's plan cannot be read."),
        ("\n", "The plan ends too early"),
        (PLAN[:-300], "The plan"),
        (PLAN.replace("gridportal-plan 2", "gridportal-plan 1"), "The plan has 1 where 2 is expected."),
        (PLAN.replace("work 100000.0 0.0", "work 100000.0 -1.0"), "The plan has -1.0 where a number from 0"),
        (PLAN.replace("ranks 3", "ranks 99999999999999999999", 1), "where a whole number from 1 to 65536 is expected"),
        (PLAN.replace("work 100000.0", "work nan", 1), "The plan has nan where a number from 0"),
        (PLAN.replace("barrier", "sing", 1), "The plan has the operation sing, which is not known here."),
        (
            PLAN.replace("\nloop 2", "\nloop 4000000", 1).replace("\nloop 1", "\nloop 2", 1),
            "The plan runs too many segments.",
        ),
        (PLAN.replace("\nrun 0", "\nrun 1", 1), "The plan has 1 where a whole number from 0 to 0 is expected."),
        (PLAN.replace("send 1 100 5", f"send 1 {10**17} 5"), "The skeleton moves more at once than can be counted"),
        (PLAN.replace("send 1 100 5", f"send 1 {10**13} 5"), "There is too little memory for the skeleton's messages."),
        (PLAN.replace("wait 17", "wait 1000000", 1), "The plan"),
        ("x" * 100_000, "The plan"),
        (PLAN.replace("send 1 100 5 -1", "master 0 8 4 9 2 1 2 0"), "The plan has a farm without tasks."),
        (PLAN.replace("send 1 100 5 -1", "master 0 8 4 9 4 1 2 1 2"), "where a whole number from 1 to 3 is expected"),
    ],
)
def test_what_cannot_be_played_is_refused_with_one_sentence(cache: Path, tmp_path: Path, text: str, said: str) -> None:
    ours = player(MPICH, cache)
    (tmp_path / "plan").write_text(text)
    argv = [LAUNCHERS[MPICH][0], "-n", str(RANKS), str(ours.program()), str(tmp_path / "plan"), str(tmp_path / "times")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("The skeleton cannot be played: ") == 1
    assert said in done.stderr
    assert not (tmp_path / "times").exists()


def test_another_number_of_ranks_is_refused(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / run_files.SKELETON
    file.write_text(json.dumps(everything()))
    with pytest.raises(BackendError, match="The skeleton was made for 3 ranks and runs with 2"):
        skeleton_runs.here(file, 2, 60.0, player(MPICH, cache))


def test_a_rank_that_is_killed_ends_the_skeleton(cache: Path, tmp_path: Path) -> None:
    """Its times are those of no whole run, so there are none."""
    ours = player(MPICH, cache)
    (tmp_path / "plan").write_text(plan(document([[{"op": "work", "seconds": 60.0}]] * 2, [0]), 1e6, 1e5))
    argv = [LAUNCHERS[MPICH][0], "-n", "2", str(ours.program()), str(tmp_path / "plan"), str(tmp_path / "times")]
    running = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(ranks_of(str(tmp_path / "plan"))) == 2, "two ranks")
    os.kill(ranks_of(str(tmp_path / "plan"))[0], signal.SIGKILL)
    assert running.wait(timeout=60) != 0
    assert not (tmp_path / "times").exists()


def ranks_of(file: str) -> list[int]:
    """The processes of the player that play this plan."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = entry.read_text().split("\0")
            if Path(words[0]).name.startswith("player-") and file in words:
                found.append(int(entry.parent.name))
    return found
