"""The report of use: runs, seconds and node hours of applications and of their skeletons, spent beside won."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from django.utils import timezone

from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.runs.models import Run
from scheduling.skeletons.models import SkeletonRun
from scheduling.usage import selectors as use_selectors
from tests.markup import markup

pytestmark = pytest.mark.django_db
HOUR = 3600.0


@pytest.fixture
def now():
    return timezone.now()


@pytest.fixture
def ran(make_job, now):
    """ran(owner, hours, nodes=2, skeletons=(seconds, ...), trial=None): a job that ran so long, with its tries."""

    def make(owner, hours, nodes=2, skeletons=(), trial=None, **fields):
        job = make_job(owner, "succeeded", node_count=nodes, **fields)
        Run.objects.filter(job=job).update(started_at=now - timedelta(hours=hours), ended_at=now)
        placement = job.placements.get()
        Placement.objects.filter(pk=placement.pk).update(trial=trial)
        for place, seconds in enumerate(skeletons):
            SkeletonRun.objects.create(
                job=job,
                placement=placement,
                candidate=place,
                nodes=["n1", "n2"],
                key=f"s-{job.pk}-{place}",
                run_dir="/r",
                script="",
                state="done",
                started_at=now - timedelta(seconds=seconds),
                ended_at=now,
            )
        return job

    return make


def test_runs_of_skeletons_count_beside_those_of_their_application(people, ran, now):
    ran(people["user"], 2, 2, (30, 60), {"groups": [0, 1], "spent": 75.0, "won": 400.0})
    ran(people["user"], 1, 4, (60,), {"groups": [0], "spent": 61.0, "won": None})
    ran(people["user"], 1, 1)
    (one,) = use_selectors.use(Job.objects.all(), now)

    assert (one.cluster, one.slug, one.runs, one.skeleton_runs) == ("grid", "ep", 3, 3)
    assert one.seconds == pytest.approx(4 * HOUR)
    assert one.node_seconds == pytest.approx((2 * 2 + 1 * 4 + 1) * HOUR)
    assert one.skeleton_seconds == pytest.approx(150)
    assert one.skeleton_node_seconds == pytest.approx(90 * 2 + 60 * 4)
    assert (one.trials, one.spent, one.compared, one.won) == (2, 136.0, 1, 400.0)
    assert one.share == pytest.approx(420 / (9 * HOUR + 420))


def test_trials_over_their_budget_are_counted(client_as, people, ran, now):
    ran(people["user"], 2, 2, (30,), {"groups": [0, 1], "spent": 5.93, "budget": 4.34, "won": None})
    ran(people["user"], 2, 2, (30,), {"groups": [0, 1], "spent": 4.0, "budget": 4.34, "won": None})
    (one,) = use_selectors.use(Job.objects.all(), now)
    assert (one.trials, one.over, one.overrun) == (2, 1, pytest.approx(1.59))
    shown = markup(client_as("user").get("/reports/skeletons/"))
    assert "Trying the groups of 2 jobs took 9.93 s, 1.59 s of it longer than allowed (1 job)." in shown
    (row,) = csv.DictReader(io.StringIO(client_as("user").get("/reports/use.csv").content.decode()))
    assert (row["trials_over_budget"], row["seconds_over_budget"]) == ("1", "1.59")


def test_what_still_runs_counts_until_now_and_what_never_began_not_at_all(people, ran, make_job, now):
    job = ran(people["user"], 3, 2, (10, 20))
    Run.objects.filter(job=job).update(ended_at=None)
    SkeletonRun.objects.filter(key=f"s-{job.pk}-0").update(started_at=None, ended_at=None, state="skipped")
    SkeletonRun.objects.filter(key=f"s-{job.pk}-1").update(ended_at=None, state="running")
    make_job(people["user"], "queued")
    (one,) = use_selectors.use(Job.objects.all(), now + timedelta(hours=1))

    assert (one.runs, one.seconds) == (1, pytest.approx(4 * HOUR))
    assert (one.skeleton_runs, one.skeleton_seconds) == (1, pytest.approx(HOUR + 20))


def test_each_cluster_has_its_own_row_and_all_are_summed(people, ran, now):
    ran(people["user"], 1, 2, (10,))
    ran(people["user"], 2, 2, (20, 30), cluster="hpc")
    rows = use_selectors.use(Job.objects.all(), now)
    whole = use_selectors.together(rows)

    assert [row.cluster for row in rows] == ["hpc", "grid"]
    assert (whole.runs, whole.skeleton_runs) == (2, 3)
    assert whole.node_seconds == pytest.approx(6 * HOUR)
    assert whole.skeleton_seconds == pytest.approx(60)


@pytest.mark.parametrize(("role", "runs"), [("user", 1), ("operator", 2), ("manager", 2), ("administrator", 2)])
def test_everybody_sees_the_use_of_the_jobs_that_they_may_see(client_as, people, ran, role, runs):
    ran(people["user"], 1, 2, (10,), {"groups": [0], "spent": 12.0, "won": 5.0})
    ran(people["other"], 1, 2)
    text = client_as(role).get("/reports/use.csv").content.decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["application"], row["runs"], row["skeleton_runs"]) == ("ep", str(runs), "1")
    assert float(row["node_hours"]) == pytest.approx(2 * runs, abs=0.01)
    assert float(row["skeleton_node_hours"]) == pytest.approx(20 / HOUR, abs=1e-5)
    assert (float(row["seconds_spent"]), float(row["seconds_won"]), row["trials_with_known_win"]) == (12.0, 5.0, "1")
    page = markup(client_as(role).get("/reports/skeletons/"))
    assert "Trying the groups of 1 job took 12.0 s; it was predicted to save 5.00 s in 1 job." in page


def test_the_time_in_the_address_narrows_page_and_csv(client_as, people, ran):
    job = ran(people["user"], 1)
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(days=3))
    client = client_as("user")
    assert "No skeleton ran" in markup(client.get("/reports/skeletons/"))
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(days=200))
    assert "Nothing ran in this time" in markup(client.get("/reports/skeletons/"))
    page = markup(client.get("/reports/skeletons/?since=365d"))
    assert "No skeleton ran" in page
    assert "Against the time before" in page
    assert page.count('aria-current="true"') == markup(client.get("/reports/people/?since=365d")).count(
        'aria-current="true"'
    )
    assert "all time</a>" not in page
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(days=3))
    assert "Nothing ran in this time" in markup(client.get("/reports/skeletons/?since=24h"))
    assert len(client.get("/reports/use.csv?since=24h").content.decode().splitlines()) == 1
    assert len(client.get("/reports/use.csv?since=7d").content.decode().splitlines()) == 2


def test_the_page_says_so_before_anything_has_run(client_as):
    assert "Nothing has run yet" in markup(client_as("user").get("/reports/skeletons/"))
    assert client_as("anonymous").get("/reports/skeletons/").status_code == 302


def test_reports_open_on_who_used_what_and_kept_addresses_of_skeletons_still_lead_there(client_as):
    client = client_as("manager")
    assert client.get("/reports/")["Location"] == "/reports/people/"
    assert client.get("/reports/?since=7d")["Location"] == "/reports/people/?since=7d"
    assert client.get("/reports/?application=ep&since=7d")["Location"] == "/reports/skeletons/?application=ep&since=7d"
