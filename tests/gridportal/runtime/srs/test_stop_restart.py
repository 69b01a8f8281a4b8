"""A real MPI program that stops, is killed, and goes on with other ranks and layouts, to the same bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gridportal.runtime.srs import checkpoint_files
from tests.gridportal.workloads import mpi

PROGRAM = "tests.gridportal.runtime.srs.stoppable"
REFUSED = "tests.gridportal.runtime.srs.refused"
LONG = 10**6


def run(ranks: int, folder: Path, layout: str, steps: int, *more: str, shape: str = "40,9") -> dict[str, Any]:
    return said(mpi.run(ranks, PROGRAM, str(folder), layout, shape, str(steps), *more))


def said(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def eventually(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while not true():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    output, errors = process.communicate(timeout=240)
    return said(subprocess.CompletedProcess(process.args, process.returncode, output, errors))


def test_a_program_stops_and_goes_on_with_other_ranks_and_layouts_to_the_same_bits(tmp_path: Path) -> None:
    steps = 400
    whole = run(4, tmp_path / "whole", "block:4", steps)
    assert (whole["restart"], whole["steps"]) == (0, [steps] * 4)
    first = run(4, tmp_path / "moved", "block:4", steps, "--stop-at", "3", "--pause", "0.002")
    assert (first["stopped"], len(set(first["steps"]))) == (1, 1)
    again = run(3, tmp_path / "moved", "block-cyclic:2x2:3x1", steps, "--stop-at", "0", "--pause", "0.0")
    assert (again["restart"], again["began"], again["steps"]) == (1, first["steps"][0], [steps] * 3)
    assert again["sum"] == whole["sum"]


def test_after_its_end_a_program_starts_anew(tmp_path: Path) -> None:
    assert run(2, tmp_path, "block:2", 5) == run(2, tmp_path, "block:2", 5)
    assert checkpoint_files.numbers(tmp_path) == []


def test_who_makes_the_file_stop_stops_it_and_it_tells_its_map(tmp_path: Path) -> None:
    process = mpi.start(3, PROGRAM, str(tmp_path), "cyclic:3", "30", str(LONG), "--pause", "0.001")
    eventually((tmp_path / "maps.json").exists, process)
    (tmp_path / "stop").touch()
    done = ended(process)
    assert (done["stopped"], len(set(done["steps"]))) == (1, 1)
    assert not (tmp_path / "stop").exists()
    told = json.loads((tmp_path / "maps.json").read_text())
    assert told["ranks"] == len(told["hosts"]) == 3
    assert told["arrays"]["x"] == {"dtype": "<f8", "shape": [30], "layout": {"dimensions": [{"parts": 3, "block": 1}]}}


def test_a_program_of_slow_iterations_stops_at_the_call_in_which_it_hears_of_it(tmp_path: Path) -> None:
    """On busy nodes one more iteration may take half a minute."""
    done = run(2, tmp_path, "block:2", 40, "--stop-at", "7", "--pause", "0.55")
    assert (done["stopped"], done["steps"]) == (1, [7, 7])


def test_a_signal_to_one_rank_stops_all(tmp_path: Path) -> None:
    process = mpi.start(2, PROGRAM, str(tmp_path), "block:2", "30", str(LONG), "--pause", "0.001", "--every", "0.1")
    eventually(lambda: bool(checkpoint_files.numbers(tmp_path)), process)
    os.kill(ranks_of(tmp_path)[-1], signal.SIGUSR1)
    done = ended(process)
    assert (done["stopped"], len(set(done["steps"]))) == (1, 1)


def ranks_of(folder: Path) -> list[int]:
    """The processes of the program that works in this folder, but its launcher and what passes its words on."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if str(folder).encode() in words and b"-m" in words[:2]:
            found.append(int(entry.name))
    return sorted(found)


@pytest.mark.parametrize("victim", [0, pytest.param(-1, marks=pytest.mark.slow)])
def test_a_rank_that_is_killed_while_checkpoints_are_written_costs_the_latest_steps_only(
    tmp_path: Path, victim: int
) -> None:
    words = (str(tmp_path), "block:2", "200,50", str(LONG), "--every", "0.02", "--pause", "0.0005")
    process = mpi.start(2, PROGRAM, *words)
    eventually(lambda: bool(checkpoint_files.numbers(tmp_path)), process)
    os.kill(ranks_of(tmp_path)[victim], signal.SIGKILL)
    process.communicate(timeout=240)
    assert process.returncode != 0
    kept = checkpoint_files.numbers(tmp_path)
    steps = int(checkpoint_files.opened(tmp_path, kept[0]).held("step", 0)[0])
    done = run(2, tmp_path, "cyclic:2", steps + 3, shape="200,50")
    assert (done["restart"], done["began"], done["steps"], done["passed_over"]) == (1, steps, [steps + 3] * 2, [])


def test_a_checkpoint_that_was_changed_is_named_and_the_one_before_is_used(tmp_path: Path) -> None:
    process = mpi.start(2, PROGRAM, str(tmp_path), "block:2", "64", str(LONG), "--every", "0.02", "--pause", "0.001")
    eventually(lambda: len(checkpoint_files.numbers(tmp_path)) > 1, process)
    (tmp_path / "stop").touch()
    stopped = ended(process)["steps"][0]
    newest, before = checkpoint_files.numbers(tmp_path)
    earlier = int(checkpoint_files.opened(tmp_path, before).held("step", 0)[0])
    shard = tmp_path / f"checkpoint-{newest:08d}" / "1-1.raw"
    content = bytearray(shard.read_bytes())
    content[100] ^= 1
    shard.write_bytes(content)
    done = run(2, tmp_path, "block:2", stopped, shape="64")
    assert (done["restart"], done["began"], done["steps"]) == (1, earlier, [stopped] * 2)
    assert len(done["passed_over"]) == 1
    assert f"{shard}, what rank 1 held of x, was changed" in done["passed_over"][0]


def test_a_checkpoint_that_cannot_be_written_stops_nothing_and_leaves_the_one_before(tmp_path: Path) -> None:
    first = run(2, tmp_path, "block:2", LONG, "--stop-at", "1", "--pause", "0.001", shape="1000")
    more = str(first["steps"][0] + 300)
    words = (str(tmp_path), "block:2", "1000", more, "--stop-at", str(first["steps"][0] + 1), "--pause", "0.001")
    process = mpi.start(2, PROGRAM, *words, "--limit", "2000")
    eventually((tmp_path / "not-stopped.json").exists, process)
    kept = checkpoint_files.numbers(tmp_path)
    assert (kept, list(tmp_path.glob("*.part"))) == ([1], [])
    assert "File too large" in json.loads((tmp_path / "not-stopped.json").read_text())["problem"]
    done = ended(process)
    assert (done["restart"], done["stopped"], done["steps"]) == (1, 0, [int(more)] * 2)


def test_checkpoints_by_calls_are_written_in_the_background_and_one_that_cannot_be_costs_nothing_else(
    tmp_path: Path,
) -> None:
    first = run(2, tmp_path, "block:2", LONG, "--stop-at", "1", "--pause", "0.001", shape="1000")
    more = first["steps"][0] + 300
    words = (str(tmp_path), "block:2", "1000", str(more), "--pause", "0.001", "--every-calls", "100", "--limit", "2000")
    done = mpi.run(2, PROGRAM, *words)
    assert said(done)["steps"] == [more] * 2
    assert f"A checkpoint was not written in {tmp_path}: {tmp_path}/checkpoint-00000002.part/1-" in done.stderr
    assert ".raw: File too large." in done.stderr
    assert list(tmp_path.glob("*.part")) == []


def test_the_end_of_a_runs_time_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIDPORTAL_ENDS_AT", str(time.time() + 5))
    done = run(2, tmp_path, "block:2", LONG, "--pause", "0.001", shape="64")
    assert (done["stopped"], len(set(done["steps"]))) == (1, 1)
    assert checkpoint_files.numbers(tmp_path) == [1]


def test_what_does_not_agree_is_said_on_every_rank_before_anything_is_changed(tmp_path: Path) -> None:
    done = mpi.run(3, REFUSED, str(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = json.loads(done.stdout)
    for told in lines.values():
        assert told == [told[0]] * 3, told
    sentences = {name: told[0] for name, told in lines.items()}
    assert "name is 'x'; accepted is a name that is not registered yet" in sentences["twice"]
    assert "which rank 2 has in block:3" in sentences["shape of one rank"]
    assert "one for 3 ranks" in sentences["layout of other ranks"]
    assert "as rank 0 has it" in sentences["not alike"]
    assert "there is no checkpoint" in sentences["read at the start"]
    assert "in C order" in sentences["order"]
    assert sentences["dtype"].startswith("x.dtype is 'float32'; accepted is float64")
    assert sentences["other shape"].startswith("y.shape is '(9,)'; accepted is (6,)")
    assert sentences["old layout"].startswith("old is 'cyclic:3'; accepted is block:3")
    assert "an array of the checkpoint: x, y" in sentences["not in it"]
    assert "a name that is registered" in sentences["not registered"]


def test_the_example_of_the_guide_runs(tmp_path: Path) -> None:
    code = (mpi.CHECKOUT / "docs/stop-and-restart.md").read_text().split("```python\n")[1].split("```")[0]
    program = tmp_path / "example.py"
    gathered = "ended = comm.gather((int(step[0]), set(x.tolist())))\nif ended:\n    print(ended)\n"
    program.write_text(code + gathered)
    command = [str(mpi.MPIEXEC), "-n", "2", sys.executable, str(program)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout == "[(5000, {5000.0}), (5000, {5000.0})]\n"
    assert (tmp_path / "checkpoints" / "finished").exists()
