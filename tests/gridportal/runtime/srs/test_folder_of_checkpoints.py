"""What else may be in the folder of checkpoints: altered manifests, an old `stop`, files where folders are wanted."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

from gridportal.base.errors import GridPortalError, InputError
from gridportal.runtime.srs import checkpoint_files, stop_restart
from gridportal.runtime.srs.checkpoint_manifest import BadCheckpointError
from gridportal.runtime.srs.stop_restart import StopRestart


def begun(folder: Path, value: float = 0.0) -> StopRestart:
    state = stop_restart.init(MPI.COMM_SELF, folder)
    state.register("x", np.full(4, value))
    return state


def written(folder: Path, *values: float) -> None:
    """A checkpoint of each value, of a program that was then killed."""
    state = begun(folder)
    for value in values:
        state.registered["x"].held[:] = value
        assert state.checkpoint() == ""
    state._votes.close()
    state._requests.close()


def read(folder: Path) -> float:
    state = begun(folder)
    assert state.restart_value() == 1
    value = float(state.read("x")[0])
    state._votes.close()
    state._requests.close()
    return value


def is_stopped(state: StopRestart, within: float = 30.0) -> bool:
    until = time.monotonic() + within
    while not state.check_stop():
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def altered(folder: Path, number: int, **changes: Any) -> None:
    """The manifest with other fields in its array, or in itself; the checksum of old ones is not there."""
    file = folder / f"checkpoint-{number:08d}" / "manifest.json"
    document = json.loads(file.read_text())
    del document["crc32"]
    document |= {name: value for name, value in changes.items() if name in document}
    for array in document["arrays"]:
        array |= {name: value for name, value in changes.items() if name in array}
    file.write_text(json.dumps(document))


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [10**18]},
        {"shape": [10**40]},
        {"shape": [0, 10**40]},
        {"shape": [5]},
        {"dtype": "|O"},
        {"dtype": "f4,f4"},
        {"dtype": "f4,("},
        {"dtype": "<f4"},
        {"arrays": []},
        {"layout": {"dimensions": [{"parts": 1, "block": None}, {"parts": 1, "block": None}]}},
    ],
)
def test_where_a_manifest_was_altered_the_checkpoint_before_is_used(
    tmp_path: Path, change: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, 1.0, 2.0)
    altered(tmp_path, 2, **change)
    assert read(tmp_path) == 1.0
    assert "Checkpoint 2 cannot be used" in capsys.readouterr().err
    assert (tmp_path / "checkpoint-00000002.bad").is_dir()


def test_what_still_makes_sense_is_found_by_the_checksum_of_the_manifest(tmp_path: Path) -> None:
    written(tmp_path, 1.0)
    file = tmp_path / "checkpoint-00000001" / "manifest.json"
    whole = file.read_text()
    file.write_text(whole.replace('"<f8"', '"<i8"'))
    with pytest.raises(BadCheckpointError, match="which was changed since then"):
        checkpoint_files.opened(tmp_path, 1)
    file.write_text(whole + " ")
    with pytest.raises(BadCheckpointError, match="which was changed since then"):
        checkpoint_files.opened(tmp_path, 1)


def test_manifests_of_before_have_no_checksum(tmp_path: Path) -> None:
    written(tmp_path, 7.0)
    altered(tmp_path, 1)
    assert read(tmp_path) == 7.0


def test_records_and_objects_are_not_registered(tmp_path: Path) -> None:
    state = begun(tmp_path)
    for kind in ("O", "f4,f4"):
        with pytest.raises(InputError, match="an array of numbers in C order"):
            state.register("y", np.zeros(2, kind))


def test_the_folder_is_there_as_soon_as_the_program_has_begun(tmp_path: Path) -> None:
    state = begun(tmp_path / "some" / "checkpoints")
    (tmp_path / "some" / "checkpoints" / "stop").touch()
    assert is_stopped(state)
    state.finish()


def test_a_stop_that_came_after_the_end_is_not_for_the_next_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun(tmp_path).finish()
    (tmp_path / "stop").touch()
    state = begun(tmp_path)
    assert not (tmp_path / "stop").exists()
    assert f"{tmp_path}/stop came after the end of the last program" in capsys.readouterr().err
    assert not is_stopped(state, within=0.3)
    state.finish()


def test_a_stop_that_is_there_already_is_told_and_obeyed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody may ask while the program starts, as the portal does."""
    (tmp_path / "stop").touch()
    state = begun(tmp_path)
    assert f"{tmp_path}/stop was there before this program: it is stopped at once." in capsys.readouterr().err
    assert is_stopped(state)
    state.finish()


@pytest.mark.parametrize("full", [False, True])
def test_a_folder_that_is_called_stop_stops_it_too(
    tmp_path: Path, full: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    state = begun(tmp_path)
    (tmp_path / "stop").mkdir()
    if full:
        (tmp_path / "stop" / "x").touch()
    assert is_stopped(state)
    state.finish()
    assert (f"{tmp_path}/stop cannot be taken away: Directory not empty." in capsys.readouterr().err) == full
    assert (tmp_path / "stop").exists() == full


def test_a_checkpoint_counts_that_was_written_after_another_program_ended_in_the_folder(tmp_path: Path) -> None:
    state = begun(tmp_path, 1.0)
    (tmp_path / "finished").touch()
    assert state.checkpoint() == ""
    state._votes.close()
    state._requests.close()
    assert read(tmp_path) == 1.0


def test_a_start_from_the_beginning_is_told_where_no_checkpoint_can_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, 1.0)
    (tmp_path / "checkpoint-00000001" / "0-0.raw").unlink()
    state = begun(tmp_path)
    assert state.restart_value() == 0
    assert capsys.readouterr().err.endswith("No other checkpoint is left: the program starts from the beginning.\n")
    state.finish()


def test_why_an_earlier_stop_failed_goes_with_one_that_did_not(tmp_path: Path) -> None:
    (tmp_path / "not-stopped.json").write_text("{}")
    state = begun(tmp_path)
    (tmp_path / "stop").touch()
    assert is_stopped(state)
    assert not (tmp_path / "not-stopped.json").exists()
    state.finish()


def test_what_stands_in_the_way_is_one_sentence_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(GridPortalError, match=rf"^folder is '{folder}'; accepted is a folder, or a name"):
            begun(folder)
    (tmp_path / "x" / "finished").mkdir(parents=True)
    with pytest.raises(GridPortalError, match=rf"^{tmp_path}/x/finished: Is a directory\.$"):
        begun(tmp_path / "x")


def test_a_file_with_the_name_of_a_checkpoint_is_passed_over_and_goes(tmp_path: Path) -> None:
    written(tmp_path, 1.0)
    (tmp_path / "checkpoint-00000002").touch()
    (tmp_path / "checkpoint-00000003.part").touch()
    assert read(tmp_path) == 1.0
    written(tmp_path, 5.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-00000001", "checkpoint-00000002"]


def test_a_full_disk_is_told_with_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(descriptor: int, content: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    state = begun(tmp_path)
    monkeypatch.setattr(checkpoint_files, "_write_all", full)
    file = tmp_path / "checkpoint-00000001.part" / "0-0.raw"
    assert state.checkpoint() == f"{file}: No space left on device."
    assert state.checkpoint()
    assert f"A checkpoint was not written in {tmp_path}: {file}: No space" in (said := capsys.readouterr().err)
    assert len(said.splitlines()) == 1
    state.finish()
    assert capsys.readouterr().err == "2 checkpoints in a row were not written.\n"


def test_an_empty_name_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^folder is empty; accepted is the name of a folder, or None for what"):
        stop_restart.init(MPI.COMM_SELF, "")
