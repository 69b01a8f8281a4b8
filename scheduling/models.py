"""All models of this app, gathered for Django; each stands in the folder of its capability."""

from scheduling.jobs.models import Application, Job, JobEvent
from scheduling.placing.models import Decision, Placement
from scheduling.profiles.models import Profile
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport, PhaseTotal
from scheduling.skeletons.models import Skeleton, SkeletonRun
from scheduling.usage.models import DailyUse, UncountedJob, UseMark

__all__ = [
    "Application",
    "DailyUse",
    "Decision",
    "Job",
    "JobEvent",
    "PhaseReport",
    "PhaseTotal",
    "Placement",
    "Profile",
    "Run",
    "Skeleton",
    "SkeletonRun",
    "UncountedJob",
    "UseMark",
]
