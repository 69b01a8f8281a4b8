"""Agents that Slurm itself starts on its nodes, and what becomes of an agent whose node loses power."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gridportal.network.topology import parse
from gridportal.runtime.agent import keys
from gridportal.testbed.state import State
from monitoring.telemetry.adapters import agent_source as source
from monitoring.telemetry.adapters.agent_pool import AgentPool
from monitoring.telemetry.adapters.agent_probes import Memory, ProbeSettings, Probing
from monitoring.telemetry.adapters.agent_source import Agents
from tests.gridportal.testbed.conftest import eventually
from tests.gridportal.testbed.slurm.conftest import SlurmGrid

pytestmark = [pytest.mark.grid, pytest.mark.slurm]
KEY = "a key that srun's agents share"
ROOT = Path(__file__).parents[4]


def test_agents_started_by_srun_report_and_measure_the_network(cluster: SlurmGrid, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(KEY)
    key.chmod(0o600)
    program = (
        f"exec env PYTHONPATH={ROOT} {sys.executable} -m gridportal.runtime.agent --scope network"
        f" --node $SLURMD_NODENAME --listen unix:{tmp_path}/$SLURMD_NODENAME.sock"
        f" --probe $(hostname -i):0 --key-file {key}"
    )
    job, log = cluster.submit(f"srun --overlap --ntasks-per-node=1 sh -c '{program}'", ["a", "b", "c"], "--time=5")
    agents = Agents({node: f"unix:{tmp_path}/{node}.sock" for node in "abc"}, KEY.encode())
    try:
        found = eventually(
            lambda: a if len((a := source.status(agents)).answers) == 3 else None, "three agents"
        ).answers
        reports = {node: answer.document for node, answer in found.items()}
        assert all(0 < report["cpu"] <= 1 for report in reports.values())
        probing = Probing(parse(cluster.grid.topology()), ProbeSettings(500_000, 0.2, 10.0, 1.0, 0.02, 60.0))
        pool = AgentPool(agents.key, agents.addresses)
        measured = probing.run(pool, source.probe_addresses(reports, agents), Memory(), 1000.0)
        pool.close()
        rates = {s.subject: s.value for s in measured.samples if s.metric == "bandwidth"}
        assert len(rates) == 6, (measured.error_message, log.read_text())
        assert rates["b>c"] < rates["a>b"]  # 50 Mbit/s and 100
    finally:
        cluster.ask("scancel", job)
    eventually(lambda: cluster.state(job) not in ("RUNNING", "COMPLETING"), "the end of the agents")
    eventually(lambda: not source.status(agents).answers, "silence")


def test_the_agent_of_a_node_without_power_is_silent_until_it_is_back(cluster: SlurmGrid) -> None:
    state = State(cluster.grid.directory)
    agents = Agents({n: state.agent(n) for n in "abcd"}, keys.from_file(str(state.agent_key)), timeout=1.0)
    eventually(lambda: len(source.status(agents).answers) == 4, "four agents")
    cluster.grid.slurm("kill", "node", "d")
    try:
        eventually(lambda: set(source.status(agents).failures) == {"d"}, "the silence of d")
        assert set(source.status(agents).failures) == {"d"}
    finally:
        cluster.grid.slurm("restart", "node", "d")
    eventually(lambda: len(source.status(agents).answers) == 4, "four agents again")
