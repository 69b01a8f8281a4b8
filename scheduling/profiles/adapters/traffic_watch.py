"""A program's traffic on the nodes of an emulated Grid, counted by the kernel's connections and not by the program."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from gridportal.base import bounded_json, rank_order
from gridportal.base.errors import BackendError, InputError
from gridportal.testbed.client import Grid
from scheduling.profiles.core import profile
from scheduling.profiles.core.profile import Profile
from scheduling.profiles.core.profile_traffic import Floats

#: Who starts the ranks and passes their output on: their connections are not the program's.
_MPICH = ("mpiexec", "mpiexec.hydra", "mpirun", "hydra_pmi_proxy")
_OPEN_MPI = ("orterun", "orted", "prterun", "prted")
LAUNCHERS = frozenset([*_MPICH, *_OPEN_MPI, "srun", "slurmstepd", "ssh", "sshd"])
_START = 20.0


def watched(grid: Grid, nodes: Sequence[str], argv: Sequence[str], timeout: float, cwd: str | None = None) -> Profile:
    """Run `argv` (an mpiexec with its ranks on `nodes`, in rank order) and count the bytes between each pair.

    Every node must have one rank, and no other program with connections of its own: a controlled test bed. Raises
    BackendError when the program fails.
    """
    addresses = _addresses(grid, nodes)
    with tempfile.TemporaryDirectory(prefix="gridportal-watch-") as name, ThreadPoolExecutor() as pool:
        folder = Path(name)
        folder.chmod(0o777)
        watches = [pool.submit(_watch, grid, node, folder, timeout) for node in nodes]
        try:
            _wait_for(folder, nodes, watches)
            began = time.monotonic()
            done = once(grid, nodes, argv, timeout, cwd)
            seconds = time.monotonic() - began
        finally:
            (folder / "stop").touch()
            for each in watches:
                each.exception(timeout=_START)
        reports = [bounded_json.load(folder / f"{node}.json", "watch") for node in nodes]
    _check(done)
    return profile.of_counters(" ".join(argv), sizes(reports, addresses), seconds)


def once(
    grid: Grid, nodes: Sequence[str], argv: Sequence[str], timeout: float, cwd: str | None = None
) -> list[dict[str, Any]]:
    """Run a launcher on the first of `nodes`: MPICH's is told of the others by the Grid, another by its own words."""
    return grid.run(nodes if Path(argv[0]).name in _MPICH else nodes[:1], argv, timeout, cwd)


def launcher_argv(launcher: str, nodes: Sequence[str], folder: Path) -> list[str]:
    """The words before a program that start one rank on each node; Open MPI's read a file in `folder`."""
    argv = [launcher, "-n", str(len(nodes))]
    if "openmpi" not in Path(launcher).name:
        return argv
    return [*argv, "--map-by", "seq", "--hostfile", str(rank_order.write_hosts(folder, nodes))]


def sizes(reports: Sequence[Mapping[str, Any]], addresses: Sequence[str]) -> Floats:
    """Bytes between nodes (rows send) from what each node counted; launchers and other addresses are left out.

    >>> one = {"connections": [{"remote": ["10.0.0.2", 5000], "sent": 70, "program": "cg"}]}
    >>> sizes([one, {"connections": []}], ["10.0.0.1", "10.0.0.2"]).tolist()
    [[0.0, 70.0], [0.0, 0.0]]
    """
    place = {address: rank for rank, address in enumerate(addresses)}
    found = np.zeros((len(addresses), len(addresses)))
    for rank, report in enumerate(reports):
        for flow in report["connections"]:
            to = place.get(flow["remote"][0])
            if to is not None and to != rank and flow["program"] not in LAUNCHERS:
                found[rank, to] += flow["sent"]
    return found


def _addresses(grid: Grid, nodes: Sequence[str]) -> list[str]:
    address_of = {node["id"]: node["address"] for node in grid.status()["nodes"]}
    for node in nodes:
        if node not in address_of:
            raise InputError("nodes", node, "one of " + ", ".join(address_of))
    if len(set(nodes)) != len(nodes):
        raise InputError(
            "nodes", list(nodes), "each node once, for what ranks of one node send to each other nobody sees"
        )
    return [address_of[node] for node in nodes]


def _watch(grid: Grid, node: str, folder: Path, timeout: float) -> None:
    argv = [sys.executable, "-m", "gridportal.runtime.traffic_watch", str(folder), node]
    done = grid.run([node], argv, timeout + 2 * _START)
    if done[0]["exit_code"] != 0:
        raise BackendError(f"The traffic of {node} could not be watched: {done[0]['output'].strip()[-300:]}")


def _wait_for(folder: Path, nodes: Sequence[str], watches: Sequence[Future[None]]) -> None:
    end = time.monotonic() + _START
    while not all((folder / f"{node}.ready").exists() for node in nodes):
        for each in watches:
            if each.done():
                each.result()
        if time.monotonic() > end:
            raise BackendError(f"The watch did not begin on all of {', '.join(nodes)} within {_START:g} s.")
        time.sleep(0.02)


def _check(done: Sequence[Mapping[str, Any]]) -> None:
    for each in done:
        if each["exit_code"] != 0:
            last = each["output"].strip().splitlines()[-1:] or ["no output"]
            raise BackendError(f"The program ended with exit code {each['exit_code']}: {last[0]}")
