"""CG and the heated plate stop on four ranks, and go on with others as if nothing had been."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.gridportal.workloads import mpi

PLATE = ("heat", ["--rows", "61", "--columns", "47", "--steps", "200"])
CG = ("cg", ["--class", "S"])


def ran(ranks: int, program: str, arguments: list[str], run_dir: Path) -> list[dict[str, Any]]:
    (run_dir / "progress.jsonl").unlink(missing_ok=True)
    done = mpi.run(ranks, f"gridportal.workloads.{program}", *arguments, run_dir=run_dir)
    assert done.returncode == 0, done.stderr
    return mpi.events(run_dir)


def stopped_at_once(program: str, arguments: list[str], run_dir: Path) -> None:
    (run_dir / "checkpoints").mkdir(parents=True)
    (run_dir / "checkpoints" / "stop").touch()
    events = {event["event"] for event in ran(4, program, arguments, run_dir)}
    assert ("stopped" in events, "result" in events) == (True, False)


@pytest.mark.parametrize("ranks", [pytest.param(6, marks=pytest.mark.slow), 3])
def test_a_plate_that_was_stopped_ends_with_the_same_bits(ranks: int, tmp_path: Path) -> None:
    program, arguments = PLATE
    stopped_at_once(program, arguments, tmp_path)
    moved = ran(ranks, program, arguments, tmp_path)
    (tmp_path / "whole").mkdir()
    whole = ran(1, program, arguments, tmp_path / "whole")
    assert sum(event.get("phase") == "steps" for event in moved) <= 20
    assert moved[-1]["verified"] is True
    assert moved[-1]["figures"]["checksum"] == whole[-1]["figures"]["checksum"]


@pytest.mark.parametrize("ranks", [pytest.param(8, marks=pytest.mark.slow), 2])
def test_cg_that_was_stopped_reaches_the_official_eigenvalue(ranks: int, tmp_path: Path) -> None:
    program, arguments = CG
    stopped_at_once(program, arguments, tmp_path)
    moved = ran(ranks, program, arguments, tmp_path)
    iterations = [event["iteration"] for event in moved if event.get("phase") == "conj_grad"]
    assert 1 < iterations[0] <= iterations[-1] == 15
    assert moved[-1]["figures"]["zeta"] == pytest.approx(8.5971775078648, rel=1e-10)


def test_without_a_place_for_checkpoints_there_are_none(tmp_path: Path) -> None:
    before = set(mpi.CHECKOUT.iterdir())
    assert mpi.run(2, "gridportal.workloads.heat", "--steps", "64", "--rows", "20", "--columns", "20").returncode == 0
    assert set(mpi.CHECKOUT.iterdir()) == before
