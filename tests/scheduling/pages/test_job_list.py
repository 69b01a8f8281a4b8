"""The list of jobs in every order, part by part, beside what sorting all of them gives."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from gridportal.accounts.models import AuditEvent
from gridportal.base import processes as shell
from gridportal.web import paging
from gridportal.web.paging import LongList, counted, distinct, streamed
from scheduling.jobs import filters
from scheduling.jobs.filters import SORTS, JobFilterForm, ordering
from scheduling.jobs.models import Application, Job
from scheduling.pages.job_list import JobList
from scheduling.pages.selectors import jobs_visible_to
from tests import migrated

ROOT = Path(__file__).resolve().parents[3]

FILTERS: list[dict[str, str]] = [
    {},
    {"state": "succeeded"},
    {"application": "cg"},
    {"owner": "OTHER"},
    {"q": "wee"},
    {"q": "wee failed"},
    {"q": "#7"},
    {"method": "random", "state": "failed"},
]


@pytest.fixture
def many(people: dict[str, Any], application: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """60 jobs of two people and three applications, two of which have one name."""
    programs = [application, *(Application.objects.create(slug=slug, name="CG", command=["x"]) for slug in ("cg", "g"))]
    Job.objects.bulk_create(
        Job(
            owner=people["user" if number % 3 else "other"],
            application=programs[number % 4 % 3],
            name=("", "sweep", "Sweet", "strong")[number % 4],
            node_count=number % 5 + 1,
            ranks=8,
            method="random" if number % 7 == 0 else "pattern",
            state=("succeeded", "failed", "succeeded", "waiting")[number // 9 % 4],
        )
        for number in range(60)
    )
    monkeypatch.setattr(paging, "CHUNK", 4)  # so that parts are read from the nearer end of such a short list too
    return people


@pytest.mark.parametrize("role", ["user", "operator"])
@pytest.mark.parametrize("given", FILTERS, ids=str)
def test_every_part_is_what_sorting_all_jobs_gives(many: dict[str, Any], role: str, given: dict[str, str]) -> None:
    visible = jobs_visible_to(many[role])
    for sort, sign in product(SORTS, ("", "-")):
        found = JobFilterForm(given).apply(visible)
        whole = [job.pk for job in found.order_by(*ordering(sign + sort)[1])]
        for at_once in (False, True):
            jobs = JobList(found, sign + sort, visible, at_once=at_once)
            assert jobs.count() == len(whole)
            for start in range(0, len(whole), 7):
                assert [job.pk for job in jobs[start : start + 7]] == whole[start : start + 7], (sort, sign, start)
            assert [job.pk for job in jobs] == whole


@pytest.mark.parametrize("words", ["wee", "WEE", "wee failed", "swe", "nothing", "s g"])
def test_a_search_finds_the_same_whether_jobs_share_few_names_or_many(
    many: dict[str, Any], monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    found = []
    for most in (300, 2):
        monkeypatch.setattr(filters, "MOST_NAMES", most)
        found.append({job.pk for job in JobFilterForm({"q": words}).apply(Job.objects.all())})
    assert found[0] == found[1]
    assert bool(found[0]) == (words != "nothing")


@pytest.mark.parametrize(("words", "at_once"), [("wee", True), ("we", False), ("we fai", True), ("", False)])
def test_names_are_looked_through_once(
    many: dict[str, Any], monkeypatch: pytest.MonkeyPatch, words: str, at_once: bool
) -> None:
    monkeypatch.setattr(filters, "MOST_NAMES", 2)
    form = JobFilterForm({"q": words})
    assert form.reads_names is at_once
    jobs = JobList(form.apply(Job.objects.all()), "", Job.objects.all(), at_once=form.reads_names)
    with CaptureQueriesContext(connection) as asked:
        jobs.count()
        jobs[0:5]
    assert sum("LIKE" in query["sql"] for query in asked) == (1 if at_once else 2 if words else 0)


@pytest.mark.postgres
@pytest.mark.timeout(600)
def test_a_search_lists_the_same_on_postgresql(tmp_path: Path) -> None:
    with migrated.postgres_server() as url:
        env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "TESTS_HOME": str(tmp_path)}
        words = [sys.executable, "-m", "tests.scheduling.pages.searches", "500"]
        done = shell.run(words, timeout=500, cwd=ROOT, env=env | {"DATABASE_URL": url})
    compared = json.loads(done.stdout.splitlines()[-1])
    assert compared["wrong"] == []
    assert compared["found"] > 250


def test_a_slice_outside_the_list_is_empty(many: dict[str, Any]) -> None:
    jobs = JobList(jobs_visible_to(many["operator"]), "state")
    assert jobs[60:70] == []
    assert len(jobs[50:70]) == 10


def test_values_of_an_index_are_told_and_counted(many: dict[str, Any]) -> None:
    assert distinct(Job, "node_count") == [1, 2, 3, 4, 5]
    assert distinct(Job, "node_count", 2) == [1, 2]
    assert counted(Job, "state") == {"failed": 18, "succeeded": 33, "waiting": 9}
    assert sum(counted(Job, "owner").values()) == 60
    AuditEvent.objects.all()._raw_delete("default")
    assert distinct(AuditEvent, "action") == []


@pytest.mark.parametrize("sort", ["", "-id", "name", "-owner", "application", "state", "-nodes", "submitted"])
@pytest.mark.parametrize("page", [1, 30, 60])
def test_a_page_asks_as_little_wherever_it_lies(
    many: dict[str, Any], monkeypatch: pytest.MonkeyPatch, client_as: Callable[..., Client], sort: str, page: int
) -> None:
    monkeypatch.setattr("scheduling.pages.views.jobs.PER_PAGE", 1)
    client = client_as("operator")
    with CaptureQueriesContext(connection) as asked:
        answer = client.get("/jobs/", {"sort": sort, "page": page})
    assert answer.context["page"].number == page
    assert len(asked) <= 13, [query["sql"][:100] for query in asked]


@pytest.mark.parametrize("given", [given for given in FILTERS if "q" not in given and len(given) < 2], ids=str)
@pytest.mark.parametrize("role", ["user", "operator"])
def test_jobs_are_counted_in_an_index_without_reading_rows(
    many: dict[str, Any], role: str, given: dict[str, str]
) -> None:
    found = JobFilterForm(given).apply(jobs_visible_to(many[role]))
    with CaptureQueriesContext(connection) as asked:
        JobList(found, "").count()
    (statement,) = [query["sql"] for query in asked]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
        plan = " ".join(row[3] for row in cursor.fetchall())
    assert "COVERING INDEX" in plan


def test_streaming_reads_rows_in_parts(many: dict[str, Any]) -> None:
    rows = jobs_visible_to(many["operator"]).order_by("-id")
    with CaptureQueriesContext(connection) as asked:
        first = next(iter(streamed(rows, rows)))
    assert first.pk == max(Job.objects.values_list("pk", flat=True))
    assert len(asked) == 2  # the keys, and the first few rows


def test_the_trail_reads_alike_from_both_ends(people: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    AuditEvent.objects.bulk_create(AuditEvent(actor_name=f"p{n % 3}", action="job.submit") for n in range(20))
    monkeypatch.setattr(paging, "CHUNK", 4)
    events = AuditEvent.objects.filter(actor_name="p1")
    whole, found = list(events), LongList(events)
    assert [found[at : at + 3] for at in range(0, 7, 3)] == [whole[at : at + 3] for at in range(0, 7, 3)]
