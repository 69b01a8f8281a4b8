"""One transfer between two nodes, for somebody who wants to know whether measuring works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import BackendError
from gridportal.network.sweep_result import PairRate
from gridportal.runtime.agent.frames import RefusedError
from monitoring.telemetry.adapters import grid
from monitoring.telemetry.adapters.agent_pool import AgentPool
from monitoring.telemetry.adapters.agent_source import Agents, probe_addresses
from monitoring.telemetry.services.agents import agents

_REPORT = {"op": "report"}


def can_probe(cluster: Setting) -> bool:
    """Whether somebody measures between the nodes of this cluster."""
    return cluster.probe == "agents" or cluster.is_swept


def probe(cluster: Setting, source: str, target: str) -> PairRate:
    """Send one transfer of the usual size; nothing of it is kept. Raises BackendError where that fails."""
    if cluster.is_swept:
        return grid.connect(cluster.state_dir or settings.PORTAL.grid_state_dir).probe_pair(source, target)
    asked = agents(cluster, [source, target])
    pool = AgentPool(asked.key, asked.addresses)
    try:
        return _by_agents(pool, asked, source, target)
    except (RefusedError, KeyError, TypeError, ValueError) as error:
        raise BackendError(f"The agents of {source} and {target} cannot be understood: {error}") from error
    finally:
        pool.close()


def _by_agents(pool: AgentPool, asked: Agents, source: str, target: str) -> PairRate:
    portal = settings.PORTAL
    reported = pool.ask(dict.fromkeys(asked.addresses, _REPORT), portal.agent_timeout)
    places = probe_addresses({node: answer.document for node, answer in reported.answers.items()}, asked)
    if target not in places:
        failure = reported.failures.get(target)
        raise BackendError(f"The agent of {target} takes no probes{f': {failure.reason}' if failure else ''}.")
    order = {"op": "probe", "seconds": portal.probe_seconds, "timeout": portal.probe_timeout}
    question = {source: {**order, "size": portal.probe_size, "to": list(places[target])}}
    done = pool.ask(question, portal.probe_timeout + 1.0)
    if failure := done.failures.get(source):
        raise BackendError(f"The agent of {source} did not probe: {failure.reason}.")
    return _rate(source, target, done.answers[source].document)


def _rate(source: str, target: str, document: Mapping[str, Any]) -> PairRate:
    if "error" in document:
        raise BackendError(f"The agent of {source} could not probe {target}: {str(document['error'])[:200]}")
    latency = document.get("latency")
    return PairRate(source, target, float(document["bandwidth"]), None if latency is None else float(latency))
