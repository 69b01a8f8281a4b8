"""The agents of a cluster as one of its sources, from the cluster's settings and the nodes that are known of it."""

from __future__ import annotations

from django.conf import settings

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import BackendError, InputError
from gridportal.runtime.agent import keys
from monitoring.clusters import selectors as clusters_selectors
from monitoring.history.core.samples import Collected
from monitoring.telemetry import selectors as series
from monitoring.telemetry.adapters.agent_probes import ProbeSettings, Probing
from monitoring.telemetry.adapters.agent_source import Agents, AgentSource
from monitoring.telemetry.adapters.base import SourceAdapter


class _Unreachable:
    """Agents whose key cannot be had: it says so whenever it is asked."""

    name = kind = "agent"

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def collect(self, now: float) -> Collected:
        """Raises BackendError."""
        raise BackendError(self._reason)


def source(cluster: Setting) -> SourceAdapter | None:
    """None where the cluster has no agents, or nothing is known of its nodes yet."""
    nodes = clusters_selectors.compute_names(cluster.name)
    if not nodes or not has_agents(cluster):
        return None
    try:
        found = agents(cluster, nodes)
    except InputError as error:
        return _Unreachable(str(error))
    return AgentSource(cluster.name, found, _probing(cluster), series.agents_heard(cluster.name, nodes))


def has_agents(cluster: Setting) -> bool:
    """An emulated Grid always has, other clusters where their settings say so."""
    return bool(cluster.agents) or cluster.is_swept


def agents(cluster: Setting, nodes: list[str]) -> Agents:
    """Where the agents of `nodes` are, with their key. InputError when the key cannot be read."""
    # Late: the testbed is not needed where there is none.
    from gridportal.testbed.state import State

    portal = settings.PORTAL
    if cluster.agents:
        addresses = {node: cluster.agents.replace("{node}", node) for node in nodes}
        key = keys.from_file(str(cluster.agent_key))
    else:
        state = State(cluster.state_dir or portal.grid_state_dir)
        addresses = {node: state.agent(node) for node in nodes}
        key = keys.from_file(str(state.agent_key))
    return Agents(addresses, key, portal.agent_timeout, portal.clock_limit)


def _probing(cluster: Setting) -> Probing | None:
    if cluster.probe != "agents":
        return None
    found, nodes = clusters_selectors.cluster(cluster.name), list(clusters_selectors.nodes(cluster.name))
    portal = settings.PORTAL
    probing = ProbeSettings(
        portal.probe_size,
        portal.probe_seconds,
        portal.probe_timeout,
        portal.probe_every,
        portal.probe_share,
        portal.collect_every,
    )
    return Probing(clusters_selectors.last_measured(found, nodes), probing) if found and nodes else None
