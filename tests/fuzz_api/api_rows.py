"""A portal with something of everything: people of each role, jobs in every state with and without runs, profiles,
skeletons, a recorded trace, experiments, a measured network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from tests.scheduling.placing.trial_grid import keep_skeleton

NODES = ("n1", "n2", "n3", "n4")


@dataclass(frozen=True)
class Rows:
    """Keys of what is there, for addresses."""

    jobs: list[int]
    experiments: list[int]
    skeletons: list[int]
    profiles: list[int]
    tokens: dict[str, list[int]]


def make_rows(people: dict[str, Any], application: Any, make_job: Callable[..., Any]) -> Rows:
    """All of it; the jobs are `user`'s, and one `other`'s."""
    from gridportal.accounts.services import create_token

    _network()
    skeleton = keep_skeleton(application)
    jobs = [make_job(people["user"], state) for state in _states()] + [make_job(people["other"], "running")]
    for job in jobs[:3]:
        if placement := job.placements.first():
            job.skeleton_runs.create(
                placement=placement, skeleton=skeleton, candidate=0, nodes=["n1"], key=f"try-{job.pk}"
            )
    _phases(jobs)
    return Rows(
        jobs=[job.pk for job in jobs],
        experiments=_experiments(people["operator"]),
        skeletons=[skeleton.pk],
        profiles=[skeleton.profile_id],
        tokens={role: [create_token(person, f"{role}'s")[0].pk] for role, person in people.items()},
    )


def _states() -> list[str]:
    from scheduling.jobs.models import STATES

    return [state for state, _ in STATES]


def _network() -> None:
    from monitoring.clusters.models import Cluster, Link, Node
    from monitoring.history.core.samples import Sample
    from monitoring.telemetry.models import Source
    from monitoring.telemetry.services.readings import record_readings

    now = timezone.now()
    cluster = Cluster.objects.create(name="grid", topology="four", mode="root", measured_at=now, loads_at=now)
    ends = [
        Node.objects.create(cluster=cluster, name=name, position=place, cpu=1.0, load=0.0, measured_at=now)
        for place, name in enumerate(NODES)
    ]
    for source in ends:
        for target in ends:
            if source != target:
                Link.objects.create(
                    cluster=cluster, source=source, target=target, capacity=1e8, bandwidth=8e7, measured_at=now
                )
    samples = [Sample(node, "cpu", now.timestamp() - age, 0.5) for node in NODES for age in (60, 30, 0)]
    record_readings("grid", "agent", samples)
    Source.objects.create(cluster=cluster, name="probes", kind="probes", last_ok=now)


def _phases(jobs: list[Any]) -> None:
    """What programs tell of their phases, in the run directories of those that have one."""
    line = '{"event": "phase", "phase": "reduce", "rank": 0, "iteration": 1, "of": 2, "seconds": 0.5}\n'
    for job in jobs:
        for run in job.runs.all():
            Path(run.run_dir, "progress.jsonl").write_text(line, encoding="utf-8")


def _experiments(person: Any) -> list[int]:
    from gridportal.experiments import registry
    from gridportal.experiments.models import STATES, Experiment

    folder = Path(settings.PORTAL.home) / "experiments"
    made = []
    for number, (state, _) in enumerate(STATES):
        name = registry.names()[number % len(registry.names())]
        row = Experiment.objects.create(
            name=name, seed=number, folder=str(folder / f"{name}-{number}"), state=state, started_by=person
        )
        made.append(row.pk)
    return made
