"""The agents on a real Grid: one on every node, reached from outside its namespaces, probing over the shaped links."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.network import topology
from gridportal.runtime.agent import keys
from gridportal.testbed.client import Grid
from gridportal.testbed.state import State
from monitoring.telemetry.adapters import agent_source as source
from monitoring.telemetry.adapters.agent_probes import Memory, ProbeSettings, Probing
from monitoring.telemetry.adapters.agent_source import Agents, AgentSource
from tests.gridportal.testbed.conftest import ended, eventually
from tests.gridportal.testbed.networks import chain, dumbbell

pytestmark = pytest.mark.grid
PROBING = ProbeSettings(size=524_288, seconds=0.12, timeout=10.0, every=1.0, share=0.02, period=30.0)


def agents_of(grid: Grid) -> Agents:
    state = State(grid.directory)
    nodes = [node["id"] for node in grid.status()["nodes"]]
    return Agents({node: state.agent(node) for node in nodes}, keys.from_file(str(state.agent_key)))


def reports(grid: Grid) -> dict[str, dict[str, Any]]:
    asked = source.status(agents_of(grid))
    assert not asked.failures
    return {node: dict(answer.document) for node, answer in asked.answers.items()}


@pytest.fixture
def kept() -> Iterator[Callable[[Grid, Probing | None], AgentSource]]:
    names = []

    def make(grid: Grid, probing: Probing | None) -> AgentSource:
        names.append(str(grid.directory))
        return AgentSource(names[-1], agents_of(grid), probing)

    yield make
    for name in names:
        source.close(name)


def test_every_node_has_an_agent_that_only_its_owner_reaches(grid: Grid) -> None:
    found = reports(grid)
    assert len(found) == 10
    assert {report["probe"][0] for report in found.values()} == {f"10.77.0.{n}" for n in range(1, 11)}
    assert all(list(report["interfaces"]) == ["eth0"] for report in found.values())
    state = State(grid.directory)
    assert state.agent_key.stat().st_mode & 0o777 == 0o600
    assert all(path.stat().st_mode & 0o077 == 0 for path in state.agents.iterdir())


def test_agents_are_no_load_and_no_processes_of_their_nodes(grid: Grid) -> None:
    eventually(lambda: grid.status()["agents"] == 10, "ten agents")
    eventually(lambda: not any(node["pids"] for node in grid.status()["nodes"]), "nodes without other processes")


def test_an_agent_sees_the_load_of_its_own_node_alone(grid: Grid) -> None:
    grid.load(["n2"], processes=2)
    try:
        eventually(lambda: reports(grid)["n2"]["cpu"] < 0.45, "the load of n2")
        assert reports(grid)["n9"]["load"] < 0.5
        assert reports(grid)["n2"]["runs"] == {}  # a competitor belongs to no run
    finally:
        grid.load(stop=True)
    eventually(lambda: reports(grid)["n2"]["cpu"] > 0.8, "the end of the load")


def test_a_runs_own_load_and_bytes_are_told_from_those_of_others(grid: Grid, tmp_path: Path) -> None:
    program = (
        "import pathlib; from mpi4py import MPI; c = MPI.COMM_WORLD; b = bytearray(100_000); n = 0\n"
        "seen = pathlib.Path('seen')\n"
        "while not c.bcast(seen.exists(), root=0):\n"
        "    c.Send(b, 1) if c.rank == 0 else c.Recv(b, 0)\n"
        "    for _ in range(100_000): n += 1\n"
    )
    (tmp_path / "program.py").write_text(program)
    grid.load(["n4"], processes=1)
    begun = reports(grid)["n4"]["peers"].get("10.77.0.5", [0, 0])[0]
    try:
        script = f"cd {tmp_path}\nmpiexec -n 2 {sys.executable} program.py\n"
        grid.submit("own-traffic", script, ["n4", "n5"], str(tmp_path))

        def own() -> dict[str, Any] | None:
            report = reports(grid)["n4"]
            run = report["runs"].get(str(tmp_path), {"tx": 0, "load": 0.0})
            enough = run["tx"] > 1_000_000 and run["load"] > 0.2
            return report if enough and report["load"] > run["load"] + 0.4 else None

        report = eventually(own, "the traffic and the load of the run beside those of the other process")
        (tmp_path / "seen").touch()
        assert ended(grid, "own-traffic")["exit_code"] == 0
    finally:
        (tmp_path / "seen").touch()
        grid.load(stop=True)
    sent = report["peers"]["10.77.0.5"][0] - begun
    assert sent == pytest.approx(report["runs"][str(tmp_path)]["tx"], rel=0.01)  # mpiexec itself says a little more


def test_probes_of_agents_see_the_shaped_rates_in_nine_rounds(
    grid: Grid, kept: Callable[[Grid, Probing | None], AgentSource]
) -> None:
    document = grid.topology()
    probing = Probing(topology.parse(document), PROBING)
    nodes = [node["id"] for node in document["nodes"]]
    assert len(probing.plan(nodes, Memory(), time.time())) == 9
    shares = []
    for _ in range(4):  # a busy machine looks slow: one of four tries must be near
        found = kept(grid, probing).collect(time.time())
        rates = [sample.value for sample in found.samples if sample.metric == "bandwidth"]
        shares.append(sum(abs(rate / 100e6 - 1) <= 0.1 for rate in rates) / 90)
        taken = [sample.value for sample in found.samples if sample.metric == "probe_share"]
        assert len(taken) == 90
        assert max(taken) <= 0.02
        assert found.cost_bytes > 90 * 100_000
        if shares[-1] >= 0.95:
            return
        time.sleep(1.0)
    raise AssertionError(f"near the shaped rates were only {shares}")


def test_on_links_that_are_shared_probes_keep_to_the_share_of_the_slowest(
    up: Callable[[dict[str, Any]], Grid], kept: Callable[[Grid, Probing | None], AgentSource]
) -> None:
    grid = up(chain())
    slow = ProbeSettings(size=200_000, seconds=0.12, timeout=10.0, every=0.1, share=0.02, period=5.0)
    probing = Probing(topology.parse(grid.topology()), slow)
    asking = kept(grid, probing)
    begun, now = time.time(), time.time()
    carried: dict[str, float] = {}
    pairs = set()
    for _ in range(6):
        now += slow.period
        found = asking.collect(now)
        pairs |= {sample.subject for sample in found.samples if sample.metric == "bandwidth"}
        for sample in found.samples:
            if sample.metric == "probe_share":
                carried[sample.subject] = carried.get(sample.subject, 0.0) + sample.value
    turns = (now - begun) / slow.period
    capacities = probing._capacities
    for subject, total in carried.items():
        one_probe = slow.size * 8 / (capacities[tuple(subject.split(">"))] * slow.period)
        assert total <= 0.02 * turns + one_probe * 1.01
    assert len(pairs) == 6


def test_transfers_at_once_tell_of_a_link_behind_slower_ones_within_the_share(
    up: Callable[[dict[str, Any]], Grid], kept: Callable[[Grid, Probing | None], AgentSource]
) -> None:
    grid = up(dumbbell())
    settings = ProbeSettings(size=200_000, seconds=0.25, timeout=10.0, every=0.1, share=0.02, period=10.0)
    probing = Probing(topology.parse(grid.topology()), settings)
    asking = kept(grid, probing)
    begun, now = time.time(), time.time()
    carried: dict[str, float] = {}
    told: list[float] = []
    for _ in range(20):  # a busy machine looks slow: one turn must be near
        now += settings.period
        found = asking.collect(now)
        for sample in found.samples:
            if sample.metric == "probe_share":
                carried[sample.subject] = carried.get(sample.subject, 0.0) + sample.value
        told += [one.value for one in found.samples if (one.subject, one.metric) == ("s>t", "bandwidth")]
        if any(abs(rate / 60e6 - 1) <= 0.15 for rate in told):
            break
    else:
        raise AssertionError(f"near 60 Mbit/s were none of {told}; {found.error_message}")
    turns = (now - begun) / settings.period
    one_probe = settings.size * 8 / (155e6 * settings.period)
    assert max(carried.values()) <= 0.02 * turns + one_probe * 1.01


def test_an_agent_that_is_killed_comes_back(grid: Grid) -> None:
    before = reports(grid)["n7"]["pid"]
    done = grid.run(["n7"], ["sh", "-c", f"kill -9 {before}"])
    assert done[0]["exit_code"] == 0
    eventually(
        lambda: (new := source.status(agents_of(grid)).answers.get("n7")) and new.document["pid"] != before, "n7"
    )


def test_an_agent_that_stands_still_is_told_and_the_others_answer(grid: Grid) -> None:
    stopped = reports(grid)["n3"]["pid"]
    grid.run(["n3"], ["sh", "-c", f"kill -STOP {stopped}"])
    try:
        agents = agents_of(grid)
        asked = source.status(Agents(agents.addresses, agents.key, timeout=1.0))
        assert set(asked.failures) == {"n3"}
        assert asked.failures["n3"].reason == "no answer within 1 s"
        assert len(asked.answers) == 9
    finally:
        grid.run(["n3"], ["sh", "-c", f"kill -CONT {stopped}"])
    assert len(reports(grid)) == 10


def test_agents_end_with_their_grid(up: Callable[[dict[str, Any]], Grid]) -> None:
    grid = up(chain())
    state = State(grid.directory)
    eventually(lambda: len(_processes(str(state.agent_key))) == 6, "three agents, each with its depot")
    grid.down()
    assert not _processes(str(state.agent_key))
    assert not state.agents.exists()


def test_without_namespaces_agents_tell_nodes_apart_by_their_marks(plain: Grid) -> None:
    eventually(lambda: plain.status()["agents"] == 10, "ten agents")
    plain.load(["n2"], processes=1)
    try:
        eventually(lambda: reports(plain)["n2"]["load"] > 0.6, "the load of n2")
        assert reports(plain)["n9"]["load"] < 0.4
    finally:
        plain.load(stop=True)


def _processes(word: str) -> list[int]:
    """Those whose command line has `word`, wherever they are."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in words:
            found.append(int(name))
    return found


def test_the_signal_of_a_service_manager_ends_an_agent_and_the_grid_starts_another(grid: Grid) -> None:
    before = reports(grid)["n8"]["pid"]
    grid.run(["n8"], ["sh", "-c", f"kill -{int(signal.SIGTERM)} {before}"])
    eventually(
        lambda: (new := source.status(agents_of(grid)).answers.get("n8")) and new.document["pid"] != before, "n8"
    )
