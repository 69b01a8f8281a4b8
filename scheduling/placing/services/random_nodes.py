"""The same job once more, on nodes that are drawn at random: what a person is spared by letting the portal choose."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import replace

from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.services.submission import submit_once

_SEEDS = 2**31


def submit_with_random_nodes(person: User, job: Job, key: uuid.UUID | None = None) -> tuple[Job, bool]:
    """Submit it as a job of this person, and whether the job is new: the same key twice gives the same job, whose seed
    is made of the key. Raises InputError, ImpossibleError, ConflictError and BusyError as a submission does."""
    seed = key.int % _SEEDS if key else secrets.randbelow(_SEEDS)
    return submit_once(person, replace(with_random_nodes(job, seed), request_key=key), resubmitted_from=job)


def can_have_random_nodes(job: Job) -> bool:
    """Whether its nodes are chosen by anything else, and not by a request of its own."""
    return job.method != "random" and not job.classad and not job.unreadable


def with_random_nodes(job: Job, seed: int) -> JobSpec:
    """What the job asked for, drawn with this seed on as many nodes as it has.

    The program and what it needs of a node stay: labels, pins and excluded nodes. What was asked of the network and of
    free processors does not, nor what helps to choose by them: who draws at random looks at neither. Raises InputError.
    """
    if not can_have_random_nodes(job):
        raise InputError("method", job.method, "a job whose nodes are chosen by a method, and not at random")
    asked = JobSpec.from_row(job)
    return replace(
        asked,
        method="random",
        seed=seed,
        candidates=1,
        skeleton=None,
        trace=False,
        node_count=job.node_count if job.nodes_open else asked.node_count,
        requirements=Requirements(require=asked.requirements.require),
        specification=replace(asked.specification, links=()),
    )
