"""A skeleton as a performance model: the phases of the traced run, as long as its trial says."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.errors import GridPortalError
from gridportal.network.topology import Node, Topology
from scheduling.performance.core.phase_prediction import PhasePrediction
from scheduling.profiles.models import Profile
from scheduling.profiles.services import stored_profiles
from scheduling.runs.phase_models import PhaseTotal
from scheduling.skeletons.core.best_prediction import BestPrediction
from scheduling.skeletons.core.skeleton_model import SkeletonModel, SkeletonRuns
from scheduling.skeletons.models import Skeleton, SkeletonRun
from scheduling.skeletons.services.skeleton_predictions import model_for

PHASES = (PhasePrediction("step", 10, (1.0,)),)


def network(**cpus: float) -> Topology:
    return Topology("few", False, "links", tuple(Node(name, cpu=cpu) for name, cpu in cpus.items()), ())


def test_elsewhere_the_best_on_what_the_processors_have_free() -> None:
    model = SkeletonModel(SkeletonRuns("cg", 10.0, PHASES, {}, (("n1", "n2"), 20.0)))
    (phase,) = model.predict({}, ["n3", "n4"], network(n1=0.1, n2=1.0, n3=0.5, n4=1.0))
    assert phase.seconds == (pytest.approx(4.0),)


def test_without_any_run_it_says_so() -> None:
    model = SkeletonModel(SkeletonRuns("cg", 10.0, PHASES, {}))
    with pytest.raises(GridPortalError, match="has not run"):
        model.predict({}, ["n1"], network(n1=1.0))


def test_the_skeleton_of_a_job_predicts_by_phase(people: Any, make_job: Any) -> None:
    """Traced in 10 s with phases of 8 and 2 s, 15 s by its latest trial on these nodes."""
    job = make_job(people["user"], "running")
    run, program = job.runs.get(), stored_profiles.program_key(job.application)
    PhaseTotal.objects.create(run=run, phase="step", count=4, seconds=8.0, least=2.0, most=2.0)
    PhaseTotal.objects.create(run=run, phase="end", count=1, seconds=2.0, least=2.0, most=2.0)
    key = stored_profiles.parameters_key(job.application, job.parameters)
    about = {"application": job.application, "parameters_key": key, "ranks": job.ranks, "program": program}
    profile = Profile.objects.create(**about, source="trace", pattern="own", document={}, run=run)
    best = BestPrediction(12.0, nodes=tuple(run.placement.nodes))
    skeleton = Skeleton.objects.create(**about, profile=profile, document={}, seconds=10.0, reference=best)
    assert model_for(job, job.ranks + 1) is None
    trial = {"job": job, "placement": run.placement, "skeleton": skeleton, "run_dir": "", "script": "", "candidate": 0}
    SkeletonRun.objects.create(
        **trial, nodes=run.placement.nodes, key="k", state="done", predicted=15.0, ended_at=timezone.now()
    )
    model = model_for(job, job.ranks)
    assert model is not None
    phases = model.predict({}, run.placement.nodes, network())
    assert [(each.phase, each.count, each.seconds) for each in phases] == [
        ("step", 4, (pytest.approx(3.0),)),
        ("end", 1, (pytest.approx(3.0),)),
    ]
