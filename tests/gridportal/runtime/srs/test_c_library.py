"""A program in C stops and goes on as one in Python does, and each goes on from what the other wrote."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from gridportal.runtime import progress_events
from gridportal.runtime.progress_events import CheckpointWritten, Restored, Stopped
from gridportal.runtime.srs import checkpoint_files
from tests.gridportal.runtime.srs.conftest import Compiled
from tests.gridportal.runtime.srs.test_stop_restart import eventually, run
from tests.scheduling.profiles.tracing.conftest import LAUNCHERS, MPICH

pytestmark = pytest.mark.parametrize("mpicc", [MPICH, "mpicc.openmpi"], ids=["MPICH", "Open MPI"])
LONG = 10**7


class Program:
    """The program of the tests, with the launcher of its MPI."""

    def __init__(self, mpicc: str, compiled: Compiled) -> None:
        self.words = [*LAUNCHERS[mpicc], "-n"]
        self.path = compiled(mpicc, "stoppable.c")

    def start(
        self, ranks: int, folder: Path, layout: str, shape: str, steps: int, stop_at: int = 0, pause: float = 0.0
    ) -> subprocess.Popen[str]:
        asked = (folder, layout, shape, steps, stop_at, pause, self.output(folder))
        words = [*self.words, str(ranks), str(self.path), *map(str, asked)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *asked: Any) -> dict[str, Any]:
        return self.ended(self.start(*asked), asked[1])

    @staticmethod
    def output(folder: Path) -> Path:
        return folder.with_name(f"{folder.name}.whole")

    def ended(self, process: subprocess.Popen[str], folder: Path) -> dict[str, Any]:
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, output + errors
        document: dict[str, Any] = json.loads(output)
        return {**document, "sum": zlib.crc32(self.output(folder).read_bytes()), "errors": errors}


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
    assert [type(event) for event in events] == [CheckpointWritten, Stopped, Restored]
    assert [(event.checkpoint, event.bytes) for event in events] == [(1, 90 * 8 + 8)] * 3
    assert all(0 <= event.seconds < 60 for event in events)


def test_it_leaves_the_files_that_python_leaves(program: Program, tmp_path: Path) -> None:
    run(2, tmp_path / "python", "block:2", 500, "--stop-at", "3", "--pause", "0.002")
    program.run(2, tmp_path / "c", "block:2", "40,9", 500, 3, 0.002)
    python, c = (
        json.loads((tmp_path / name / "checkpoint-00000001" / "manifest.json").read_text()) for name in ("python", "c")
    )
    for document in (python, c):
        document.pop("written_at")
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


def test_a_signal_to_one_rank_stops_all(program: Program, tmp_path: Path) -> None:
    process = program.start(2, tmp_path / "x", "block", "30", LONG, 0, 0.001)
    eventually((tmp_path / "x" / "maps.json").exists, process)
    os.kill(ranks_of(program.path, tmp_path / "x")[-1], signal.SIGUSR1)
    done = program.ended(process, tmp_path / "x")
    assert (done["stopped"], len(set(done["steps"]))) == (1, 1)


def ranks_of(program: Path, folder: Path) -> list[int]:
    """The processes of the program that works in this folder, but its launcher and what passes its words on."""
    ranks = []
    for entry in Path("/proc").iterdir():
        try:
            argv = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if argv[:2] == [str(program).encode(), str(folder).encode()]:
            ranks.append(int(entry.name))
    return sorted(ranks)


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


SPOILT = [(_missing, "is missing"), (_short, "bytes;"), (_altered, "was changed since"), (_cut_manifest, "is no JSON")]


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


def test_what_is_in_depots_only_is_left_as_it_is(program: Program, tmp_path: Path) -> None:
    program.run(2, tmp_path / "x", "block", "90", LONG, 3, 0.001)
    manifest = tmp_path / "x" / "checkpoint-00000001" / "manifest.json"
    document = json.loads(manifest.read_text()) | {"version": 2, "token": "0123456789abcdef", "unknown": [{}]}
    for array in document["arrays"]:
        for shard in array["shards"]:
            shard["depots"] = ["n1"]
    manifest.write_text(json.dumps(document))
    done = program.run(2, tmp_path / "x", "cyclic", "90", LONG, 1000, 0.0001)
    assert (done["restart"], done["stopped"]) == (1, 1)  # it is in the folder too
    document["arrays"][1]["shards"][1]["file"] = None
    manifest.write_text(json.dumps(document))
    shutil.rmtree(tmp_path / "x" / "checkpoint-00000002")
    process = program.start(2, tmp_path / "x", "block", "90", LONG)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "in depots only" in errors
    assert checkpoint_files.numbers(tmp_path / "x") == [1]
