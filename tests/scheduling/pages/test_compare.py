"""Runs side by side: what each was asked, where it ran, its phases and times; which ones stands in the address."""

from __future__ import annotations

import re

import pytest

from gridportal.runtime.progress_events import Phase
from scheduling.runs.services import phase_totals
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(people, make_job):
    """Two runs that differ in their nodes, their method and their phases."""
    jobs = [
        make_job(people["user"], "succeeded", node_count=2, method="pattern"),
        make_job(people["user"], "succeeded", node_count=4, method="random"),
    ]
    for job, seconds in zip(jobs, (1.0, 2.5), strict=True):
        phase_totals.add_phases(job.runs.get(), [Phase("step", seconds, 1, 1)])
    return jobs


def row(page: str, name: str) -> str:
    """The row of a fact, its marks too."""
    return re.search(rf'<tr[^>]*><th scope="row">{name}(?: *<|, ).*?</tr>', page, re.DOTALL)[0]


def test_two_runs_stand_side_by_side(client_as, pair):
    first, second = pair
    page = markup(client_as("user").get(f"/jobs/compare/?runs={first.pk},{second.pk}.1"))
    assert f"Compare runs {first.pk},{second.pk}.1 · GridPortal</title>" in page
    for job in pair:
        assert f'href="/jobs/{job.pk}/runs/1/"' in page
    assert "pattern" in row(page, "method")
    assert "random" in row(page, "method")
    assert ">1<" in row(page, "seed")
    assert ">0<" in row(page, "seed of the selection")
    assert "80.0 Mbit/s" in row(page, "slowest pair then")
    assert re.search(r"1\.000.*2\.500", row(page, "step"), re.DOTALL)
    assert "1.50 s" in row(page, "program’s own time")


def test_only_rows_in_which_runs_differ_are_marked(client_as, pair):
    page = markup(client_as("user").get(f"/jobs/compare/?runs={pair[0].pk}+{pair[1].pk}"))
    assert 'class="marked"' in row(page, "method")
    assert 'class="marked"' not in row(page, "state")


def test_without_runs_the_page_says_what_to_write(client_as):
    assert "Nothing is compared yet" in markup(client_as("user").get("/jobs/compare/"))


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ("x", "&#x27;x&#x27; is not possible. Enter numbers of jobs"),
        ("1", "Enter 2 to 6 runs"),
        ("1 2 3 4 5 6 7", "Enter 2 to 6 runs"),
    ],
)
def test_what_names_no_runs_is_said_in_one_sentence(client_as, runs, sentence):
    answer = client_as("user").get("/jobs/compare/", {"runs": runs})
    assert answer.status_code == 200
    assert sentence in markup(answer)


def test_a_job_that_never_ran_cannot_be_compared(client_as, people, make_job, pair):
    waiting = make_job(people["user"])
    page = markup(client_as("user").get(f"/jobs/compare/?runs={pair[0].pk},{waiting.pk}"))
    assert "Enter a job that has run" in page


def test_runs_of_others_and_runs_that_are_not_there_are_refused(client_as, people, make_job, pair):
    foreign = make_job(people["other"], "succeeded")
    user = client_as("user")
    assert user.get(f"/jobs/compare/?runs={pair[0].pk},{foreign.pk}").status_code == 403
    assert user.get(f"/jobs/compare/?runs={pair[0].pk},{pair[1].pk}.9").status_code == 404
    assert client_as("operator").get(f"/jobs/compare/?runs={pair[0].pk},{foreign.pk}").status_code == 200


def test_the_page_of_a_job_that_was_submitted_again_leads_to_the_comparison(client_as, people, make_job, pair):
    again = make_job(people["user"], "succeeded", resubmitted_from=pair[0])
    page = markup(client_as("user").get(f"/jobs/{again.pk}/"))
    assert f"/jobs/compare/?runs={pair[0].pk},{again.pk}" in page
