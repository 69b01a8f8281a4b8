"""A program in C keeps its checkpoints in depots as one in Python does; each goes on from what the other has there."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from gridportal.runtime.depot import depot_access
from gridportal.runtime.depot.depot_access import Keep
from gridportal.runtime.srs import checkpoint_files
from tests.gridportal.runtime.srs.c_program import BOTH, Program, ranks_of
from tests.gridportal.runtime.srs.conftest import Compiled
from tests.gridportal.runtime.srs.test_checkpoints_in_depots import (
    World,
    at,
    damage,
    files,
    shard_of,
    uninterrupted,
    world,
)
from tests.gridportal.runtime.srs.test_stop_restart import eventually, run

__all__ = ["uninterrupted", "world"]  # fixtures
pytestmark = BOTH
LONG = 10**7
SHAPE = "40,9"


@pytest.fixture
def program(mpicc: str, compiled: Compiled) -> Program:
    return Program(mpicc, compiled)


def stop(program: Program, folder: Path, at_step: int, nodes: str = "n1,n2", layout: str = "block:2") -> int:
    """Stop it; at which step it stopped."""
    ranks = int(layout.rpartition(":")[2])
    done = program.run(ranks, folder, layout, SHAPE, LONG, at_step, 0.001, nodes)
    assert done["stopped"] == 1
    return int(done["steps"][0])


#: The other two ways are those of test_a_second_copy_survives_a_lost_node.
WAYS = [
    *((Keep.DEPOTS, 1), (Keep.FOLDER, 1)),
    *(pytest.param(*each, marks=pytest.mark.slow) for each in ((Keep.DEPOTS, 2), (Keep.BOTH, 1))),
]


@pytest.mark.parametrize(("keep", "copies"), WAYS)
def test_it_goes_on_elsewhere_from_shards_on_other_nodes(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: Keep, copies: int
) -> None:
    world.allow(monkeypatch, keep, copies)
    folder = tmp_path / "moved"
    began = stop(program, folder, 3, layout="block:4")
    assert bool(files(folder)) is (keep is not Keep.DEPOTS)
    on_first = [bool(world.shards(node)) for node in ("n1", "n2", "n3", "n4")]
    assert on_first == [keep is not Keep.FOLDER] * 2 + [copies == 2, False]
    second = program.run(3, folder, "block-cyclic:2x2:3x1", SHAPE, LONG, began + 3, 0.001, "n3,n4")
    assert (second["restart"], second["began"]) == (1, began)
    last = program.run(2, folder, "cyclic:1x2", SHAPE, second["steps"][0] + 1, 0, 0.0, "n1,n2")
    assert last["began"] == second["steps"][0]
    assert (
        last["sum"] == program.run(1, tmp_path / "whole", "block", SHAPE, second["steps"][0] + 1, 0, 0.0, "n1")["sum"]
    )
    assert [world.kept(node).get("7", 0) for node in world.addresses] == [0] * 4  # it has come to its end


def test_python_goes_on_from_what_it_has_in_depots_and_it_from_what_python_has(
    world: World, program: Program, uninterrupted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.allow(monkeypatch)
    folder = tmp_path / "c"
    first = run(4, folder, "block-cyclic:3x2:2x2", 300, "--stop-at", "3", "--pause", "0.001", "--nodes", "n1,n2")
    second = program.run(3, folder, "cyclic:3", SHAPE, 300, first["steps"][0] + 5, 0.001, "n3,n4")
    assert (second["restart"], second["began"], second["stopped"]) == (1, first["steps"][0], 1)
    third = run(2, folder, "block:1x2", 300, "--nodes", "n1,n2")
    assert (third["restart"], third["began"], third["passed_over"]) == (1, second["steps"][0], [])
    assert third["sum"] == uninterrupted


def test_large_arrays_come_in_many_requests(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.allow(monkeypatch)
    shape = "700,901"
    first = program.run(2, tmp_path / "c", "block-cyclic:3x50:1x2", shape, LONG, 1, 0.05, "n1,n2")
    last = first["steps"][0] + 1
    done = program.run(3, tmp_path / "c", "cyclic:3", shape, last, 0, 0.0, "n3,n4")
    assert done["began"] == first["steps"][0]
    assert done["sum"] == program.run(1, tmp_path / "whole", "block", shape, last, 0, 0.0, "n1")["sum"]


def test_the_last_two_are_kept_in_depots_too(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.allow(monkeypatch)
    folder = tmp_path / "c"
    process = program.start(2, folder, "block:2", SHAPE, LONG, 0, 0.001, "n1,n2", 0, 10)
    eventually(lambda: max(checkpoint_files.numbers(folder), default=0) > 4, process)
    (folder / "stop").touch()
    assert program.ended(process, folder)["stopped"] == 1
    tokens = {path.name.partition("-")[0] for node in ("n1", "n2") for path in world.shards(node)}
    assert tokens == set(checkpoint_files.in_depots(folder))
    assert len(tokens) == len(checkpoint_files.numbers(folder)) == 2


@pytest.mark.parametrize(
    ("how", "what"), [("missing", "there is no shard"), ("truncated", "bytes of it"), ("altered", "was changed in")]
)
def test_a_shard_that_is_not_as_it_was_is_named_and_the_checkpoint_before_is_used(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, what: str
) -> None:
    world.allow(monkeypatch)
    folder = tmp_path / "c"
    first = stop(program, folder, 3)
    second = stop(program, folder, first + 3)
    damage(shard_of(world, folder, "n2", 1), how)
    done = program.run(2, folder, "cyclic:2", SHAPE, second, 0, 0.0, "n3,n4")
    assert (done["restart"], done["began"]) == (1, first)
    assert "hat rank 1 held of x in checkpoint 2" in done["errors"]
    assert what in done["errors"]


def test_the_only_checkpoint_is_kept_while_its_depot_does_not_answer(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.allow(monkeypatch)
    folder = tmp_path / "c"
    first = stop(program, folder, 3)
    world.lose("n2")
    process = program.start(2, folder, "block:2", SHAPE, LONG, 0, 0.0, "n3,n4")
    _, errors = process.communicate(timeout=240)
    assert process.returncode != 0
    assert "5: There is no checkpoint to go on from now, and it is kept for later." in errors
    assert checkpoint_files.numbers(folder) == [1]
    world.start("n2")
    world.allow(monkeypatch)
    again = program.run(2, folder, "block:2", SHAPE, first + 1, 0, 0.0, "n3,n4")
    assert (again["restart"], again["began"]) == (1, first)


@pytest.mark.parametrize(("keep", "copies"), [pytest.param(Keep.DEPOTS, 2, marks=pytest.mark.slow), (Keep.BOTH, 1)])
def test_a_second_copy_survives_a_lost_node(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: Keep, copies: int
) -> None:
    world.allow(monkeypatch, keep, copies)
    first = stop(program, tmp_path / "c", 3)
    world.lose("n2")
    done = program.run(2, tmp_path / "c", "cyclic:2", SHAPE, first + 1, 0, 0.0, "n3,n4")
    assert (done["restart"], done["began"]) == (1, first)
    assert "Another copy is used." in done["errors"]


def test_a_full_depot_stops_nothing_and_leaves_the_checkpoint_before(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.start("small", "--job-space", "12K")
    world.allow(monkeypatch)
    folder = tmp_path / "c"
    first = stop(program, folder, 3, nodes="small")
    process = program.start(2, folder, "block:2", SHAPE, LONG, first + 1, 0.001, "small,n1")
    eventually((folder / "not-stopped.json").exists, process)
    problem = (folder / "not-stopped.json").read_text()
    assert "The depot of small says: the job has 12288 bytes in 3 shards there, and may have 12288" in problem
    assert checkpoint_files.numbers(folder) == [1]
    for rank in ranks_of(program.path, folder):
        os.kill(rank, signal.SIGKILL)
    process.communicate(timeout=240)


def test_it_goes_on_while_a_checkpoint_is_written_in_the_background(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.allow(monkeypatch)
    folder, steps = tmp_path / "c", tmp_path / "steps"
    world.processes["n2"].send_signal(signal.SIGSTOP)
    process = program.start(2, folder, "block:2", SHAPE, LONG, 0, 0.001, "n1,n2", 0, 50, 0, steps)
    eventually(lambda: at(steps) > 300, process)
    assert checkpoint_files.numbers(folder) == []  # it is being written
    world.processes["n2"].send_signal(signal.SIGCONT)
    eventually(lambda: bool(checkpoint_files.numbers(folder)), process)
    (folder / "stop").touch()
    done = program.ended(process, folder)
    assert done["stopped"] == 1
    assert done["blocked"] < done["writing"]


@pytest.mark.parametrize("victim", [0, pytest.param(-1, marks=pytest.mark.slow)])
def test_a_rank_that_is_killed_while_it_writes_in_the_background_leaves_the_checkpoint_before(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: int
) -> None:
    world.allow(monkeypatch)
    folder, steps = tmp_path / "c", tmp_path / "steps"
    first = stop(program, folder, 3)
    world.processes["n4"].send_signal(signal.SIGSTOP)
    process = program.start(2, folder, "block:2", SHAPE, LONG, 0, 0.001, "n3,n4", 0, 10, 0, steps)
    eventually(lambda: bool(list(folder.glob("*.part"))) and at(steps) > first + 20, process)
    os.kill(ranks_of(program.path, folder)[victim], signal.SIGKILL)
    process.communicate(timeout=240)
    world.processes["n4"].send_signal(signal.SIGCONT)
    assert list(folder.glob("*.part"))
    done = program.run(2, folder, "cyclic:2", SHAPE, LONG, first + 3, 0.001, "n1,n2")
    assert (done["restart"], done["began"], done["stopped"]) == (1, first, 1)
    tokens = {path.name.partition("-")[0] for node in world.addresses for path in world.shards(node)}
    assert tokens == set(checkpoint_files.in_depots(folder))  # nothing is left of the half one


def test_without_the_file_that_lets_it_use_depots_it_says_so(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.allow(monkeypatch)
    folder = tmp_path / "c"
    stop(program, folder, 3)
    file = Path(os.environ[depot_access.VARIABLE])
    monkeypatch.delenv(depot_access.VARIABLE)
    assert "GRIDPORTAL_DEPOTS must name the file that lets this program use depots" in refused(program, folder)
    assert checkpoint_files.numbers(folder) == [1]
    monkeypatch.setenv(depot_access.VARIABLE, str(file))
    file.chmod(0o644)
    assert "accepted is a file that only its owner may read (chmod 600)" in refused(program, folder)
    file.write_text(file.read_text().replace('"key": "', '"key": "00'))
    file.chmod(0o600)
    assert "depots.key is '...'; accepted is 64 hexadecimal digits" in refused(program, folder)


def refused(program: Program, folder: Path) -> str:
    process = program.start(2, folder, "block:2", SHAPE, LONG, 0, 0.0, "n1,n2")
    _, errors = process.communicate(timeout=240)
    assert process.returncode != 0
    return errors


def test_it_needs_no_depots_for_what_is_in_the_folder_too(
    world: World, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.allow(monkeypatch, Keep.BOTH)
    first = stop(program, tmp_path / "c", 3)
    shutil.rmtree(world.folder / "n1" / "7")
    monkeypatch.delenv(depot_access.VARIABLE)
    done = program.run(2, tmp_path / "c", "cyclic:2", SHAPE, first + 1)
    assert (done["restart"], done["began"]) == (1, first)
