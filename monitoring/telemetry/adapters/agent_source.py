"""The agents of a cluster's nodes as a source: load, memory, disk, counters, clocks, and probes between them.

Connections, and what counters said the last time, are kept in the process that asks, from one question to the next.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from gridportal.base.errors import BackendError
from gridportal.runtime.agent.frames import RefusedError
from monitoring.history.core.samples import Collected, Sample
from monitoring.telemetry.adapters.agent_answers import Failure, Round
from monitoring.telemetry.adapters.agent_pool import AgentPool
from monitoring.telemetry.adapters.agent_probes import Memory, Probing
from monitoring.telemetry.core.reports import Report, samples_of

NAME = "agent"
_REPORT = {"op": "report"}
_SHOWN = 5
_LONGEST_HOST = 255


@dataclass(frozen=True)
class Agents:
    """Where the agents of a cluster are: by node HOST:PORT or unix:PATH, and the key that they share with the portal.

    `timeout`: seconds in which all must answer; `clock_limit`: seconds that a clock may differ.
    """

    addresses: Mapping[str, str]
    key: bytes
    timeout: float = 5.0
    clock_limit: float = 1.0


@dataclass
class _Kept:
    """What one process keeps of a cluster's agents. `offsets`: by node (round trip, clock offset) of late answers."""

    agents: Agents
    pool: AgentPool
    probes: AgentPool
    reports: dict[str, Report] = field(default_factory=dict)
    offsets: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    probed: Memory = field(default_factory=Memory)
    alone: threading.Lock = field(default_factory=threading.Lock)


_kept: dict[str, _Kept] = {}
_keeping = threading.Lock()


@dataclass(frozen=True)
class AgentSource:
    """Asks all agents of `cluster` at once, and lets them probe each other where `probing` says how. `heard`: by node
    when its agent last answered, Unix seconds: also to the other processes that ask in turn."""

    cluster: str
    agents: Agents
    probing: Probing | None = None
    heard: Mapping[str, float] = field(default_factory=dict)
    name: str = NAME
    kind: str = NAME

    def collect(self, now: float) -> Collected:
        """Samples of every agent that answers; `error_message` says which do not, since when and why.

        Raises BackendError when none does.
        """
        kept = _of(self.cluster, self.agents)
        with kept.alone:
            asked = ask(kept.pool, self.agents)
            if not asked.answers:
                raise BackendError(f"No agent answers: {failed(asked.failures, now, self.heard)}.")
            samples, unreadable = _samples(kept, asked, now)
            samples += [Sample(node, "agent_up", now, float(node in kept.reports)) for node in self.agents.addresses]
            error_messages = [failed({**asked.failures, **unreadable}, now, self.heard), self._clocks(kept)]
            cost = asked.bytes
            if self.probing:
                found = self.probing.run(kept.probes, probe_addresses(kept.reports, self.agents), kept.probed, now)
                samples += found.samples
                error_messages.append(found.error_message)
                cost += found.bytes
        worst = max((abs(_offset(seen)) for seen in kept.offsets.values()), default=None)
        return Collected(tuple(samples), cost, worst, "; ".join(filter(None, error_messages)))

    def _clocks(self, kept: _Kept) -> str:
        limit = self.agents.clock_limit
        off = {node: _offset(seen) for node, seen in kept.offsets.items() if abs(_offset(seen)) > limit}
        if not off:
            return ""
        clocks = [f"{node} by {off[node]:+.3g} s" for node in sorted(off, key=lambda node: -abs(off[node]))[:_SHOWN]]
        return f"clocks differ by more than {limit:g} s: {_listed(clocks, len(off))}"


def ask(pool: AgentPool, agents: Agents) -> Round:
    """A report of every agent, all at once."""
    return pool.ask(dict.fromkeys(agents.addresses, _REPORT), agents.timeout)


def status(agents: Agents) -> Round:
    """One question to every agent over connections made for it: for a person who looks."""
    pool = AgentPool(agents.key, agents.addresses)
    try:
        return ask(pool, agents)
    finally:
        pool.close()


def close(cluster: str) -> None:
    """Close the connections that this process keeps to a cluster's agents."""
    with _keeping:
        kept = _kept.pop(cluster, None)
    if kept:
        kept.pool.close()
        kept.probes.close()


def failed(failures: Mapping[str, Failure], now: float, heard: Mapping[str, float]) -> str:
    """Which agents do not answer, since when and why, those longest away first; "" when all do.

    Since their last answer, as `heard` knows it, or this process; else since this process first asked in vain.

    >>> failed({"n3": Failure("connection refused", 40.0, None)}, 100.0, {})
    'n3 for 60 s (connection refused)'
    >>> failed({"n3": Failure("no answer within 5 s", 100.0, None)}, 100.0, {"n3": 10.0})
    'n3 for 90 s (no answer within 5 s)'
    """
    since = {node: heard.get(node) or one.last_ok or one.since for node, one in failures.items()}
    first = sorted(failures, key=lambda node: (since[node], node))[:_SHOWN]
    absent = [f"{node} for {max(0.0, now - since[node]):.0f} s ({failures[node].reason})" for node in first]
    return _listed(absent, len(failures))


def probe_addresses(reports: Mapping[str, Report], agents: Agents) -> dict[str, tuple[str, int]]:
    """Where each node answers probes; the host of the agent where it says only that it does on all its addresses."""
    found = {}
    for node, report in reports.items():
        if (address := _probe_address(report)) is None:
            continue
        host, port = address
        if host in ("0.0.0.0", "::"):  # noqa: S104
            if agents.addresses[node].startswith("unix:"):
                continue
            host = agents.addresses[node].rpartition(":")[0].strip("[]")
        found[node] = (host, port)
    return found


def _probe_address(report: Report) -> tuple[str, int] | None:
    """Where a report says that probes are answered, None where it does not. ValueError, TypeError, LookupError,
    OverflowError for what is no address."""
    if not (declared := report.get("probe")):
        return None
    host, port = str(declared[0]), int(declared[1])
    if not 0 < port < 65536 or len(host) > _LONGEST_HOST or not host.isprintable():
        raise ValueError("probe is a host and a port")
    return host, port


def _of(cluster: str, agents: Agents) -> _Kept:
    with _keeping:
        kept = _kept.get(cluster)
        if kept is None or kept.agents != agents:
            if kept:
                kept.pool.close()
                kept.probes.close()
            pool, probes = (AgentPool(agents.key, agents.addresses) for _ in range(2))
            kept = _kept[cluster] = _Kept(agents, pool, probes)
        return kept


def _samples(kept: _Kept, asked: Round, now: float) -> tuple[list[Sample], dict[str, Failure]]:
    nodes = {host: node for node, (host, _) in probe_addresses(kept.reports, kept.agents).items()}
    samples: list[Sample] = []
    unreadable: dict[str, Failure] = {}
    before, kept.reports = kept.reports, {}
    for node, answer in asked.answers.items():
        try:
            document = answer.document
            found = list(samples_of(node, document, before.get(node), now, nodes))
            _probe_address(document)
            offset = _note_offset(kept, node, answer.way_of(document), answer.offset_of(document))
        except (RefusedError, ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
            unreadable[node] = Failure(f"its report cannot be read: {error}", now, answer.arrived)
            continue
        kept.reports[node] = document
        samples += found
        samples.append(Sample(node, "clock_offset", now, offset))
    return samples, unreadable


def _note_offset(kept: _Kept, node: str, way: float, offset: float) -> float:
    """The offset told by the quickest of the last eight answers: what waited on the way tells less (as NTP does it)."""
    seen = [*kept.offsets.get(node, [])[-7:], (way, offset)]
    kept.offsets[node] = seen
    return _offset(seen)


def _offset(seen: list[tuple[float, float]]) -> float:
    return min(seen)[1]


def _listed(parts: list[str], count: int) -> str:
    more = count - len(parts)
    return ", ".join(parts) + (f" and {more} more" if more else "")
