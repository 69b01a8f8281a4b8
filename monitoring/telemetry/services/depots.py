"""The depots beside a cluster's agents: how a job's runs reach them, what jobs have there, and letting go of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from gridportal.base import bounded_json
from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import BackendError, InputError
from gridportal.base.run_files import LATEST
from gridportal.runtime.agent import keys
from gridportal.runtime.depot import depot_access
from gridportal.runtime.depot.depot_access import DepotAccess, Keep
from monitoring.clusters import selectors as clusters_selectors
from monitoring.telemetry.adapters.agent_pool import AgentPool
from monitoring.telemetry.services import agents

_PATIENCE = 30.0  # seconds for all nodes
_GLANCE = 5.0  # of somebody who waits for a page


@dataclass(frozen=True, slots=True)
class DepotJob:
    """What a job, as depots call it, has on a node: bytes, shards, and when it wrote last."""

    name: str
    bytes: int
    shards: int
    written_at: datetime | None


@dataclass(frozen=True, slots=True)
class DepotReport:
    """The depot of a node: bytes that all jobs and one job may have, and that are free now; None where it does not say.
    `problem`: why it does not answer."""

    node: str
    space: int | None = None
    job_space: int | None = None
    free: int | None = None
    jobs: tuple[DepotJob, ...] = ()
    problem: str = ""

    @property
    def bytes(self) -> int:
        """Of all jobs."""
        return sum(job.bytes for job in self.jobs)


def access(cluster: Setting, job: str) -> DepotAccess | None:
    """What the runs of `job` (as depots call it) need to use depots; None where there are none, or shards are to be in
    the shared folder. Raises InputError when the key cannot be read."""
    from gridportal.testbed.state import State  # late: the testbed is not needed where there is none

    keep, copies = Keep(cluster.checkpoints or Keep.DEPOTS), cluster.depot_copies
    if keep is Keep.FOLDER:
        return None
    if cluster.depots:
        return depot_access.issued(keys.from_file(str(cluster.agent_key)), job, cluster.depots, keep, copies)
    state = State(cluster.state_dir or settings.PORTAL.grid_state_dir)
    if not cluster.is_swept or not state.depots.exists():
        return None
    addresses = bounded_json.load(state.depots, "depots")
    return depot_access.issued(keys.from_file(str(state.agent_key)), job, addresses, keep, copies)


def usage(cluster: Setting, of: Collection[str] | None = None) -> dict[str, dict[str, int]]:
    """By node, of all nodes or those in `of`, the bytes of each job; those that do not answer are left out. Raises
    BackendError where none does."""
    names = clusters_selectors.compute_names(cluster.name)
    answers = _ask(cluster, {"op": "jobs"}, [name for name in names if of is None or name in of])
    by_node = {node: answer["jobs"] for node, answer in answers.items() if isinstance(answer.get("jobs"), dict)}
    if answers and not by_node:
        raise BackendError(f"No depot of {cluster.name} answers: {json.dumps(next(iter(answers.values())))[:200]}")
    return {node: {str(job): int(each[0]) for job, each in jobs.items()} for node, jobs in by_node.items()}


def reports(cluster: Setting) -> list[DepotReport]:
    """The depot of each node of a cluster, by name; those that do not answer with why. Raises BackendError where none
    does."""
    nodes = clusters_selectors.compute_names(cluster.name)
    answers = _ask(cluster, {"op": "jobs"}, nodes, _GLANCE)
    silent = {"error": "its agent does not answer"}
    return [_report(node, answers.get(node, silent)) for node in nodes] if answers else []


def _report(node: str, answer: Mapping[str, Any]) -> DepotReport:
    jobs, written = answer.get("jobs"), answer.get("written")
    if not isinstance(jobs, dict):
        return DepotReport(node, problem=str(answer.get("error", "it does not say what it has"))[:200])
    at = written if isinstance(written, dict) else {}
    rows = [DepotJob(str(job), int(each[0]), int(each[1]), _time(at.get(job))) for job, each in sorted(jobs.items())]
    space, job_space, room = (_bytes(answer.get(name)) for name in ("space", "job_space", "free"))
    return DepotReport(node, space, job_space, room, tuple(rows))


def _bytes(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


def _time(raw: object) -> datetime | None:
    is_time = isinstance(raw, int) and not isinstance(raw, bool) and 0 < raw < LATEST
    return datetime.fromtimestamp(raw, UTC) if is_time else None  # type: ignore[arg-type]  # a whole number then


def free(cluster: Setting, job: str, nodes: list[str]) -> int:
    """Let go of all that `job` has on `nodes`; how many shards they were. A node that does not answer keeps them until
    it is asked again. Raises BackendError where none answers."""
    answers = _ask(cluster, {"op": "free", "job": job}, nodes)
    return sum(answer["dropped"] for answer in answers.values() if isinstance(answer.get("dropped"), int))


def _ask(
    cluster: Setting, question: Mapping[str, str], nodes: list[str], patience: float = _PATIENCE
) -> dict[str, Mapping[str, Any]]:
    """By node what its depot says, through the agents. Raises BackendError."""
    if not nodes or not agents.has_agents(cluster):
        return {}
    try:
        asked = agents.agents(cluster, nodes)
    except InputError as error:
        raise BackendError(str(error)) from error
    pool, wrapped = AgentPool(asked.key, asked.addresses), {"op": "depot", "ask": question}
    try:
        done = pool.ask({node: wrapped for node in nodes}, patience)  # noqa: C420 (nobody changes it)
    finally:
        pool.close()
    if not done.answers:
        raise BackendError(f"No agent of {cluster.name} answers.")
    return {node: answer.document for node, answer in done.answers.items()}
