"""What telemetry tells of an experiment's Grid: the agents of its nodes, as the portal asks them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gridportal.base.errors import BackendError
from gridportal.experiments.test_grid import TestGrid, with_readings
from gridportal.network import estimate, rounds
from gridportal.network import joint_flows as joint
from gridportal.network.sweep_result import PairRate
from gridportal.network.topology import Topology
from gridportal.runtime.agent import keys
from gridportal.testbed.layout import plan
from gridportal.testbed.state import State
from monitoring.telemetry.adapters.agent_pool import AgentPool
from monitoring.telemetry.adapters.agent_source import Agents, ask, probe_addresses

Pair = tuple[str, str]
_SIZE, _SECONDS = 524_288, 0.25
#: Transfers at once must overlap for most of their time: the time ends them, not their size.
_OVERLAP, _ENDLESS = 0.5, 10**9
_LIMIT = 20.0


class TelemetryProbe:
    """Kept connections to all agents of a Grid. Raises BackendError when one does not answer."""

    def __init__(self, grid: TestGrid) -> None:
        state = State(grid.client.directory)
        self._topology = grid.topology
        self.nodes = [node.id for node in grid.topology.compute_nodes()]
        self._agents = Agents({node: state.agent(node) for node in self.nodes}, keys.from_file(str(state.agent_key)))
        self._pool = AgentPool(self._agents.key, self._agents.addresses)
        self._ports = probe_addresses(self.reports(), self._agents)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def reports(self) -> dict[str, Any]:
        """What each agent says of its node."""
        asked = ask(self._pool, self._agents)
        for node, failure in asked.failures.items():
            raise BackendError(f"The agent of {node} does not answer: {failure.reason}.")
        return {node: answer.document for node, answer in asked.answers.items()}

    def counted(self, seconds: float) -> tuple[dict[str, Any], dict[Pair, float]]:
        """What the agents say after `seconds`, and the bit/s that each node sent to each other one meanwhile.

        Counters alone, so that nothing is disturbed, and it takes as long whatever passes.
        """
        names = {address: node for node, address in plan(self._topology).addresses.items()}
        before, began = self.reports(), time.monotonic()
        time.sleep(seconds)
        after, spent = self.reports(), time.monotonic() - began
        rates = {}
        for node, report in after.items():
            for address, (sent, _) in report["peers"].items():
                rose = sent - before[node]["peers"].get(address, (0, 0))[0]
                if rose > 0 and address in names:
                    rates[node, names[address]] = 8 * rose / spent
        return after, rates

    def together(self, pairs: Sequence[Pair], seconds: float = _SECONDS, size: int = _SIZE) -> dict[Pair, float]:
        """Bit/s of transfers that run at the same time, one from each source."""
        order = {"op": "probe", "size": size, "seconds": seconds, "timeout": seconds + 10.0}
        asked = self._pool.ask({a: {**order, "to": list(self._ports[b])} for a, b in pairs}, seconds + _LIMIT)
        rates = {}
        for pair in pairs:
            answer = asked.answers.get(pair[0])
            if answer is None or "error" in answer.document:
                why = answer.document["error"] if answer else asked.failures[pair[0]].reason
                raise BackendError(f"The probe from {pair[0]} to {pair[1]} failed: {why}.")
            rates[pair] = float(answer.document["bandwidth"])
        return rates

    def each(self, pairs: Iterable[Pair], seconds: float = _SECONDS, size: int = _SIZE) -> dict[Pair, float]:
        """Bit/s of transfers one after the other."""
        return {pair: self.together([pair], seconds, size)[pair] for pair in pairs}

    def sweep(self) -> dict[Pair, float]:
        """Bit/s of every ordered pair, in rounds that share neither nodes nor links."""
        links = rounds.both_ways(rounds.ways_of(self._topology))
        rates: dict[Pair, float] = {}
        for group in rounds.apart(self.nodes, links):
            rates |= self.together(group)
            rates |= self.together([(b, a) for a, b in group])
        return rates

    def network(self, swept: Mapping[Pair, float]) -> Topology:
        """The topology, each direction of a link by itself, with what a sweep and transfers at once tell of it."""
        directed = _directed(self._topology)
        together = [
            one.measured(self.together(one.pairs, _OVERLAP, _ENDLESS)) for one in joint.planned(directed, swept)
        ]
        rates = estimate.link_bandwidths(directed, (PairRate(a, b, rate) for (a, b), rate in swept.items()), together)
        return with_readings(directed, rates, {})


def _directed(topology: Topology) -> Topology:
    if topology.directed:
        return topology
    back = (replace(link, source=link.target, target=link.source) for link in topology.links)
    return replace(topology, directed=True, links=(*topology.links, *back))
