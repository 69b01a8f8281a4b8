"""Depots for jobs of Slurm: a program that stops on two nodes goes on on two others, over the network between them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gridportal.runtime.agent import keys
from gridportal.runtime.depot import depot_access
from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import eventually
from tests.gridportal.testbed.slurm.conftest import SlurmGrid

pytestmark = [pytest.mark.grid, pytest.mark.slurm]
CHECKOUT = Path(__file__).parents[4]
PROGRAM = "tests.gridportal.runtime.srs.stoppable"


def run(cluster: SlurmGrid, folder: Path, nodes: list[str], *words: str) -> dict[str, Any]:
    """What the program says at its end."""
    script = (
        f"cd {CHECKOUT}\nexport {depot_access.VARIABLE}={folder}/depots.json\n"
        f"{Path(sys.executable).with_name('mpiexec')} -n {len(nodes)}"
        f" {sys.executable} -m {PROGRAM} {folder}/c {' '.join(words)}\n"
    )
    said: dict[str, Any] = json.loads(cluster.output(script, nodes, "--time=5").splitlines()[-1])
    return said


def test_a_program_stops_on_two_nodes_and_goes_on_on_two_others(cluster: SlurmGrid, tmp_path: Path) -> None:
    state = State(cluster.grid.directory)
    eventually(lambda: cluster.grid.status()["agents"] == 4, "four agents")
    access = depot_access.issued(keys.from_file(str(state.agent_key)), "7", json.loads(state.depots.read_text()))
    depot_access.write(tmp_path / "depots.json", access)
    words = ("block:2", "40,9", "200")
    first = run(cluster, tmp_path, ["a", "b"], *words, "--stop-at", "3", "--pause", "0.01")
    assert first["stopped"] == 1
    assert not list(tmp_path.rglob("*.raw"))
    assert [any(p.is_file() for p in state.depot(node).rglob("*")) for node in "abcd"] == [True, True, False, False]
    again = run(cluster, tmp_path, ["c", "d"], "cyclic:2", *words[1:])
    assert (again["restart"], again["began"], again["steps"]) == (1, first["steps"][0], [200, 200])
    assert not any(p.is_file() for node in "abcd" for p in state.depot(node).rglob("*"))  # it has come to its end
