"""What agents cost: memory and processor of one, and the round trips that a round over 4,096 of them takes."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from monitoring.telemetry.adapters.agent_pool import AgentPool
from monitoring.telemetry.core.reports import samples_of
from tests.bench import simulated_agents
from tests.gridportal.runtime.agent.agents import Portal, agent
from tests.monitoring.telemetry.adapters.test_agent_pool import simulated

pytestmark = pytest.mark.bench
REPORT = {"op": "report"}
COUNT = 4096
ROUNDS = 7
_TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def test_one_agent_is_small(tmp_path: Path) -> None:
    where = f"unix:{tmp_path}/n1.sock"
    with agent(where, "n1", "--probe", "127.0.0.1:0") as process:
        portal = Portal(where).open()
        target = portal.ask(op="report")["probe"]
        portal.ask(op="probe", to=target, size=10_000_000, seconds=1.0, timeout=5.0)
        begun, spent = time.monotonic(), cpu_seconds(process.pid)
        while time.monotonic() - begun < 20:
            portal.ask(op="report")
            time.sleep(5)  # six times as often as the portal does
        part = (cpu_seconds(process.pid) - spent) / (time.monotonic() - begun)
        status = Path(f"/proc/{process.pid}/status").read_text()
        resident = int(status.partition("VmRSS:")[2].split()[0])
        portal.close()
    print(f"\none agent: {resident / 1000:.1f} MB resident (limit 20), {part:.2%} of a core (limit 1 %)")  # noqa: T201


@pytest.mark.parametrize("kind", ["tcp", "unix"])
@pytest.mark.parametrize("delay", [0.02, 0.1])
def test_a_round_over_all_agents_in_round_trips(tmp_path: Path, kind: str, delay: float) -> None:
    with simulated(tmp_path, COUNT, delay, kind) as addresses:
        pool = AgentPool(simulated_agents.KEY, addresses)
        questions = dict.fromkeys(addresses, REPORT)
        first = pool.ask(questions, 30.0)
        seconds, spent = [], time.process_time()
        for _ in range(ROUNDS):
            asked = pool.ask(questions, 30.0)
            assert len(asked.answers) == COUNT, next(iter(asked.failures.values()), None)
            seconds.append(asked.seconds)
        spent = (time.process_time() - spent) / ROUNDS
        begun = time.process_time()
        samples = [s for node, a in asked.answers.items() for s in samples_of(node, a.document, a.document, 1.0, {})]
        making = time.process_time() - begun
        again = AgentPool(simulated_agents.KEY, addresses)
        anew = again.ask(questions, 30.0)
        again.close()
        pool.close()
    best, middle = min(seconds), sorted(seconds)[ROUNDS // 2]
    told = [
        f"{COUNT} agents, {kind}, round trip {delay * 1e3:.0f} ms: best {best / delay:.1f} and median",
        f"{middle / delay:.1f} round trips over kept connections, {spent / delay:.1f} of them the poller's own work",
        f"({spent / COUNT * 1e6:.0f} us an agent); connecting anew {anew.seconds / delay:.1f}, which is",
        f"{anew.seconds / middle:.1f} times as long; first of all {first.seconds / delay:.1f};",
        f"{len(samples)} samples made in {making:.2f} s; {asked.bytes / COUNT:.0f} bytes an agent",
    ]
    print("\n" + " ".join(told))  # noqa: T201
