"""What reports say above their tables: who used most, and why links have no rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.reasons import Code, Reason, text_reason
from monitoring.clusters.models import Cluster, Link, Node
from scheduling.jobs.models import Job
from scheduling.reports.report_section import Head, Section
from scheduling.reports.report_tabs import TABS
from scheduling.runs.models import Run
from scheduling.usage.asked_range import range_text
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
    assert findings(people["manager"], "people")["people"] == ("user used 98 % and other 2 % of the node-hours.")


@pytest.mark.parametrize(
    ("minutes", "finding"),
    [
        ((52, 48), "user used 52 % and other 48 % of the node-hours."),
        ((36, 34, 30), "Each of 3 people used between 30 % and 36 % of the node-hours."),
        ((50, 50, 50), "Each of 3 people used 33.3 % of the node-hours."),
        ((80, 10, 10), "user used 80 % of the node-hours."),
        ((40, 40, 20), "2 of 3 people used three quarters of the node-hours."),
    ],
)
def test_people_are_told_apart_as_far_as_their_shares_differ(
    make_job: Any, people: Any, minutes: tuple[float, ...], finding: str
) -> None:
    for name, each in zip(("user", "other", "manager"), minutes, strict=False):
        used(make_job(people[name], "succeeded"), each)
    assert findings(people["manager"], "people")["people"] == finding


def test_a_long_time_is_named_by_its_days_and_a_short_one_by_its_moments() -> None:
    begin, end = datetime(2026, 10, 28, tzinfo=UTC), datetime(2026, 11, 28, tzinfo=UTC)
    assert range_text(Range(begin, end)) == "2026-10-28 to 2026-11-27, in whole days of UTC"
    now = end - timedelta(hours=2, minutes=45)
    assert range_text(Range(begin, now)) == "2026-10-28 to 2026-11-27, in whole days of UTC; the last one until 21:15"
    assert range_text(Range(now - timedelta(hours=1), now)) == "2026-11-27 20:15 to 2026-11-27 21:15 UTC"


def test_a_text_of_a_table_is_cut_behind_a_word() -> None:
    section = Section("failures", "", "", (Head("such_as", "Such as"),), (("word " * 20,), ("x" * 100,)))
    (cut, _, label), (whole, _, _) = (row[0] for row in section.cells)
    assert (cut[-7:], label) == ("d word…", "Such as")
    assert (len(whole), whole[-2:]) == (80, "x…")


def test_links_of_which_only_pairs_are_measured_are_told(people: Any, db: Any) -> None:
    now = timezone.now()
    cluster = Cluster.objects.create(name="grid", topology="star", kind="links", measured_at=now)
    node, switch = (Node.objects.create(cluster=cluster, name=name) for name in ("a", "s"))
    link = Link.objects.create(cluster=cluster, source=node, target=switch, capacity=1e8)
    assert findings(people["manager"], "network")["links"].startswith("No link was measured in this time.")
    Link.objects.filter(pk=link.pk).update(bandwidth=5e7, measured_at=now, origin="probe")
    found = findings(people["manager"], "network")
    assert list(found) == ["links", "links_now"], "nothing that can be compared, and so no row of dashes"
    assert found["links"].startswith("The links of grid have no history: transfers are measured between pairs of nodes")
    assert found["links_now"] == "a–s of grid is used most now: 50 % of its peak."


def test_a_job_that_was_stopped_at_its_time_limit_failed_by_that(make_job: Any, people: Any) -> None:
    """Also where a cluster and the portal itself name their limits by two codes; and its log tells of no failure."""
    facts = {"exit_code": 143, "verified": None, "fault": "", "log": ["step  residual"], "wrote": True}
    for why in (Reason.of(Code.OVER_TIME_LIMIT, limit=4), Reason.of(Code.TIMED_OUT), text_reason("it was slow")):
        used(make_job(people["user"], "failed", reason=Reason.of(Code.ENDED, **facts, why=why)), 60)
    until = timezone.now()
    sections = TABS["waiting"].sections(people["manager"], Range(until - timedelta(days=1), until))
    failures = next(each for each in sections if each.key == "failures")
    limit, program = failures.values
    assert limit[:2] == ("time limit reached", 2)
    assert limit[3] == "The job reached its time limit; ask for more time and resubmit."
    assert program[:2] == ("program failed", 1)
    assert program[3] == "It was slow. Its log says: step  residual"
