"""A program in C stops and goes on as one in Python does, and each goes on from what the other wrote."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from gridportal.runtime import progress_events
from gridportal.runtime.progress_events import CheckpointWritten, Restored, StartsAnew, Stopped
from gridportal.runtime.srs import checkpoint_files
from tests.gridportal.runtime.srs.c_program import BOTH, Program, ranks_of
from tests.gridportal.runtime.srs.conftest import Compiled
from tests.gridportal.runtime.srs.test_stop_restart import eventually, run

pytestmark = BOTH
LONG = 10**7


@pytest.fixture
def program(mpicc: str, compiled: Compiled) -> Program:
    return Program(mpicc, compiled)


def test_it_stops_on_four_ranks_and_goes_on_with_three_and_so_on(program: Program, tmp_path: Path) -> None:
    moved, began = tmp_path / "moved", 0
    for ranks, layout in ((4, "block"), (3, "block-cyclic:7"), (2, "map:2"), (3, "shares:5,0,85")):
        done = program.run(ranks, moved, layout, "90", LONG, began + 3, 0.001)
        assert (done["restart"], done["began"], done["stopped"]) == (int(began > 0), began, 1)
        assert len(set(done["steps"])) == 1
        began = done["steps"][0]
    last = program.run(2, moved, "cyclic", "90", began + 1)
    assert last["sum"] == program.run(1, tmp_path / "whole", "block", "90", began + 1)["sum"]
    assert checkpoint_files.numbers(moved) == []
    assert (moved / "finished").exists()
    (moved / "stop").touch()  # too late for this one, and not meant for the next
    again = program.run(2, moved, "cyclic", "90", 3)
    assert (again["restart"], again["stopped"], again["steps"]) == (0, 0, [3, 3])
    assert f"{moved}/stop came after the end of the last program, and is taken away." in again["errors"]
    assert not (moved / "stop").exists()


def test_what_is_written_after_another_program_ended_in_the_folder_is_gone_on_from(
    program: Program, tmp_path: Path
) -> None:
    process = program.start(2, tmp_path / "x", "block", "30", LONG, 0, 0.001)
    eventually((tmp_path / "x" / "maps.json").exists, process)
    (tmp_path / "x" / "not-stopped.json").write_text("{}")
    (tmp_path / "x" / "finished").touch()
    (tmp_path / "x" / "stop").touch()
    stopped = program.ended(process, tmp_path / "x")["steps"][0]
    assert not (tmp_path / "x" / "not-stopped.json").exists()
    assert program.run(3, tmp_path / "x", "cyclic", "30", stopped)["began"] == stopped
    assert (tmp_path / "x" / "finished").exists()


def test_it_goes_on_from_what_python_wrote_and_python_from_what_it_wrote(program: Program, tmp_path: Path) -> None:
    whole = run(2, tmp_path / "whole", "block:2", 900)
    first = run(4, tmp_path / "x", "block-cyclic:3x2:2x2", 900, "--stop-at", "3", "--pause", "0.002")
    second = program.run(3, tmp_path / "x", "cyclic:3", "40,9", 900, first["steps"][0] + 5, 0.001)
    assert (second["restart"], second["began"], second["stopped"]) == (1, first["steps"][0], 1)
    third = run(2, tmp_path / "x", "block:1x2", 900)
    assert (third["restart"], third["began"], third["passed_over"]) == (1, second["steps"][0], [])
    assert third["sum"] == whole["sum"]


def test_it_tells_the_portal_what_python_tells(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRIDPORTAL_RUN_DIR", str(tmp_path))
    first = program.run(2, tmp_path / "x", "block", "90", LONG, 3, 0.001)
    program.run(2, tmp_path / "x", "cyclic", "90", first["steps"][0] + 1)
    lines = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    events = [progress_events.read(line) for line in lines]
    assert [type(event) for event in events] == [StartsAnew, CheckpointWritten, Stopped, Restored]
    assert [(event.checkpoint, event.bytes) for event in events[1:]] == [(1, 90 * 8 + 8)] * 3
    assert all(0 <= event.seconds < 60 for event in events[1:])


def test_it_leaves_the_files_that_python_leaves(program: Program, tmp_path: Path) -> None:
    run(2, tmp_path / "python", "block:2", 500, "--stop-at", "3", "--pause", "0.002")
    program.run(2, tmp_path / "c", "block:2", "40,9", 500, 3, 0.002)
    python, c = (
        json.loads((tmp_path / name / "checkpoint-00000001" / "manifest.json").read_text()) for name in ("python", "c")
    )
    for document in (python, c):
        document.pop("written_at")
        document.pop("crc32")
        for array in document["arrays"]:
            for shard in array["shards"]:
                shard.pop("crc32")
    assert c == python
    maps = [json.loads((tmp_path / name / "maps.json").read_text()) for name in ("python", "c")]
    assert maps[0]["arrays"] == maps[1]["arrays"]


def test_the_file_stop_stops_it(program: Program, tmp_path: Path) -> None:
    process = program.start(3, tmp_path / "x", "cyclic", "30", LONG, 0, 0.001)
    eventually((tmp_path / "x" / "maps.json").exists, process)
    (tmp_path / "x" / "stop").touch()
    done = program.ended(process, tmp_path / "x")
    assert (done["stopped"], len(set(done["steps"]))) == (1, 1)
    assert not (tmp_path / "x" / "stop").exists()


def test_a_program_of_slow_iterations_stops_at_the_call_in_which_it_hears_of_it(
    program: Program, tmp_path: Path
) -> None:
    done = program.run(2, tmp_path / "x", "block", "30", LONG, 7, 0.55)
    assert (done["stopped"], done["steps"]) == (1, [7, 7])


def test_a_signal_to_one_rank_stops_all(program: Program, tmp_path: Path) -> None:
    process = program.start(2, tmp_path / "x", "block", "30", LONG, 0, 0.001)
    eventually((tmp_path / "x" / "maps.json").exists, process)
    os.kill(ranks_of(program.path, tmp_path / "x")[-1], signal.SIGUSR1)
    done = program.ended(process, tmp_path / "x")
    assert (done["stopped"], len(set(done["steps"]))) == (1, 1)


def test_the_end_of_a_runs_time_stops_it(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIDPORTAL_ENDS_AT", f"{time.time() + 10.3:.1f}")
    done = program.run(2, tmp_path / "x", "block", "64", LONG, 0, 0.001)
    assert (done["stopped"], len(set(done["steps"]))) == (1, 1)


def _missing(folder: Path) -> None:
    (folder / "1-1.raw").unlink()


def _short(folder: Path) -> None:
    (folder / "1-1.raw").write_bytes((folder / "1-1.raw").read_bytes()[:-1])


def _altered(folder: Path) -> None:
    content = bytearray((folder / "1-1.raw").read_bytes())
    content[3] ^= 1
    (folder / "1-1.raw").write_bytes(content)


def _cut_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text((folder / "manifest.json").read_text()[:-9])


def _altered_manifest(folder: Path) -> None:
    file = folder / "manifest.json"
    file.write_text(file.read_text().replace('"<f8"', '"<i8"'))


SPOILT = [
    (_missing, "is missing"),
    (_short, "bytes;"),
    (_altered, "was changed since"),
    (_cut_manifest, "is no JSON"),
    (_altered_manifest, "manifest was changed"),
]


def test_what_was_spoilt_is_named_and_the_checkpoint_before_is_used(program: Program, tmp_path: Path) -> None:
    folder, began = tmp_path / "x", 0
    for _ in (1, 2):
        began = program.run(2, folder, "block", "90", LONG, began + 3, 0.001)["steps"][0]
    first = int(checkpoint_files.opened(folder, 1).held("step", 0)[0])
    for spoil, why in SPOILT:
        copy = tmp_path / why
        shutil.copytree(folder, copy)
        spoil(copy / "checkpoint-00000002")
        done = program.run(2, copy, "block", "90", first + 1)
        assert (done["restart"], done["began"]) == (1, first)
        assert "Checkpoint 2 cannot be used" in done["errors"]
        assert "starts from the beginning" not in done["errors"]
        assert why in done["errors"]


def test_what_cannot_be_written_stops_nothing(program: Program, tmp_path: Path) -> None:
    """A file stands where the folder of the next checkpoint would be made."""
    process = program.start(2, tmp_path / "x", "block", "30", LONG, 0, 0.001)
    eventually((tmp_path / "x" / "maps.json").exists, process)
    (tmp_path / "x" / "checkpoint-00000001").mkdir()
    (tmp_path / "x" / "checkpoint-00000001" / "held").touch()
    (tmp_path / "x" / "stop").touch()
    eventually((tmp_path / "x" / "not-stopped.json").exists, process)
    assert "not empty" in json.loads((tmp_path / "x" / "not-stopped.json").read_text())["problem"]
    assert list((tmp_path / "x").glob("*.part")) == []
    (tmp_path / "x" / "checkpoint-00000001" / "held").unlink()
    (tmp_path / "x" / "stop").touch()
    assert program.ended(process, tmp_path / "x")["stopped"] == 1


@pytest.mark.parametrize(("every", "every_calls"), [(0, 40), (0.05, 0)], ids=["calls", "seconds"])
@pytest.mark.parametrize(
    "in_foreground", [0, pytest.param(1, marks=pytest.mark.slow)], ids=["background", "foreground"]
)
def test_checkpoints_that_nobody_asks_for(
    program: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    every: float,
    every_calls: int,
    in_foreground: int,
) -> None:
    """In the background the program stands still for less than they take."""
    monkeypatch.setenv("GRIDPORTAL_RUN_DIR", str(tmp_path))
    folder = tmp_path / "x"
    process = program.start(2, folder, "block", "40,9", LONG, 0, 0.001, "", every, every_calls, in_foreground)
    eventually(lambda: max(checkpoint_files.numbers(folder), default=0) > 3, process)
    (folder / "stop").touch()
    done = program.ended(process, folder)
    assert (done["stopped"], len(set(done["steps"]))) == (1, 1)
    assert len(checkpoint_files.numbers(folder)) == 2
    events = [progress_events.read(json.loads(line)) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    written = [event for event in events if isinstance(event, CheckpointWritten)]
    assert len(written) > 3
    if in_foreground:
        assert done["blocked"] == done["writing"]
    else:
        assert done["blocked"] <= done["writing"]
    again = program.run(3, folder, "cyclic:3", "40,9", done["steps"][0] + 1)
    assert again["began"] == done["steps"][0]


def test_an_empty_name_is_no_folder(program: Program, tmp_path: Path) -> None:
    words = [*program.words, "1", str(program.path), "", "block", "30", "1", "0", "0", str(tmp_path / "whole")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1
    assert "accepted is the name of a folder, or NULL for what GRIDPORTAL_CHECKPOINTS names." in done.stderr


def test_what_is_no_number_of_calls_is_refused(program: Program, tmp_path: Path) -> None:
    process = program.start(2, tmp_path / "x", "block", "40,9", 3, 0, 0.0, "", 0, -1)
    _, errors = process.communicate(timeout=240)
    assert process.returncode != 0
    assert "every_calls is -1; accepted is a number above 0, or 0 for none." in errors
