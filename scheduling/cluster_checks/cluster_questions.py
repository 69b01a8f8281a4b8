"""The questions of a check, each put to the real cluster. The last sends a transfer; none changes anything."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import GridPortalError
from gridportal.local.local_backend import node_names
from gridportal.slurm.examination import examine
from gridportal.testbed.environment import search_path
from monitoring.clusters import selectors as clusters
from monitoring.telemetry import selectors as telemetry
from monitoring.telemetry.adapters import agent_source
from monitoring.telemetry.services import agents, one_probe, reach, slurm_access
from scheduling.cluster_checks.core.check_step import CheckStep, StepResult, failed, skipped, well
from scheduling.runs.services.backends import backend

_SHOWN = 5  # names in one answer


def ask(step: CheckStep, cluster: Setting) -> StepResult:
    """Put one question; an error of the cluster is its answer."""
    begun = time.monotonic()
    try:
        result = _ASK[step](cluster)
    except GridPortalError as error:
        result = failed(step, error=str(error))
    return replace(result, seconds=time.monotonic() - begun)


def _backend(cluster: Setting) -> StepResult:
    count = len(backend(cluster.name).nodes())
    return (well if count else failed)(CheckStep.BACKEND, nodes=count)


def _version(cluster: Setting) -> StepResult:
    return _VERSION[cluster.backend](cluster)


def _grid_version(cluster: Setting) -> StepResult:
    facts = reach.telemetry(cluster.name).facts()
    if facts.warning:
        return failed(CheckStep.VERSION, error=facts.warning)
    return well(CheckStep.VERSION, topology=facts.topology.name, mode=facts.mode)


def _slurm_version(cluster: Setting) -> StepResult:
    read = slurm_access.slurm_commands(cluster)
    write = None if cluster.as_person else slurm_access.submitting_commands(cluster)
    answers = list(examine(read, write))
    wrong = [answer.message for answer in answers if not answer.well]
    facts = {"answers": [answer.message for answer in answers]}
    return failed(CheckStep.VERSION, error="; ".join(wrong), **facts) if wrong else well(CheckStep.VERSION, **facts)


def _local_version(cluster: Setting) -> StepResult:
    launcher, slots = shutil.which("mpiexec", path=search_path()), len(node_names(cluster.slots))
    if launcher is None:
        return failed(CheckStep.VERSION, error="there is no mpiexec on this machine's PATH")
    return well(CheckStep.VERSION, launcher=launcher, slots=slots)


def _nodes(cluster: Setting) -> StepResult:
    seen = reach.telemetry(cluster.name).look()
    closed = sorted(state.node for state in seen.states if state.closed)
    busy = sum(1 for state in seen.states if state.busy and not state.closed)
    names = {load.node for load in seen.loads} | {state.node for state in seen.states}
    facts = {"nodes": len(names), "busy": busy, "closed": closed[:_SHOWN], "closed_count": len(closed)}
    return (well if len(names) > len(closed) else failed)(CheckStep.NODES, **facts)


def _agents(cluster: Setting) -> StepResult:
    if not agents.has_agents(cluster):
        return skipped(CheckStep.AGENTS)
    names = clusters.compute_names(cluster.name)
    if not names:
        return failed(CheckStep.AGENTS, error=str(clusters.never_reached(cluster.name)))
    asked = agent_source.status(agents.agents(cluster, names))
    silent = {node: failure.reason for node, failure in sorted(asked.failures.items())}
    facts = {"agents": len(names), "silent_count": len(silent), "silent": dict(list(silent.items())[:_SHOWN])}
    return (failed if silent else well)(CheckStep.AGENTS, **facts)


def _telemetry(cluster: Setting) -> StepResult:
    rows = telemetry.sources(cluster.name)
    if not rows:
        return failed(CheckStep.TELEMETRY, error="no source was asked yet; is a worker running?")
    stale = {row.name: row.error for row in rows if row.stale}
    ages = {row.name: row.age for row in rows if row.age is not None}
    return (failed if stale else well)(CheckStep.TELEMETRY, ages=ages, stale=stale)


def _probe(cluster: Setting) -> StepResult:
    names = clusters.compute_names(cluster.name)
    if not one_probe.can_probe(cluster) or not cluster.traits.has_network:
        return skipped(CheckStep.PROBE)
    if len(names) < 2:
        return failed(CheckStep.PROBE, error="it takes two nodes to measure between them")
    rate = one_probe.probe(cluster, names[0], names[-1])
    facts = {"source": rate.source, "target": rate.target, "bandwidth": rate.bandwidth, "latency": rate.latency}
    return well(CheckStep.PROBE, **facts)


_VERSION: dict[str, Callable[[Setting], StepResult]] = {
    "grid": _grid_version,
    "slurm": _slurm_version,
    "local": _local_version,
}
_ASK: dict[CheckStep, Callable[[Setting], StepResult]] = {
    CheckStep.BACKEND: _backend,
    CheckStep.VERSION: _version,
    CheckStep.NODES: _nodes,
    CheckStep.AGENTS: _agents,
    CheckStep.TELEMETRY: _telemetry,
    CheckStep.PROBE: _probe,
}
