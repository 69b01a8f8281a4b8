"""Columns that no index serves sort the lists of jobs, decisions, applications and people while these are short."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from gridportal.web import sorting
from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.rescheduling.models import MoveDecision
from scheduling.runs.models import Run
from tests.markup import markup
from tests.scheduling.rescheduling.proposals import propose

pytestmark = pytest.mark.django_db


def listed(response):
    return [int(number) for number in re.findall(r'<tr id="job-(\d+)">', markup(response))]


@pytest.fixture
def four(people, make_job):
    """Four jobs of one person by what became of them: verified, wrong, running for long, and without anything yet."""
    now = timezone.now()
    made = {
        "verified": make_job(people["user"], "succeeded", ranks=8, node_count=2),
        "wrong": make_job(people["user"], "succeeded", ranks=2, node_count=2),
        "runs": make_job(people["user"], "running", ranks=4, node_count=2),
        "new": make_job(people["user"], "queued", ranks=16, node_count=2),
    }
    for name, began, ended in (("verified", 100, 80), ("wrong", 100, 0), ("runs", 3600, None)):
        end = None if ended is None else now - timedelta(seconds=ended)
        Job.objects.filter(pk=made[name].pk).update(started_at=now - timedelta(seconds=began), ended_at=end)
    Run.objects.update(started_at=None, ended_at=None)
    for name, nodes in (("verified", ["n3", "n4"]), ("wrong", ["n1", "n2"])):
        Placement.objects.filter(job=made[name]).update(nodes=nodes)
        Run.objects.filter(job=made[name]).update(verified=name == "verified")
    Run.objects.filter(job=made["runs"]).update(verified=None)
    Placement.objects.filter(job=made["runs"]).update(nodes=["n7", "n8"])
    return {job.pk: name for name, job in made.items()}


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("ranks", ["wrong", "runs", "verified", "new"]),
        ("-ranks", ["new", "verified", "runs", "wrong"]),
        ("chosen", ["wrong", "verified", "runs", "new"]),
        ("-chosen", ["runs", "verified", "wrong", "new"]),
        ("-running", ["runs", "wrong", "verified", "new"]),
        ("check", ["wrong", "verified", "new", "runs"]),
        ("-check", ["verified", "wrong", "new", "runs"]),
        ("-started&column=started", ["wrong", "verified", "runs", "new"]),
    ],
)
def test_jobs_sort_by_every_column(client_as, four, sort, expected):
    page = client_as("user").get(f"/jobs/?sort={sort}")
    assert [four[number] for number in listed(page)] == expected
    assert markup(page).count("aria-sort=") == 1
    rows = client_as("user").get(f"/jobs.csv?sort={sort}").getvalue().decode().splitlines()[1:]
    assert [four[int(row.split(",")[0])] for row in rows] == expected


def test_a_check_that_passed_before_the_job_failed_sorts_between_wrong_and_verified(client_as, four):
    (runs,) = [number for number, name in four.items() if name == "runs"]
    Job.objects.filter(pk=runs).update(state="failed")
    Run.objects.filter(job=runs).update(verified=True)
    assert [four[number] for number in listed(client_as("user").get("/jobs/?sort=check"))] == [
        *("wrong", "runs", "verified", "new")
    ]


def test_a_long_list_of_jobs_says_when_the_column_sorts(client_as, four, monkeypatch):
    monkeypatch.setattr(sorting, "MOST_SORTED", 3)
    page = markup(client_as("user").get("/jobs/?sort=ranks"))
    assert "Sorts where the filters leave at most 3 rows" in page
    assert 'id="sort-ranks"' not in page
    assert 'id="sort-nodes"' in page
    assert listed(client_as("user").get("/jobs/?sort=ranks")) == sorted(four, reverse=True)
    assert 'id="sort-ranks"' in markup(client_as("user").get("/jobs/?sort=ranks&state=succeeded"))


def decisions(response):
    return [int(number) for number in re.findall(r'id="decision-(\d+)"', markup(response))]


def test_moves_sort_by_gain_and_cost(client_as, people, make_job):
    jobs = [make_job(people["user"], "running") for _ in range(3)]
    made = [propose(job).pk for job in jobs]
    for pk, cost, gain in zip(made, (30.0, 10.0, 20.0), (0.2, None, -0.1), strict=True):
        MoveDecision.objects.filter(pk=pk).update(state="verified", cost=cost, outcome={"gain": gain})
    operator, first = client_as("operator"), made[0]
    assert decisions(operator.get("/migrations/?show=moved&sort=cost")) == [made[1], made[2], first]
    assert decisions(operator.get("/migrations/?show=moved&sort=-real_gain")) == [first, made[2], made[1]]
    assert decisions(operator.get("/migrations/?show=moved&sort=real_gain")) == [made[2], first, made[1]]
    assert markup(operator.get("/migrations/?show=moved&sort=-cost")).count("aria-sort=") == 1


def test_applications_sort_by_their_jobs(client_as, people, make_job):
    job = make_job(people["user"])
    assert Job.objects.count() == 1
    page = markup(client_as("user").get("/applications/?sort=-jobs"))
    assert 'aria-sort="descending"' in page
    links = re.findall(r'href="/applications/([^"/]+)/"', page)
    assert links[0] == job.application.slug
    listed_names = markup(client_as("user").get("/applications/?sort=-name"))
    names = re.findall(r'href="/applications/[^"/]+/"[^>]*>([^<]+)<', listed_names)
    assert names == sorted(names, key=str.casefold, reverse=True)
