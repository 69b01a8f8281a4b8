"""The list of jobs: filters, search, sorting, pages, and how much it asks of the database."""

from __future__ import annotations

import re
import time
from datetime import timedelta

import pytest
from django.template.base import Template
from django.utils import timezone

from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.runs.models import Run
from tests.markup import markup

pytestmark = pytest.mark.django_db


def listed(response):
    return [int(number) for number in re.findall(r'<tr id="job-(\d+)">', markup(response))]


@pytest.fixture
def three(people, make_job):
    """A queued, a failed and a succeeded job of one person, by name, nodes and method."""
    made = {
        "queued": make_job(people["user"], "queued", name="alpha", node_count=8, method="random"),
        "failed": make_job(people["user"], "failed", name="beta", node_count=2),
        "succeeded": make_job(people["user"], "succeeded", name="gamma ray", node_count=4),
    }
    return {name: job.pk for name, job in made.items()}


def test_from_after_to_does_not_narrow_the_rows_and_makes_no_file(client_as, three):
    asked = "start=2001-01-02T00:00:00&until=2001-01-01T00:00:00"
    page = client_as("user").get(f"/jobs/?{asked}")
    assert "id_start_error" in page.content.decode()
    assert listed(page) == [three[name] for name in ("succeeded", "failed", "queued")]
    refused = client_as("user").get(f"/jobs.csv?{asked}")
    assert refused.status_code == 400
    assert "To" in refused.content.decode()


def test_a_state_that_there_is_not_is_named(client_as, three):
    page = client_as("user").get("/jobs/?state=nonsense").content.decode()
    assert "There is no state &#x27;nonsense&#x27;." in page
    assert "any not final and" not in page


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["succeeded", "failed", "queued"]),
        ("state=failed", ["failed"]),
        ("state=active", ["queued"]),
        ("q=gamma+ray", ["succeeded"]),
        ("q=ray+beta", []),
        ("q=queued", ["queued"]),
        ("q=user", ["succeeded", "failed", "queued"]),
        ("method=random", ["queued"]),
        ("application=ep", ["succeeded", "failed", "queued"]),
        ("sort=nodes", ["failed", "succeeded", "queued"]),
        ("sort=-nodes", ["queued", "succeeded", "failed"]),
        ("sort=name&state=active", ["queued"]),
        ("sort=nonsense", ["succeeded", "failed", "queued"]),
        ("state=nonsense", ["succeeded", "failed", "queued"]),
        ("since=15m", ["succeeded", "failed", "queued"]),
        ("page=99", ["succeeded", "failed", "queued"]),
    ],
)
def test_a_filter_and_a_sort_list_these(client_as, three, query, names):
    assert listed(client_as("user").get(f"/jobs/?{query}")) == [three[name] for name in names]


def test_a_job_is_found_by_its_number(client_as, three):
    assert three["failed"] in listed(client_as("user").get(f"/jobs/?q=%23{three['failed']}"))


def test_the_sorted_column_says_so(client_as, three):
    page = markup(client_as("user").get("/jobs/?sort=-nodes"))
    assert page.count("aria-sort=") == 1
    assert 'aria-sort="descending"' in page


def test_a_plain_user_sees_own_jobs_and_an_operator_all(client_as, people, make_job):
    own, foreign = make_job(people["user"]), make_job(people["other"])
    assert listed(client_as("user").get("/jobs/")) == [own.pk]
    assert listed(client_as("operator").get("/jobs/")) == [foreign.pk, own.pk]
    assert listed(client_as("operator").get("/jobs/?owner=other")) == [foreign.pk]


@pytest.mark.parametrize("address", ["/jobs/", "/sweeps/"])
def test_the_owner_is_offered_as_a_column_only_where_the_table_has_one(client_as, three, address):
    def offered(role, query=""):
        return "owner" in [each.name for each in client_as(role).get(f"{address}{query}").context["view_bar"].offered]

    assert offered("operator")
    assert not offered("user")
    if address == "/jobs/":
        assert offered("user", "?shared=1")


def test_the_file_of_the_list_is_called_by_how_many_jobs_it_has(client_as, three):
    assert ">CSV of these 3 jobs</a>" in " ".join(markup(client_as("user").get("/jobs/")).split())
    assert ">CSV of this job</a>" in " ".join(markup(client_as("user").get("/jobs/?q=alpha")).split())


def test_filtered_to_nothing_is_not_no_jobs(client_as, three):
    assert "No job matches these filters" in markup(client_as("user").get("/jobs/?q=zzz"))
    assert "No jobs yet" in markup(client_as("other").get("/jobs/"))
    assert "No jobs yet" in markup(client_as("other").get("/jobs/?q=zzz"))


def test_an_unreadable_date_is_said_and_narrows_nothing(client_as, three):
    response = client_as("user").get("/jobs/?start=yesterday")
    assert "is no date and time" in markup(response)
    assert len(listed(response)) == 3


def test_htmx_gets_the_table_alone(client_as, three):
    page = markup(client_as("user").get("/jobs/?state=failed", headers={"HX-Request": "true"}))
    assert "<html" not in page
    assert "<tr id=" in page


def test_pages_keep_the_filter_in_their_addresses(client_as, people, make_job):
    for _ in range(51):
        make_job(people["user"], "queued")
    page = markup(client_as("user").get("/jobs/?state=queued"))
    assert "1–50 of 51" in page
    assert "?state=queued&amp;page=2" in page
    assert len(listed(client_as("user").get("/jobs/?state=queued&page=2"))) == 1


def test_fifty_jobs_cost_as_few_queries_as_one(client_as, people, make_job, django_assert_max_num_queries):
    for _ in range(50):
        make_job(people["user"], "succeeded")
    client = client_as("operator")
    with django_assert_max_num_queries(12):
        client.get("/jobs/")
    with django_assert_max_num_queries(6):
        b"".join(client.get("/jobs.csv").streaming_content)


def test_the_page_of_a_job_costs_few_queries(client_as, people, make_job, django_assert_max_num_queries):
    job = make_job(people["user"], "succeeded", node_count=64)
    client = client_as("user")
    with django_assert_max_num_queries(25):
        client.get(f"/jobs/{job.pk}/")


def fill(owner, application, number):
    """Jobs that were placed and run: the list looks up both, so without them its cost would be hidden."""
    states = ("succeeded", "failed", "running")
    Job.objects.bulk_create(
        (
            Job(
                owner=owner,
                application=application,
                name=f"study {i % 300}",
                ranks=8,
                node_count=1 + i % 8,
                state=states[i % 3],
            )
            for i in range(number)
        ),
        batch_size=2000,
    )
    jobs = list(Job.objects.all())
    edges = [{"ranks": [0, 1], "source": "n1", "target": "n2", "bandwidth": 9e7, "weight": 1.0}] * 12
    lost = [{"nodes": ["n1"] * 8, "edges": edges, "reason": "slower " * 10}] * 3
    placements = [Placement(job=job, method="pattern", nodes=["n1"] * 8, candidates=lost, seconds=0.1) for job in jobs]
    Placement.objects.bulk_create(placements, batch_size=1000)
    Run.objects.bulk_create(
        (
            Run(job=job, placement=placement, key=f"k{job.pk}", run_dir="/", script="true\n" * 100, seconds=1.0)
            for job, placement in zip(jobs, placements, strict=True)
        ),
        batch_size=1000,
    )


@pytest.mark.bench
def test_thirty_thousand_jobs_are_listed_fast(client_as, people, application, monkeypatch):
    # Test runs copy the context at every template that is rendered; a server does not.
    monkeypatch.setattr(Template, "_render", lambda self, context: self.nodelist.render(context))
    fill(people["user"], application, 30_000)
    client = client_as("operator")
    client.get("/jobs/")
    for query in ("", "state=failed", "q=study+7", "sort=name", "page=300", "owner=user&sort=-nodes"):
        wall, cpu = [], []
        for _ in range(5):
            started, worked = time.perf_counter(), time.process_time()
            response = client.get(f"/jobs/?{query}")
            wall.append(time.perf_counter() - started)
            cpu.append(time.process_time() - worked)
        assert len(listed(response)) == 50
        print(f"30,000 jobs, ?{query}: median {sorted(wall)[2] * 1e3:.0f} ms, cpu {sorted(cpu)[2] * 1e3:.0f} ms")  # noqa: T201


def test_a_job_without_a_name_is_called_by_what_it_runs(client_as, people, make_job):
    make_job(people["user"], "queued", parameters={"class": "W"})
    page = markup(client_as("user").get("/jobs/"))
    assert "NAS EP class W <" in page


def test_a_program_without_a_clock_of_its_own_has_a_running_time(client_as, people, make_job):
    job = make_job(people["user"], "succeeded")
    now = timezone.now()
    job.runs.update(seconds=None, started_at=now - timedelta(seconds=3.25), ended_at=now)
    Job.objects.filter(pk=job.pk).update(started_at=now - timedelta(seconds=3.25), ended_at=now)
    page = markup(client_as("user").get("/jobs/"))
    assert ">3.25</td>" in page
    assert "Running, s" in page


@pytest.mark.parametrize("asked", ["state=trying", "q=trying"])
def test_the_former_word_of_a_state_still_finds_its_jobs(client_as, people, make_job, asked):
    """Addresses that people kept from when `trial` was `trying`."""
    tried, other = make_job(people["user"], "trial"), make_job(people["user"], "waiting")
    client = client_as("user")
    page = markup(client.get(f"/jobs/?{asked}"))
    assert f'href="/jobs/{tried.pk}/"' in page
    assert f'href="/jobs/{other.pk}/"' not in page
    assert ('<option value="trial" selected>' in page) is (asked == "state=trying")
    rows = client.get(f"/api/jobs?{asked}").json()["results"]
    assert [(row["id"], row["state"]) for row in rows] == [(tried.pk, "trial")]
    assert markup(client.get(f"/jobs.csv?{asked}")).count("trial") == 1
