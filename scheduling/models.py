"""All models of this app, gathered for Django; each stands in the folder of its capability."""

from scheduling.alerts.models import Alert, AlertRule
from scheduling.checkpoints.models import Checkpoint, RestartFile, RuntimeSupport
from scheduling.cluster_checks.models import ClusterCheck
from scheduling.contracts.models import Contract, ContractCall, ModelOutcome
from scheduling.jobs.dependency_models import JobDependency
from scheduling.jobs.group_models import JobGroup
from scheduling.jobs.input_models import JobInput, StoredInput
from scheduling.jobs.models import Announcement, Application, Job, JobEvent
from scheduling.jobs.ownership_models import ApplicationShare, OwnProgram
from scheduling.jobs.project_models import Project
from scheduling.jobs.share_models import JobShare, JobShareVisit
from scheduling.maintenance.models import MaintenanceWindow, PageAnnouncement
from scheduling.matching.models import ResourceAd, SavedRequest
from scheduling.notices.models import Delivery, JobNotices, Notice, NoticeSettings
from scheduling.placing.models import Decision, Placement
from scheduling.profiles.models import Profile
from scheduling.projects.models import Budget
from scheduling.reports.models import ReportSchedule
from scheduling.rescheduling.models import DecisionEvent, JobMovePolicy, MoveDecision, ReschedulingPolicy
from scheduling.rescheduling.request_models import WeighingRequest
from scheduling.resource_requests.models import MatchEvent, MatchRequest
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport, PhaseTotal
from scheduling.skeletons.models import Skeleton, SkeletonRun
from scheduling.usage.models import DailyUse, PeriodUse, PersonUse, UncountedJob, UseMark
from scheduling.workload_logs.models import LoggedCluster

__all__ = [
    "Alert",
    "AlertRule",
    "Announcement",
    "Application",
    "ApplicationShare",
    "Budget",
    "Checkpoint",
    "ClusterCheck",
    "Continuation",
    "Contract",
    "ContractCall",
    "DailyUse",
    "Decision",
    "DecisionEvent",
    "Delivery",
    "Job",
    "JobDependency",
    "JobEvent",
    "JobGroup",
    "JobInput",
    "JobMovePolicy",
    "JobNotices",
    "JobShare",
    "JobShareVisit",
    "LoggedCluster",
    "MaintenanceWindow",
    "MatchEvent",
    "MatchRequest",
    "ModelOutcome",
    "MoveDecision",
    "Notice",
    "NoticeSettings",
    "OwnProgram",
    "PageAnnouncement",
    "PeriodUse",
    "PersonUse",
    "PhaseReport",
    "PhaseTotal",
    "Placement",
    "Profile",
    "Project",
    "ReportSchedule",
    "ReschedulingPolicy",
    "ResourceAd",
    "RestartFile",
    "Run",
    "RuntimeSupport",
    "SavedRequest",
    "Skeleton",
    "SkeletonRun",
    "StoredInput",
    "UncountedJob",
    "UseMark",
    "WeighingRequest",
]
