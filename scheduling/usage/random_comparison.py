"""Jobs of a time on chosen nodes beside those on random ones, under the same conditions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.usage.core.against_random import Conditions, Pair, TimedJob, against_random
from scheduling.usage.ranges import Range

#: So many jobs of each sort are looked at, the newest.
MOST_JOBS = 2000
_RANDOM = "random"
_COLUMNS = ("cluster", "application_id", "given", "node_count", "ranks", "started_at", "ended_at")


def compared_with_random(span: Range) -> list[Pair]:
    """Of the jobs that ended well in that time. One statement where none of them was on random nodes, else two."""
    ended = Job.objects.filter(state=JobState.SUCCEEDED, ended_at__gte=span.begin, ended_at__lt=span.until)
    drawn = Job.objects.filter(method=_RANDOM).order_by().values("pk")  # few jobs are: read by the index of methods
    on_random = list(_timed(ended.filter(pk__in=drawn).order_by("-pk")))
    if not on_random:
        return []
    there = [job.conditions for job in on_random]
    others = ended.exclude(method=_RANDOM).filter(
        cluster__in={each.cluster for each in there},
        application__in={each.application for each in there},
        node_count__in={each.nodes for each in there},
    )
    return against_random(on_random, _timed(others.order_by("-ended_at")))


def _timed(jobs: QuerySet[Job]) -> Iterator[TimedJob]:
    """Many jobs have the same parameters: each text of them is read once."""
    ordered = cache(_ordered)
    rows = jobs.annotate(given=Cast("parameters", TextField())).values_list(*_COLUMNS)[:MOST_JOBS]
    for cluster, application, given, nodes, ranks, began, ended in rows:
        if began and ended:
            conditions = Conditions(cluster, application, ordered(given), nodes, ranks)
            yield TimedJob(conditions, (ended - began).total_seconds())


def _ordered(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)
