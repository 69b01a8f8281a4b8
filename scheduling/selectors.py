"""Reading jobs: lists for a person, the story of one job, its log, its phases, and why it waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Avg, Count, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils import timezone

from gridportal import run_directory
from gridportal.accounts.models import User
from gridportal.run_directory import RunFileError
from monitoring import selectors as network
from monitoring.models import Link
from scheduling.core.cluster_options import features, gres_names, longest
from scheduling.core.cluster_options import reserved as others_reserved
from scheduling.core.progress import MOST_SECONDS
from scheduling.core.reasons import NOTHING, Code, Reason, told, too_few_free
from scheduling.core.states import HOLDS_NODES, PENDING, JobState
from scheduling.models import Job, PhaseReport, Placement, Run, SkeletonRun
from scheduling.models_skeletons import RUNNING, STOPPING

#: Names of phases; a program may make up a new one each time.
MOST_PHASES_SHOWN = 200
SEES_ALL = frozenset({"operator", "manager", "administrator"})


@dataclass(frozen=True)
class LogPart:
    """A piece of a log. `offset` and `end` in bytes; `complete`: nothing more will be written and `end` is the end."""

    text: str
    offset: int
    end: int
    complete: bool


def jobs_visible_to(user: User) -> QuerySet[Job]:
    """A person's own jobs, or everybody's for operators, managers and administrators; newest first.

    Each carries `chosen_nodes` (list or None), `run_seconds` and `run_verified` of its last run. One query a page.
    """
    jobs = Job.objects.select_related("owner", "application")
    if user.role not in SEES_ALL:
        jobs = jobs.filter(owner_id=user.pk)
    runs = Run.objects.filter(job=OuterRef("pk")).order_by("-number")
    return jobs.annotate(
        chosen_nodes=Subquery(Placement.objects.filter(job=OuterRef("pk")).order_by("-pk").values("nodes")[:1]),
        run_seconds=Subquery(runs.values("seconds")[:1]),
        run_verified=Subquery(runs.values("verified")[:1]),
    )


def as_new(job: Job) -> Job:
    """A job that was submitted a moment ago, with what `jobs_visible_to` adds to each: nothing yet, without asking."""
    job.chosen_nodes = job.run_seconds = job.run_verified = None  # type: ignore[attr-defined]
    job._prefetched_objects_cache = {"runs": Run.objects.none()}  # type: ignore[attr-defined]
    return job


def holders(cluster: str = "grid") -> dict[str, int]:
    """Which job holds which node: {"n3": 12}. Nodes are exclusive while a job starts, runs or is being stopped, and
    while its skeleton runs on them or on other groups."""
    states = [state.value for state in HOLDS_NODES]
    runs = Run.objects.filter(job__cluster=cluster, job__state__in=states, ended_at=None)  # not those taken back
    rows = runs.values_list("job_id", "placement__nodes")
    tried = under_trial(cluster).values_list("job_id", "nodes")
    return {node: job for found in (tried, rows) for job, nodes in found for node in nodes}


def under_trial(cluster: str) -> QuerySet[SkeletonRun]:
    """The skeleton's runs of each job that tries its groups, and those that are not over yet of any other job."""
    rows = SkeletonRun.objects.filter(job__cluster=cluster).order_by()
    return rows.filter(Q(job__state=JobState.TRYING) | Q(state__in=(RUNNING, STOPPING)))


def free_nodes(cluster: str = "grid") -> tuple[int, int]:
    """How many compute nodes no job holds, and how many there are."""
    names = network.compute_names(cluster)
    held = holders(cluster)
    return sum(name not in held for name in names), len(names)


@dataclass(frozen=True)
class Occupancy:
    """Which compute nodes a job cannot have now. `unfit`: closed, or not what its options ask for, with the reason;
    `taken`: by which of the portal's jobs; `busy`: by others, and when they are free at the latest."""

    unfit: dict[str, str]
    taken: dict[str, int]
    busy: dict[str, datetime | None]

    @property
    def occupied(self) -> frozenset[str]:
        """Nodes that somebody uses."""
        return frozenset(self.taken) | frozenset(self.busy)

    @property
    def closed(self) -> dict[str, str]:
        """Nodes that may come back, with the reason in words."""
        return {node: why for node, why in self.unfit.items() if why}


def occupancy(cluster: str, wanted: Mapping[str, Any] | None = None, time_limit: float | None = None) -> Occupancy:
    """What is known of the nodes at this moment; `wanted` are a job's options, `time_limit` its seconds."""
    states, offers = network.compute_states(cluster), network.offers(cluster)
    names = {node.name for node in states}
    default = next((row["name"] for row in offers.get("partitions", []) if row["default"]), "")
    asked = {"partition": default, **{k: v for k, v in (wanted or {}).items() if v}}
    reserved = next(
        (row["nodes"] for row in offers.get("reservations", []) if row["name"] == asked.get("reservation")), None
    )
    seconds = longest(offers, asked["partition"], time_limit)
    kept = others_reserved(offers, asked, timezone.now().timestamp(), seconds)
    unfit = {}
    for node in states:
        if node.closed or node.name in kept:
            unfit[node.name] = node.closed or kept[node.name]
        elif node.facts and not _fits(node.facts, asked, None if reserved is None else node.name in reserved):
            unfit[node.name] = ""
    return Occupancy(
        unfit,
        {node: job for node, job in holders(cluster).items() if node in names},
        {node.name: node.free_at for node in states if node.busy and node.name not in unfit},
    )


def _fits(facts: Mapping[str, Any], asked: Mapping[str, Any], reserved: bool | None) -> bool:
    """Whether a node is what the options ask for. `reserved`: whether it is in the reservation asked for, if any."""
    if asked["partition"] and asked["partition"] not in facts.get("partitions", []):
        return False
    if reserved is False or (reserved is None and facts.get("reserved")):
        return False
    needed = features(str(asked.get("constraint", ""))) if asked.get("constraint") else frozenset()
    if needed and not needed <= set(facts.get("features", [])):
        return False
    if not gres_names(str(asked.get("gres", ""))) <= gres_names(str(facts.get("gres", ""))):
        return False
    return not (asked.get("memory") and facts.get("memory") and asked["memory"] > facts["memory"])


def free_times(cluster: str, seen: Occupancy) -> dict[str, datetime | None]:
    """When each occupied node is free at the latest, from the time limits of who uses it; None: nobody knows."""
    ends: dict[int, datetime | None] = {}
    for job in Job.objects.filter(pk__in=set(seen.taken.values())).only("started_at", "time_limit"):
        limited = job.started_at and job.time_limit
        ends[job.pk] = job.started_at + timedelta(seconds=job.time_limit) if limited else None  # type: ignore[operator, arg-type]
    ours = {node: ends.get(job) for node, job in seen.taken.items()}
    return {**ours, **{node: at or ours.get(node) for node, at in seen.busy.items()}}


def expected_start(nodes: Iterable[str], free_at: Mapping[str, datetime | None]) -> datetime | str | None:
    """ "now" when all nodes are free, else the moment when the last of them is; None when nobody knows."""
    moments = [free_at[node] for node in nodes if node in free_at]
    if not moments:
        return "now"
    known = [moment for moment in moments if moment is not None]
    return max(known) if len(known) == len(moments) else None


def queues(cluster: str) -> bool:
    """Whether jobs wait for nodes in the cluster's own queue."""
    found = settings.CLUSTERS.get(cluster)
    return bool(found and found.queues)


def verbs(job: Job, run: Run | None) -> tuple[str, ...]:
    """What can be done with the job in its cluster's queue now: hold, release, requeue."""
    if run is None or not run.backend_id or not queues(job.cluster):
        return ()
    if job.state == JobState.STARTING:
        return ("release",) if run.held else ("hold",)
    found = settings.CLUSTERS[job.cluster]
    return ("requeue",) if job.state == JobState.RUNNING and found.requeue else ()


def last_run(job: Job) -> Run | None:
    """The newest run with its placement."""
    return job.runs.select_related("placement").order_by("-number").first()


def job_story(job: Job) -> dict[str, Any]:
    """Everything that is told of one job.

    {"job", "events": [JobEvent], "placement": Placement | None, "run": Run | None, "runs": [Run],
     "phases": as phase_summary, "log": LogPart | None, "explanation": [Reason], "requirements": Requirements,
     "warning": str, "verbs": hold, release, requeue as far as its cluster can do them now}
    """
    runs = list(job.runs.select_related("placement").order_by("number"))
    run = runs[-1] if runs else None
    placement = run.placement if run else None
    return {
        "job": job,
        "events": list(job.events.all()),
        "placement": placement,
        "run": run,
        "runs": runs,
        "phases": phase_summary(run) if run else [],
        "log": log_tail(run) if run else None,
        "explanation": [*explanation(job), *_fault(job, run)],
        "requirements": job.requirements,
        "warning": placement.warning if placement else "",
        "verbs": verbs(job, run),
    }


def _fault(job: Job, run: Run | None) -> list[Reason]:
    failure = None if job.is_final or run is None else run.failure
    return [told(str(failure))] if failure else []


def log_tail(run: Run, *, offset: int | None = None, limit: int = 64_000) -> LogPart:
    """At most `limit` bytes of the run's log from `offset`, or its end. Never reads outside the run directory.

    A letter of several bytes that is only half there is left for the next call.
    """
    directory = directory_of(run)
    done = run.job.is_final
    if directory is None:
        return LogPart("", 0, 0, done)
    try:
        part = run_directory.read_part(directory, run_directory.OUTPUT, offset, limit)
    except RunFileError as error:
        return LogPart(str(error) if done and not offset else "", 0, 0, done)
    data, start = part.data, part.offset
    if offset is None and start > 0:
        cut = data.find(b"\n") + 1
        data, start = data[cut:], start + cut
    data = _whole_letters(data, final=done and part.end == part.size)
    end = start + len(data)
    return LogPart(data.decode("utf-8", "replace"), start, end, done and end >= part.size)


def directory_of(run: Run) -> Path | None:
    """The run directory, or None when the row names a place that is not below the folder of runs."""
    given = Path(run.run_dir)
    directory = given.parent.resolve() / given.name  # its last part may be a link by now, which nobody follows
    homes = [Path(settings.KNOBS.home) / "runs", *(c.runs for c in settings.CLUSTERS.values() if c.runs)]
    return directory if any(home.resolve() in directory.parents for home in homes) else None


def believable_phases(run: Run) -> QuerySet[PhaseReport]:
    """The reported phases, without rows of earlier versions that took more time than there is."""
    optional = (Q(**{name: None}) | Q(**{f"{name}__lte": MOST_SECONDS}) for name in ("compute", "communicate"))
    return run.phases.filter(*optional, seconds__lte=MOST_SECONDS)


def phase_summary(run: Run) -> list[dict[str, Any]]:
    """Per phase, in the order they began: {"phase", "count", "seconds", "mean", "min", "max", "compute",
    "communicate", "share" (of all phases' seconds, 0..1), "iteration", "of"}; seconds are maxima over ranks."""
    rows = list(
        believable_phases(run)
        .order_by()
        .values("phase")
        .annotate(
            first=Min("pk"),
            count=Count("pk"),
            total=Sum("seconds"),
            mean=Avg("seconds"),
            least=Min("seconds"),
            most=Max("seconds"),
            computing=Sum("compute"),
            communicating=Sum("communicate"),
            at_iteration=Max("iteration"),
            of_iterations=Max("of"),
        )
        .order_by("first")[:MOST_PHASES_SHOWN]
    )
    whole = sum(row["total"] for row in rows) or 1.0
    return [
        {
            "phase": row["phase"],
            "count": row["count"],
            "seconds": row["total"],
            "mean": row["mean"],
            "min": row["least"],
            "max": row["most"],
            "compute": row["computing"],
            "communicate": row["communicating"],
            "share": row["total"] / whole,
            "iteration": row["at_iteration"],
            "of": row["of_iterations"],
        }
        for row in rows
    ]


#: Why a job is in one of these states of which nothing more is known.
_USUAL = {
    JobState.QUEUED: Reason.of(Code.ACCEPTED),
    JobState.PLACING: Reason.of(Code.MEASURING),
    JobState.TRYING: Reason.of(Code.TRYING, groups=0, over=0),
    JobState.STARTING: Reason.of(Code.BEING_STARTED),
}


def explanation(job: Job) -> list[Reason]:
    """Why the job is where it is; fresh for a job that waits for nodes, with how many are tried before it."""
    if job.state == JobState.WAITING:
        before = older(job)
        return [Reasons().of(job), *([Reason.of(Code.IN_LINE, older=before)] if before else [])]
    return [job.reason or _USUAL.get(JobState(job.state), NOTHING)]


def older(job: Job) -> int:
    """How many jobs on the same cluster came before this one and have not started either."""
    return Job.objects.filter(cluster=job.cluster, state__in=PENDING, pk__lt=job.pk).count()


class Reasons:
    """Why jobs are where they are, for lists: true at this moment also where the stored reason is of the last try.

    A few queries for each cluster, whatever the number of jobs.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int, list[int]]] = {}

    def of(self, job: Job) -> Reason:
        """The reason; none for a job that needs none."""
        return self.now(job.state, job.cluster, job.node_count, job.reason)

    def now(self, state: str, cluster: str, node_count: int, reason: Reason) -> Reason:
        """The same, where there are only the columns of the job."""
        if state != JobState.WAITING or queues(cluster):
            return reason
        if cluster not in self._known:
            self._known[cluster] = (*free_nodes(cluster), sorted(set(holders(cluster).values())))
        free, total, by = self._known[cluster]
        if not total or node_count > total:
            return reason
        if free < node_count:
            return too_few_free(node_count, free, total, by)
        return Reason.of(Code.ENOUGH_FREE) if reason.code is Code.TOO_FEW_FREE else reason


def peak(placement: Placement) -> float | None:
    """The capacity, bit/s, of the link that binds the chosen group."""
    chosen = placement.candidates[0] if placement.candidates else {}
    bottleneck = chosen.get("bottleneck")
    if not bottleneck:
        return None
    ends = bottleneck.get("link") or bottleneck
    names = [ends["source"], ends["target"]]
    return (
        Link.objects.filter(cluster__name=placement.job.cluster, source__name__in=names, target__name__in=names)
        .values_list("capacity", flat=True)
        .first()
    )


def _whole_letters(data: bytes, *, final: bool) -> bytes:
    if final:
        return data
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return data
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
    return data
