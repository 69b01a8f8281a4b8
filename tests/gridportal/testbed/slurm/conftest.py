"""Grids with a real Slurm for tests."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.base import processes as shell
from gridportal.testbed import launch
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests.gridportal.testbed.conftest import eventually, need_namespaces
from tests.gridportal.testbed.networks import crossbar

#: Mbit/s between the four nodes of the tests: no two ways alike.
RATES = {
    ("a", "b"): 100.0, ("b", "a"): 40.0, ("a", "c"): 60.0, ("c", "a"): 60.0, ("a", "d"): 30.0, ("d", "a"): 80.0,
    ("b", "c"): 50.0, ("c", "b"): 50.0, ("b", "d"): 20.0, ("d", "b"): 20.0, ("c", "d"): 70.0, ("d", "c"): 70.0,
}  # fmt: skip


class SlurmGrid:
    """A Grid with its Slurm: commands through the prefix, jobs from script texts."""

    def __init__(self, root: Path, work: Path) -> None:
        self.grid, self.work = Grid(root), work
        info = self.grid.slurm_info()
        assert info is not None
        self.prefix: list[str] = info["prefix"]
        self._jobs = 0

    def ask(self, *argv: str, timeout: float = 20, stdin: str | None = None) -> shell.Completed:
        """One of Slurm's commands, whatever its exit code."""
        return shell.run([*self.prefix, *argv], timeout=timeout, check=False, stdin=stdin)

    def submit(self, script: str, nodes: list[str], *options: str) -> tuple[str, Path]:
        """The id of a job on `nodes`, and the file of its output."""
        self._jobs += 1
        log = self.work / f"{self._jobs}.log"
        where = ["--nodelist", ",".join(nodes), f"--nodes={len(nodes)}", f"--ntasks={len(nodes)}"]
        argv = ["sbatch", "--parsable", *where, f"--output={log}", f"--chdir={self.work}", *options]
        done = self.ask(*argv, stdin=f"#!/bin/bash\n{script}\n")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), log

    def state(self, job: str) -> str:
        """Slurm's word for a job."""
        text = self.ask("scontrol", "--oneliner", "show", "job", job).stdout
        return next((word[9:] for word in text.split() if word.startswith("JobState=")), "")

    def output(self, script: str, nodes: list[str], *options: str) -> str:
        """What a job printed, once it has completed."""
        job, log = self.submit(script, nodes, *options)
        eventually(lambda: self.state(job) not in ("PENDING", "RUNNING", "COMPLETING", ""), f"the end of job {job}")
        text = log.read_text()
        assert self.state(job) == "COMPLETED", text
        return text

    def nodes(self) -> dict[str, str]:
        """Slurm's word for each node."""
        lines = self.ask("sinfo", "--noheader", "--Node", "--partition=grid", "--format=%N %T").stdout.splitlines()
        return dict(line.split() for line in lines)

    def daemon(self, name: str) -> str:
        """gridd's word for a daemon."""
        info = self.grid.slurm_info()
        assert info is not None
        return next(each["state"] for each in info["daemons"] if each["name"] == name)

    def wait_until_idle(self) -> None:
        """Until every node takes jobs again."""
        eventually(lambda: set(self.nodes().values()) == {"idle"}, "idle nodes")


def need_slurm(*, accounting: bool = False) -> None:
    """Skip where no Slurm can be had."""
    need_namespaces()
    if os.geteuid() != 0:
        pytest.skip("a Slurm on the Grid is started by root only")
    if absent := place.missing(accounting=accounting):
        pytest.skip(f"{', '.join(absent)} not installed: apt-get install slurm-wlm munge slurmdbd mariadb-server")


def topology_file(folder: Path) -> Path:
    """The four nodes; d has something to count."""
    document = crossbar(RATES)
    document["nodes"] = [{"id": name, "site": "utk"} for name in "abc"] + [{"id": "d", "gres": "gpu:2"}]
    file = folder / "four.json"
    file.write_text(json.dumps(document))
    return file


@pytest.fixture(scope="package")
def shared_slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmGrid]:
    """Four nodes with Slurm for all tests of this folder, gone after the last of them."""
    need_slurm()
    root = tmp_path_factory.mktemp("slurm")
    launch.up(topology_file(root), root / "grid", with_parent=True, slurm="slurm")
    yield SlurmGrid(root / "grid", tmp_path_factory.mktemp("jobs"))
    Grid(root / "grid").down()


@pytest.fixture
def cluster(shared_slurm: SlurmGrid) -> Iterator[SlurmGrid]:
    """The shared Slurm, with every daemon running and no job left by the test before."""
    yield shared_slurm
    for name in ("munge", "ctld"):
        if shared_slurm.daemon(name) != "running":
            shared_slurm.grid.slurm("restart", name)
    shared_slurm.ask("scancel", "--user=root")
    for node in "abcd":
        if shared_slurm.daemon(f"slurmd:{node}") != "running":
            shared_slurm.grid.slurm("restart", "slurmd", node)
    time.sleep(0.1)
    shared_slurm.wait_until_idle()
