"""On a Slurm agents with depots are started by srun, where nothing may be installed on nodes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.base.errors import BackendError
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests.scheduling.portal import wait_for

pytestmark = pytest.mark.grid
ROOT = Path(__file__).parents[3]
START = (
    "exec {python} -m gridportal.runtime.agent --node $SLURMD_NODENAME --listen 0.0.0.0:8780 --depot 0.0.0.0:8782 "
    "--depot-folder {folder}/own-$SLURMD_NODENAME --key-file {key}"
)
#: On another node: a shard is kept and checked, and the portal's question goes by the agents.
ASK = """
import json, sys
from gridportal.runtime.agent import keys
from gridportal.runtime.depot import depot_access
from gridportal.runtime.depot.depot_client import Depots
from monitoring.telemetry.adapters.agent_pool import AgentPool
key, nodes = keys.from_file(sys.argv[1]), json.loads(sys.argv[2])
depots = Depots(depot_access.issued(key, "7", {node: f"{at}:8782" for node, at in nodes.items()}))
name = "0123456789abcdef-0-0"
kept = {node: depots.put(node, name, memoryview(b"mine")) == depots.check(node, name, 4) for node in nodes}
pool = AgentPool(key, {node: f"{at}:8780" for node, at in nodes.items()})
done = pool.ask({node: {"op": "depot", "ask": {"op": "jobs"}} for node in nodes}, 30.0)
print(json.dumps([kept, {node: answer.document["jobs"] for node, answer in done.answers.items()}]))
"""


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("srun-agents")
    launch.up("cmu8", root, with_parent=True, slurm="slurm")
    yield Grid(root)
    Grid(root).down()


def test_depots_started_by_srun_serve_and_end_with_their_job(grid: Grid, tmp_path: Path) -> None:
    info = grid.slurm_info()
    assert info is not None
    prefix, key, listening = list(info["prefix"]), tmp_path / "key", "ss -ltnH 'sport = :8782' | wc -l"
    key.write_text("k" * 64)
    key.chmod(0o600)
    one, two, other = (node["id"] for node in grid.status()["nodes"][:3])

    def on(node: str, *argv: str) -> str:
        words = [*prefix, "srun", "--overlap", "--mpi=none", "-N1", "-n1", "-w", node, *argv]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    start = START.format(python=sys.executable, folder=tmp_path, key=key)
    srun = [*prefix, "srun", "--overlap", "--mpi=none", "-w", f"{one},{two}", "--ntasks-per-node=1"]
    agents = subprocess.Popen([*srun, "env", f"PYTHONPATH={ROOT}", "sh", "-c", start], stderr=subprocess.PIPE)
    try:
        for node in (one, two):
            wait_for(lambda node=node: on(node, "sh", "-c", listening) == "1", f"the depot of {node}")
        places = {node["id"]: node["address"] for node in grid.status()["nodes"] if node["id"] in (one, two)}
        told = on(other, "env", f"PYTHONPATH={ROOT}", sys.executable, "-c", ASK, str(key), json.dumps(places))
        assert json.loads(told) == [{one: True, two: True}, {one: {"7": [4096, 1]}, two: {"7": [4096, 1]}}]
    finally:
        agents.terminate()
        agents.wait(60)
    for node in (one, two):
        wait_for(lambda node=node: on(node, "sh", "-c", listening) == "0", f"the end of the depot of {node}")
