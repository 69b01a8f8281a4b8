"""A program that makes the calls of SRS tells the portal of its checkpoints, of its stop and of what it has read."""

from __future__ import annotations

from pathlib import Path

from gridportal.runtime.progress_events import CheckpointWritten, Restored, Stopped
from scheduling.runs.core import progress
from tests.gridportal.workloads import mpi

PROGRAM = "tests.gridportal.runtime.srs.stoppable"
SHAPE = "40,9"
BYTES = 40 * 9 * 8 + 8  # the array, and the step


def events(directory: Path) -> progress.Progress:
    return progress.read((directory / "progress.jsonl").read_bytes())


def test_it_tells_of_each_checkpoint_of_its_stop_and_of_what_it_has_read(
    tmp_path: Path,
) -> None:
    said = []
    for number, more in ((1, ("--stop-at", "3", "--pause", "0.002")), (2, ())):
        directory = tmp_path / f"run-{number}"
        directory.mkdir()
        done = mpi.run(
            number + 1, PROGRAM, str(tmp_path / "kept"), f"block:{number + 1}", SHAPE, "400", *more, run_dir=directory
        )
        assert done.returncode == 0, done.stderr
        said.append(events(directory))
    first, second = said
    assert [(each.checkpoint, each.bytes) for each in first.of(CheckpointWritten)] == [(1, BYTES)]
    (stopped,) = first.of(Stopped)
    assert (stopped.checkpoint, stopped.bytes, stopped.seconds > 0, stopped.at > 0) == (1, BYTES, True, True)
    assert not list(first.of(Restored))
    (restored,) = second.of(Restored)
    assert (restored.checkpoint, restored.bytes, restored.seconds > 0) == (1, BYTES, True)
    assert not list(second.of(Stopped))
