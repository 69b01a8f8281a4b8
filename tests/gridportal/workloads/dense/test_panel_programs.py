"""Linear systems and eigenvalues: right on any grid, and stopped on one grid to go on with another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gridportal.workloads import mpi

TINY = "tests.gridportal.workloads.dense.tiny_problems"
by_program = pytest.mark.parametrize("program", ["qr", "lu_system", "eigenvalues"])


def solved(ranks: int, program: str, run_dir: Path, *arguments: str) -> list[dict[str, Any]]:
    """The events of a run that ends with 0."""
    run_dir.mkdir(exist_ok=True)
    (run_dir / "progress.jsonl").unlink(missing_ok=True)
    done = mpi.run(ranks, f"gridportal.workloads.dense.{program}", *arguments, run_dir=run_dir)
    assert done.returncode == 0, done.stderr
    return mpi.events(run_dir)


def stopped(ranks: int, program: str, run_dir: Path, *arguments: str) -> int:
    """The panels of a run that is asked to stop before it begins, and stops as soon as it has begun."""
    (run_dir / "checkpoints").mkdir(parents=True)
    (run_dir / "checkpoints" / "stop").touch()
    events = solved(ranks, program, run_dir, *arguments)
    assert "result" not in {event["event"] for event in events}
    return len([event for event in events if event.get("phase") == "panel"])


@by_program
@pytest.mark.parametrize("ranks", [1, 4, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (5, 6))])
def test_tiny_problems_have_the_results_of_numpy_on_any_grid(program: str, ranks: int) -> None:
    done = mpi.run(ranks, TINY, program)
    assert done.returncode == 0, done.stderr
    for size, block, error, difference in json.loads(done.stdout):
        assert error < 16, (size, block)
        assert difference < 1e-12 * size, (size, block)


@by_program
@pytest.mark.in_turn("ranks", "block")
@pytest.mark.parametrize(("ranks", "block"), [(3, 16), (6, 24)])
def test_what_stops_on_four_ranks_goes_on_with_others(program: str, ranks: int, block: int, tmp_path: Path) -> None:
    panels = stopped(4, program, tmp_path, "--size", "200", "--block", "16")
    assert 1 <= panels < 200 // 16
    events = solved(ranks, program, tmp_path, "--size", "200", "--block", str(block))
    iterations = [event["iteration"] for event in events if event.get("phase") == "panel"]
    assert iterations[0] == panels * 16 // block + 1
    assert events[-1]["verified"] is True


@pytest.mark.parametrize(
    ("program", "ranks"),
    [
        ("lu_system", 2),
        *(pytest.param(name, 4, marks=pytest.mark.slow) for name in ("lu_system", "qr", "eigenvalues")),
    ],
)
def test_a_stop_changes_no_bit_where_the_grid_stays(program: str, ranks: int, tmp_path: Path) -> None:
    size = ("--size", "200", "--block", "16")
    assert stopped(ranks, program, tmp_path / "stopped", *size) < 200 // 16
    again = solved(ranks, program, tmp_path / "stopped", *size)
    whole = solved(ranks, program, tmp_path / "whole", *size)
    name = "error" if program == "eigenvalues" else "residual"
    assert again[-1]["figures"][name] == whole[-1]["figures"][name] > 0


@pytest.mark.parametrize(
    "program", ["qr", *(pytest.param(name, marks=pytest.mark.slow) for name in ("lu_system", "eigenvalues"))]
)
def test_another_matrix_does_not_go_on_from_a_checkpoint(program: str, tmp_path: Path) -> None:
    stopped(2, program, tmp_path, "--size", "200", "--block", "16")
    done = mpi.run(2, f"gridportal.workloads.dense.{program}", "--size", "100", run_dir=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: matrix.shape is '(100, 100)'; accepted is (200, 200)")


def test_a_matrix_that_a_node_has_no_memory_for_is_refused_on_every_rank() -> None:
    done = mpi.run(2, "tests.gridportal.workloads.dense.little_memory")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == second
    assert first.startswith("size is 1000; accepted is at most about 252: node ")
