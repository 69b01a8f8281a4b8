"""What reports say above their tables: who used most, and why links have no rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from monitoring.clusters.models import Cluster, Link, Node
from scheduling.jobs.models import Job
from scheduling.reports.report_tabs import TABS
from scheduling.runs.models import Run
from scheduling.usage.ranges import Range


def findings(person: Any, show: str) -> dict[str, str]:
    """The sentence of each table of a tab, over the last day, by the key of the table."""
    until = timezone.now()
    return {each.key: each.finding for each in TABS[show].sections(person, Range(until - timedelta(days=1), until))}


def used(job: Job, minutes: float) -> None:
    """It ran so long, until just now."""
    ended = timezone.now() - timedelta(minutes=1)
    began = ended - timedelta(minutes=minutes)
    Run.objects.filter(job=job).update(started_at=began, ended_at=ended)
    Job.objects.filter(pk=job.pk).update(created_at=began, ended_at=ended)


def test_one_person_who_used_most_is_named_with_the_share(make_job: Any, people: Any) -> None:
    used(make_job(people["user"], "succeeded"), 98)
    used(make_job(people["other"], "succeeded"), 2)
    assert findings(people["manager"], "people")["people"] == "user used 98 % of the node-hours."


def test_several_who_used_most_are_counted(make_job: Any, people: Any) -> None:
    for name in ("user", "other"):
        used(make_job(people[name], "succeeded"), 50)
    assert findings(people["manager"], "people")["people"] == "2 of 2 people used three quarters of the node-hours."


def test_links_of_which_only_pairs_are_measured_are_told(people: Any, db: Any) -> None:
    now = timezone.now()
    cluster = Cluster.objects.create(name="grid", topology="star", kind="links", measured_at=now)
    node, switch = (Node.objects.create(cluster=cluster, name=name) for name in ("a", "s"))
    link = Link.objects.create(cluster=cluster, source=node, target=switch, capacity=1e8)
    assert findings(people["manager"], "network")["links"].startswith("No link was measured in this time.")
    Link.objects.filter(pk=link.pk).update(bandwidth=5e7, measured_at=now, origin="probe")
    told = findings(people["manager"], "network")["links"]
    assert told.startswith("Of the links of grid no readings are kept: transfers are measured between pairs of nodes.")
    assert "The page Topology has the figure of each link now" in told
