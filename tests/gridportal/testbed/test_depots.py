"""Depots on a real Grid: shards are on the nodes' own storage, and ranks on other nodes fetch them over the links."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gridportal.runtime.agent import keys
from gridportal.runtime.depot import depot_access
from gridportal.testbed.client import Grid
from gridportal.testbed.state import State
from monitoring.telemetry.adapters import agent_source as source
from tests.gridportal.testbed.conftest import ended, eventually
from tests.gridportal.testbed.test_agents import agents_of, reports

pytestmark = pytest.mark.grid
CHECKOUT = Path(__file__).parents[3]
PROGRAM = "tests.gridportal.runtime.srs.stoppable"


def run(
    grid: Grid, key: str, folder: Path, nodes: Sequence[str], *words: str, program: str = PROGRAM, owner: str = "ann"
) -> dict[str, Any]:
    """Run the program on `nodes` for job 7 of `owner`; what it says, once it has ended."""
    state, run_dir, job_dir = State(grid.directory), folder / key, folder / "job"
    for each in (run_dir, job_dir):
        each.mkdir(exist_ok=True)
    access = depot_access.issued(keys.from_file(str(state.agent_key)), "7", json.loads(state.depots.read_text()))
    depot_access.write(run_dir / "depots.json", access)
    script = (
        f"cd {CHECKOUT}\nexport PYTHONDONTWRITEBYTECODE=1 {depot_access.VARIABLE}={run_dir}/depots.json\n"
        f"mpiexec -n {len(nodes)} {sys.executable} -m {program} {job_dir}/c {' '.join(words)}\n"
    )
    grid.submit(key, script, list(nodes), str(run_dir), owner=owner, job_dir=str(job_dir))
    done = ended(grid, key)
    output = (run_dir / "output.log").read_text()
    assert done["exit_code"] == 0, output
    said: dict[str, Any] = json.loads(output.splitlines()[-1])
    return said


def test_a_program_stops_on_two_nodes_and_goes_on_on_two_others(grid: Grid, tmp_path: Path) -> None:
    eventually(lambda: grid.status()["agents"] == 10, "ten agents")
    before = sent(grid, "n6") + sent(grid, "n7")
    words = ("block:2", "400,500", "200")
    first = run(grid, "depots-1", tmp_path, ["n6", "n7"], *words, "--stop-at", "3", "--pause", "0.01")
    assert first["stopped"] == 1
    assert not list(tmp_path.rglob("*.raw"))
    state = State(grid.directory)
    kept = {node: [p for p in state.depot(node).rglob("*") if p.is_file()] for node in ("n6", "n7", "n8")}
    assert [len(each) for each in kept.values()] == [2, 1, 0]  # of the step there is one shard
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    again = run(grid, "depots-2", tmp_path, ["n9", "n10"], "cyclic:2", *words[1:])
    assert (again["restart"], again["began"], again["steps"]) == (1, first["steps"][0], [200, 200])
    assert again["sum"] == run(grid, "depots-3", elsewhere, ["n9", "n10"], *words)["sum"]
    assert sent(grid, "n6") + sent(grid, "n7") - before > 400 * 500 * 8


def sent(grid: Grid, node: str) -> int:
    """Bytes that a node has sent."""
    interface = reports(grid)[node]["interfaces"]["eth0"]
    return int(interface[0])


def test_every_node_tells_where_its_depot_is_and_counts_it_for_nothing(grid: Grid) -> None:
    eventually(lambda: grid.status()["agents"] == 10, "ten agents")
    told = {node: "{}:{}".format(*report["depot"]) for node, report in reports(grid).items()}
    assert told == json.loads(State(grid.directory).depots.read_text())
    eventually(lambda: not any(node["pids"] for node in grid.status()["nodes"]), "nodes without other processes")


def test_a_depot_that_is_killed_comes_back_with_its_agent(grid: Grid) -> None:
    agent = eventually(lambda: reports(grid)["n9"], "the agent")["pid"]
    done = grid.run(["n9"], ["sh", "-c", f"kill -9 $(cat /proc/{agent}/task/{agent}/children)"])
    assert done[0]["exit_code"] == 0
    eventually(lambda: (new := source.status(agents_of(grid)).answers.get("n9")) and new.document["pid"] != agent, "n9")
