"""A disk without room for three checkpoints: the older of two goes before the next is written, the newest never."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gridportal.base.errors import ImpossibleError
from gridportal.runtime.srs import checkpoint_files, checkpoint_room
from tests.gridportal.runtime.srs.c_program import BOTH, Program
from tests.gridportal.runtime.srs.conftest import Compiled
from tests.gridportal.runtime.srs.test_folder_of_checkpoints import read, written

#: 64 KiB in one array, so that a checkpoint takes 68 KiB; four are written.
PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from mpi4py import MPI
from gridportal.runtime.srs import stop_restart
state = stop_restart.init(MPI.COMM_SELF, sys.argv[1])
state.register("x", np.zeros(8192))
for each in range(4):
    print(each, state.checkpoint() or "written")
"""
SMALL = 'mount -t tmpfs -o "size=$0" small "$1" && shift && "$@"; status=$?; ls "$FOLDER"; exit $status'
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")


def on_disk_of(kib: int, folder: Path, words: Sequence[str]) -> list[str]:
    """Lines that a program says whose folder is a disk of that size, and what is in it in the end."""
    folder.mkdir()
    command = ["unshare", "--mount", "sh", "-c", SMALL, f"{kib}k", str(folder), *words]
    environment = {**os.environ, "FOLDER": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_root
@pytest.mark.parametrize("kib", [400, 190], ids=["three", "two"])
def test_with_room_for_three_or_two_each_checkpoint_is_written(kib: int, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    lines = on_disk_of(kib, folder, [sys.executable, "-c", PROGRAM, str(folder)])
    assert lines[:4] == [f"{each} written" for each in range(4)]
    assert [line for line in lines[4:] if line.startswith("checkpoint")] == [
        "checkpoint-00000003",
        "checkpoint-00000004",
    ]


@needs_root
def test_with_room_for_one_the_newest_stays_and_a_sentence_has_the_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    lines = on_disk_of(100, folder, [sys.executable, "-c", PROGRAM, str(folder)])
    assert lines[0] == "0 written"
    assert lines[1:4] == [
        f"{each} {folder} has 32,768 bytes free, and a checkpoint needs 73,984." for each in (1, 2, 3)
    ]
    assert [line for line in lines[4:] if line.startswith("checkpoint")] == ["checkpoint-00000001"]


@needs_root
@BOTH[0]
@BOTH[1]
def test_the_library_for_c_does_the_same(mpicc: str, compiled: Compiled, tmp_path: Path) -> None:
    program, folder = Program(mpicc, compiled), tmp_path / "small"

    def lines_of(kib: int, steps: int, stop_at: int) -> list[str]:
        asked = [folder, "block", "8192", steps, stop_at, "0.001", tmp_path / "whole", "", "0", "1", "1"]
        command = [*program.words, "1", str(program.path), *map(str, asked)]
        lines = on_disk_of(kib, folder, ["sh", "-c", '"$@" 2>&1', "sh", *command])
        folder.rmdir()
        return lines

    lines = lines_of(240, 100_000, 4)
    assert "not written" not in "\n".join(lines)
    older, newer = [int(line[-8:]) for line in lines if line.startswith("checkpoint-")]
    assert newer == older + 1 >= 4
    full = [line for line in lines_of(120, 9, 0) if "written" in line and not line.startswith("{")]
    assert len(full) == 2
    assert full[0].startswith(f"A checkpoint was not written: {folder} has ")
    assert full[0].endswith(" bytes free, and a checkpoint needs 78336.")
    assert full[1] == "8 checkpoints in a row were not written."


def full_until(monkeypatch: pytest.MonkeyPatch, folder: Path, left: int) -> None:
    """A disk that has room once only so many checkpoints are left."""
    monkeypatch.setattr(
        checkpoint_room, "free_bytes", lambda _: 10**6 if len(checkpoint_files.numbers(folder)) <= left else 0
    )


def test_the_older_one_goes_and_the_newest_is_still_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, 1.0, 2.0)
    full_until(monkeypatch, tmp_path, 1)
    checkpoint_room.make_room(tmp_path, 1000 - checkpoint_room._FOLDER)
    assert checkpoint_files.numbers(tmp_path) == [2]
    assert read(tmp_path) == 2.0


def test_where_the_newest_lost_a_file_the_one_before_it_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, 1.0, 2.0)
    (tmp_path / "checkpoint-00000002" / "0-0.raw").unlink()
    full_until(monkeypatch, tmp_path, 1)
    checkpoint_room.make_room(tmp_path, 1000 - checkpoint_room._FOLDER)
    assert read(tmp_path) == 1.0


def test_where_dropping_the_older_one_would_not_do_nothing_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, 1.0, 2.0)
    full_until(monkeypatch, tmp_path, 0)
    with pytest.raises(ImpossibleError, match=r"0 bytes free, and a checkpoint needs 1,008,192 even without the old"):
        checkpoint_room.make_room(tmp_path, 10**6)
    assert checkpoint_files.numbers(tmp_path) == [2, 1]
