"""Jobs with a skeleton on a Grid in memory: what their skeletons find is said by the test."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import numpy as np
from django.utils import timezone

from scheduling.jobs.models import Application, Job
from scheduling.placing.services import trial_steps
from scheduling.profiles.core import profile
from scheduling.profiles.services import stored_profiles
from scheduling.skeletons.models import Skeleton, SkeletonRun
from scheduling.skeletons.services import stored_skeletons
from tests.fake_grid import FakeGrid


def keep_skeleton(application: Application, ranks: int = 2, seconds: float = 200.0, **fields: Any) -> Skeleton:
    """A skeleton of 2 s for an application of `seconds`, with a profile in which all ranks talk to all."""
    sizes = np.full((ranks, ranks), 1e6)
    np.fill_diagonal(sizes, 0.0)
    row = stored_profiles.keep(application, {"klass": "S"}, profile.of_counters("program", sizes, seconds))
    barrier = [{"op": "barrier", "comm": "0", "bytes": 0}]
    document = {
        "version": 1,
        "ranks": ranks,
        "program": "program",
        "expected": 2.0,
        "application": {"seconds": seconds, "work": [1.0] * ranks, "unseen": [0.0] * ranks},
        "segments": [{"times": 9, "part": 1.0, "inside": [0.1] * ranks, "ranks": [barrier] * ranks}],
        "schedule": [0],
    }
    values = {"target": 2.0, "expected": 2.0, "seconds": seconds, "rate": 1e5, "document": document} | fields
    made = stored_skeletons._of_profile(row, **values)
    made.save()
    return made


def end_skeletons(grid: FakeGrid, predicted: Mapping[str, float], *, codes: Mapping[str, int] | None = None) -> None:
    """Every skeleton that runs ends; `predicted` by the names of its nodes joined by spaces, 50 s for others."""
    for key, run in grid.runs.items():
        if run["state"] == "running" and "-try-" in key:
            nodes = " ".join(grid.on_nodes[key])
            code = (codes or {}).get(nodes, 0)
            if not code:
                figures = {"predicted": predicted.get(nodes, 50.0)}
                grid.write(key, {"event": "result", "seconds": 2.0, "figures": figures})
            grid.end(key, code)


def states(job: Job) -> dict[str, str]:
    """The state of the skeleton on each group."""
    return {" ".join(row.nodes): row.state for row in SkeletonRun.objects.filter(job=job)}


def to_starting(job: Job, grid: FakeGrid, predicted: Mapping[str, float], rounds: int = 8, **how: Any) -> Job:
    """What beat does, until the job has taken a group."""
    for _ in range(rounds):
        trial_steps.advance_trials()
        end_skeletons(grid, predicted, **how)
        job.refresh_from_db()
        if job.state != "trial":
            break
    return job


def time_passes(job: Job, seconds: float) -> None:
    """So many seconds go by for the skeletons of a job."""
    for row in SkeletonRun.objects.filter(job=job):
        for name in ("handed_at", "started_at", "ended_at", "state_since"):
            if getattr(row, name):
                setattr(row, name, getattr(row, name) - timedelta(seconds=seconds))
        row.save()
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
