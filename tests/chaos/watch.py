"""`python -m tests.chaos.watch`: looks at the rows of a portal again and again, and prints what may never be.

A JSON line each. What is compared is read in one statement, so that nothing changes in between.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from scheduling.runs.core.run_states import JOB_STATE, RunState

EVERY = 2.0  # seconds between two looks


class Held(NamedTuple):
    """Nodes that a job holds: by a run in `state`, or by its skeleton, where `state` is empty."""

    job: int
    cluster: str
    job_state: str
    state: str
    nodes: tuple[str, ...]


class Broken(NamedTuple):
    """A promise that was broken at some moment."""

    job: int
    rule: str
    story: str


def judge(held: Iterable[Held]) -> Iterator[Broken]:
    """What may never be, of what is held at one moment.

    >>> one = Held(1, "grid", "running", "running", ("n1",))
    >>> [each.rule for each in judge([one, one._replace(job=2)])], list(judge([one]))
    (['a node has one job'], [])
    """
    runs, owners = defaultdict[int, list[str]](list), dict[tuple[str, str], int]()
    for each in held:
        for node in each.nodes:
            other = owners.setdefault((each.cluster, node), each.job)
            if other != each.job:
                yield Broken(each.job, "a node has one job", f"{node} of {each.cluster} is that of job {other}, too.")
        if not each.state:
            continue
        runs[each.job].append(each.state)
        expected = JOB_STATE[RunState(each.state)]
        if expected is not None and expected != each.job_state:
            story = f"It is {each.job_state}, and its run {each.state}."
            yield Broken(each.job, "a job goes along with its run", story)
    for job, states in runs.items():
        if len(states) > 1:
            yield Broken(job, "one open run", f"It has runs that are {' and '.join(states)}.")


def look() -> list[Held]:
    """What is held now, by open runs and by skeletons; in one statement."""
    from django.db.models import CharField, F, Value

    from scheduling.runs.core.run_states import OPEN
    from scheduling.runs.models import Run
    from scheduling.skeletons.core.skeleton_run_states import AT_WORK
    from scheduling.skeletons.models import SkeletonRun

    job = ("job_id", "job__cluster", "job__state")
    runs = Run.objects.filter(state__in=OPEN).order_by().annotate(its=F("state"), on=F("placement__nodes"))
    tried = SkeletonRun.objects.filter(state__in=AT_WORK).order_by()
    tried = tried.annotate(its=Value("", output_field=CharField()), on=F("nodes"))
    rows = runs.values_list(*job, "its", "on").union(tried.values_list(*job, "its", "on"), all=True)
    return [Held(pk, cluster, state, own, _nodes(cluster, on)) for pk, cluster, state, own, on in rows]


def unreturned() -> list[Broken]:
    """Jobs that are over, and that somebody leases."""
    from scheduling.jobs.core.states import FINAL
    from scheduling.jobs.models import Job

    rows = Job.objects.filter(state__in=FINAL).exclude(lease_holder="", lease_until=None)
    told = rows.values_list("pk", "state", "lease_holder")
    return [Broken(pk, "an end ends the lease", f"It is {state}, and {by!r} leases it.") for pk, state, by in told]


def _nodes(cluster: str, on: Any) -> tuple[str, ...]:
    """None where a queue of the cluster's own gives them away."""
    from monitoring.clusters.selectors import traits

    return () if traits(cluster).has_queue else tuple(json.loads(on) if isinstance(on, str) else on)


def main() -> None:
    """For ever, in the portal's own settings; a database that is away is asked again."""
    from django.db import Error, connection

    from gridportal.base import home
    from gridportal.web.command_database import set_up_django

    home.join()
    set_up_django()
    seen: set[Broken] = set()
    looks = 0
    while True:
        try:
            broken = {*judge(look()), *unreturned()}
            looks += 1
        except Error:
            connection.close()
            broken = set()
        for each in broken - seen:
            sys.stdout.write(json.dumps(each._asdict()) + "\n")
        seen |= broken
        sys.stdout.write(json.dumps({"looks": looks}) + "\n")
        sys.stdout.flush()
        time.sleep(EVERY)


if __name__ == "__main__":
    main()
