"""A real MPI program whose checkpoints are in depots: it goes on elsewhere, and what is lost, changed, refused or cut
off there is found, named, and costs the latest steps only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gridportal.runtime.depot import depot_access, depot_client
from gridportal.runtime.depot.depot_access import Keep
from gridportal.runtime.srs import checkpoint_files
from tests.gridportal.runtime.depot.depots import MASTER, process
from tests.gridportal.runtime.srs.test_stop_restart import LONG, PROGRAM, ended, eventually, ranks_of, run, said
from tests.gridportal.workloads import mpi

PACE = ("--pause", "0.001")


@dataclass
class World:
    """Depots on made-up nodes of this machine, and a job that may use them."""

    folder: Path
    stack: ExitStack
    addresses: dict[str, tuple[str, int]] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def start(self, node: str, *more: str, listen: str = "127.0.0.1:0") -> None:
        started = self.stack.enter_context(process(self.folder / node, node, *more, listen=listen))
        self.addresses[node], self.processes[node] = started

    def lose(self, node: str) -> None:
        """The node is gone, with its disk."""
        self.processes[node].kill()
        self.processes[node].wait()

    def allow(self, monkeypatch: pytest.MonkeyPatch, keep: Keep = Keep.DEPOTS, copies: int = 1) -> None:
        """Programs that start from now on may use the depots."""
        addresses = {node: "{}:{}".format(*address) for node, address in self.addresses.items()}
        file = self.folder / "depots.json"
        depot_access.write(file, depot_access.issued(MASTER, "7", addresses, keep, copies))
        monkeypatch.setenv(depot_access.VARIABLE, str(file))

    def shards(self, node: str) -> list[Path]:
        return sorted(path for path in (self.folder / node).rglob("*") if path.is_file())

    def kept(self, node: str) -> dict[str, int]:
        return depot_client.jobs(self.addresses[node], MASTER, node)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with ExitStack() as stack:
        made = World(tmp_path / "world", stack)
        made.folder.mkdir()
        with ThreadPoolExecutor() as pool:
            list(pool.map(made.start, ("n1", "n2", "n3", "n4")))
        made.addresses = dict(sorted(made.addresses.items()))
        yield made


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> int:
    """What 300 steps come to, whatever the ranks and layouts."""
    return int(run(2, tmp_path_factory.mktemp("whole"), "block:2", 300)["sum"])


def files(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.raw")]


def stopped(folder: Path, *more: str, layout: str = "block:2", steps: int = LONG, at: int = 3) -> dict[str, Any]:
    done = run(int(layout.rpartition(":")[2]), folder, layout, steps, "--stop-at", str(at), *PACE, *more)
    assert done["stopped"] == 1
    return done


#: All forms are tried in C (test_c_depots.py); here `make test` has two of them.
WAYS = [
    (Keep.DEPOTS, 1),
    *(pytest.param(Keep.DEPOTS, 2, marks=pytest.mark.slow), pytest.param(Keep.BOTH, 1, marks=pytest.mark.slow)),
    (Keep.FOLDER, 1),
]


#: In C these are tried, too.
FOUND_BY_SIZE = [("missing", "there is no shard"), ("truncated", "bytes of it")]


@pytest.mark.parametrize(("keep", "copies"), WAYS)
def test_a_program_goes_on_elsewhere_from_shards_on_other_nodes(
    world: World, uninterrupted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: Keep, copies: int
) -> None:
    world.allow(monkeypatch, keep, copies)
    folder = tmp_path / "moved"
    first = stopped(folder, "--nodes", "n1,n2", layout="block:4", steps=300)
    assert bool(files(folder)) is (keep is not Keep.DEPOTS)
    on_first = [bool(world.shards(node)) for node in ("n1", "n2", "n3", "n4")]
    assert on_first == [keep is not Keep.FOLDER] * 2 + [copies == 2, False]
    again = run(3, folder, "block-cyclic:2x2:3x1", 300, "--nodes", "n3,n4")
    assert (again["restart"], again["began"], again["passed_over"]) == (1, first["steps"][0], [])
    assert again["sum"] == uninterrupted
    assert [world.kept(node).get("7", 0) for node in world.addresses] == [0] * 4  # it has come to its end


def test_the_last_two_are_kept_in_depots_too(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world.allow(monkeypatch)
    folder = tmp_path / "c"
    words = (str(folder), "block:2", "40,9", str(LONG), "--every-calls", "10", *PACE, "--nodes", "n1,n2")
    program = mpi.start(2, PROGRAM, *words)
    eventually(lambda: max(checkpoint_files.numbers(folder), default=0) > 4, program)
    (folder / "stop").touch()
    assert ended(program)["stopped"] == 1
    tokens = {path.name.partition("-")[0] for node in ("n1", "n2") for path in world.shards(node)}
    assert tokens == set(checkpoint_files.in_depots(folder))
    assert len(tokens) == len(checkpoint_files.numbers(folder)) == 2


def damage(shard: Path, how: str) -> None:
    if how == "missing":
        shard.unlink()
    elif how == "truncated":
        os.truncate(shard, shard.stat().st_size - 1)
    else:
        content = bytearray(shard.read_bytes())
        content[len(content) // 2] ^= 1
        shard.write_bytes(content)


def shard_of(world: World, folder: Path, node: str, rank: int) -> Path:
    """What the newest checkpoint has of array x of a rank."""
    newest = checkpoint_files.opened(folder, checkpoint_files.numbers(folder)[0])
    return world.folder / node / "7" / f"{newest.token}-1-{rank}"


@pytest.mark.parametrize(
    ("how", "what"),
    [
        *(pytest.param(*each, marks=pytest.mark.slow) for each in FOUND_BY_SIZE),
        ("altered", "was changed in"),
    ],
)
def test_a_shard_that_is_not_as_it_was_is_named_and_the_checkpoint_before_is_used(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, what: str
) -> None:
    world.allow(monkeypatch)
    folder = tmp_path / "c"
    first = stopped(folder, "--nodes", "n1,n2")
    second = stopped(folder, "--nodes", "n1,n2", at=first["steps"][0] + 3)
    damage(shard_of(world, folder, "n2", 1), how)
    done = run(2, folder, "cyclic:2", second["steps"][0], "--nodes", "n3,n4")
    assert (done["restart"], done["began"]) == (1, first["steps"][0])
    (sentence,) = done["passed_over"]
    assert "hat rank 1 held of x in checkpoint 2" in sentence
    assert what in sentence
    assert "n2" in sentence


def test_a_lost_node_costs_the_steps_since_a_checkpoint_that_is_elsewhere(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.allow(monkeypatch)
    first = stopped(tmp_path / "c", "--nodes", "n1,n2")
    second = stopped(tmp_path / "c", "--nodes", "n3,n4", at=first["steps"][0] + 3)
    world.lose("n3")
    done = run(2, tmp_path / "c", "block:2", second["steps"][0], "--nodes", "n1,n2")
    assert (done["restart"], done["began"]) == (1, first["steps"][0])
    assert "The depot of n3" in done["passed_over"][0]


def test_the_only_checkpoint_is_kept_while_its_depot_does_not_answer(
    world: World, uninterrupted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To start from the beginning would give up what was computed."""
    world.allow(monkeypatch)
    first = stopped(tmp_path / "c", "--nodes", "n1,n2", steps=300)
    world.lose("n2")
    done = mpi.run(2, PROGRAM, str(tmp_path / "c"), "block:2", "40,9", "300", "--nodes", "n3,n4")
    assert done.returncode != 0
    assert "There is no checkpoint to go on from now, and it is kept for later." in done.stderr
    assert checkpoint_files.numbers(tmp_path / "c") == [1]
    world.start("n2")
    world.allow(monkeypatch)
    again = run(2, tmp_path / "c", "block:2", 300, "--nodes", "n3,n4")
    assert (again["restart"], again["began"], again["sum"]) == (1, first["steps"][0], uninterrupted)


@pytest.mark.parametrize(("keep", "copies"), [(Keep.DEPOTS, 2), pytest.param(Keep.BOTH, 1, marks=pytest.mark.slow)])
def test_a_second_copy_survives_a_lost_node(
    world: World, uninterrupted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: Keep, copies: int
) -> None:
    world.allow(monkeypatch, keep, copies)
    first = stopped(tmp_path / "c", "--nodes", "n1,n2", steps=300)
    world.lose("n2")
    done = run(2, tmp_path / "c", "cyclic:2", 300, "--nodes", "n3,n4")
    assert (done["restart"], done["began"], done["passed_over"]) == (1, first["steps"][0], [])
    assert done["sum"] == uninterrupted


def test_a_damaged_copy_is_not_read_where_another_one_is_right(
    world: World, uninterrupted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.allow(monkeypatch, copies=2)
    stopped(tmp_path / "c", "--nodes", "n1,n2", steps=300)
    damage(shard_of(world, tmp_path / "c", "n1", 0), "altered")
    done = mpi.run(2, PROGRAM, str(tmp_path / "c"), "cyclic:2", "40,9", "300", "--nodes", "n1,n2")
    assert "was changed in the depot of n1 since it was written. Another copy is used." in done.stderr
    assert said(done)["sum"] == uninterrupted


def test_a_full_depot_stops_nothing_and_leaves_the_checkpoint_before(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.start("small", "--job-space", "12K")
    world.allow(monkeypatch)
    folder = tmp_path / "c"
    first = stopped(folder, "--nodes", "small")  # three shards of one block each: the room of the job
    words = (str(folder), "block:2", "40,9", str(first["steps"][0] + 300), "--stop-at", str(first["steps"][0] + 1))
    program = mpi.start(2, PROGRAM, *words, *PACE, "--nodes", "small,n1")
    eventually((folder / "not-stopped.json").exists, program)
    problem = json.loads((folder / "not-stopped.json").read_text())["problem"]
    assert "The depot of small says: the job has 12288 bytes in 3 shards there, and may have 12288" in problem
    assert checkpoint_files.numbers(folder) == [1]
    done = ended(program)
    assert (done["restart"], done["began"], done["stopped"]) == (1, first["steps"][0], 0)


def test_a_program_goes_on_while_a_checkpoint_is_written_in_the_background(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.allow(monkeypatch)
    folder, steps = tmp_path / "c", tmp_path / "steps"
    words = (str(folder), "block:2", "40,9", str(LONG), "--every-calls", "50", "--steps-file", str(steps))
    world.processes["n2"].send_signal(signal.SIGSTOP)
    program = mpi.start(2, PROGRAM, *words, *PACE, "--nodes", "n1,n2")
    eventually(lambda: at(steps) > 300, program)
    assert checkpoint_files.numbers(folder) == []  # it is being written
    world.processes["n2"].send_signal(signal.SIGCONT)
    eventually(lambda: bool(checkpoint_files.numbers(folder)), program)
    (folder / "stop").touch()
    assert ended(program)["stopped"] == 1


def at(steps: Path) -> int:
    try:
        return int(steps.read_text() or 0)
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("victim", [0, pytest.param(-1, marks=pytest.mark.slow)])
def test_a_rank_that_is_killed_while_it_writes_in_the_background_leaves_the_checkpoint_before(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: int
) -> None:
    world.allow(monkeypatch)
    folder, steps = tmp_path / "c", tmp_path / "steps"
    first = stopped(folder, "--nodes", "n1,n2")
    words = (str(folder), "block:2", "40,9", str(LONG), "--every-calls", "10", "--steps-file", str(steps))
    world.processes["n4"].send_signal(signal.SIGSTOP)
    program = mpi.start(2, PROGRAM, *words, *PACE, "--nodes", "n3,n4")
    eventually(lambda: bool(list(folder.glob("*.part"))) and at(steps) > first["steps"][0] + 20, program)
    os.kill(ranks_of(folder)[victim], signal.SIGKILL)
    program.communicate(timeout=240)
    world.processes["n4"].send_signal(signal.SIGCONT)
    assert list(folder.glob("*.part"))
    done = stopped(folder, "--nodes", "n1,n2", layout="cyclic:2", at=first["steps"][0] + 3)
    assert (done["restart"], done["began"], done["passed_over"]) == (1, first["steps"][0], [])
    tokens = {path.name.partition("-")[0] for node in world.addresses for path in world.shards(node)}
    assert tokens == set(checkpoint_files.in_depots(folder))  # nothing is left of the half one


@pytest.mark.parametrize("keep", [Keep.DEPOTS, pytest.param(Keep.FOLDER, marks=pytest.mark.slow)])
def test_a_rank_takes_at_most_64_mib_above_its_arrays(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: Keep
) -> None:
    """Of 96 MiB each: what it writes and reads goes through small buffers, and what it maps is let go of."""
    world.allow(monkeypatch, keep)
    count = 24 * 2**20
    for nodes, layout, total in (("n1,n2", "block:2", count / 2), ("n3,n4", "block-cyclic:1000:2", count / 2)):
        monkeypatch.setenv("GRIDPORTAL_NODE", nodes.partition(",")[0])
        done = said(mpi.run(2, "tests.gridportal.runtime.srs.weigh", str(tmp_path / "c"), layout, str(count)))
        assert done["total"] == total
        assert max(done["grown"]) <= 64 * 2**20, done
    assert done["restart"] == 1
