"""Ranks and nodes are two things: on the form, over REST, in the row, and in a second submission."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.pages.forms import SubmitForm, initial
from scheduling.pages.size_field import SizeField
from tests.markup import markup
from tests.scheduling.pages.test_pages import form_of

JSON = "application/json"


def counts(job):
    return job.ranks, job.node_count, job.nodes_open, job.ranks_per_node, job.cpus_per_rank


@pytest.mark.parametrize(
    ("asked", "row"),
    [
        ({"node_count": 4}, (4, 4, False, None, 1)),
        ({"ranks": 4}, (4, 1, True, None, 1)),
        ({"ranks": 8, "node_count": 2}, (8, 2, False, None, 1)),
        ({"ranks": 8, "ranks_per_node": 2}, (8, 4, True, 2, 1)),
        ({"node_count": 2, "ranks_per_node": 2}, (4, 2, False, 2, 1)),
        ({"ranks_per_node": 2, "cpus_per_rank": 3}, (2, 1, False, 2, 3)),
    ],
)
def test_any_count_may_be_left_open_over_rest_and_on_the_form(client_as, application, asked, row):
    client = client_as("user")
    made = client.post("/api/jobs", {"application": "ep", "method": "compute", **asked}, content_type=JSON)
    assert made.status_code == 201, made.content
    sent = client.post("/submit/", form_of(application, node_count="", method="compute") | asked)
    assert sent.status_code == 302, markup(sent)
    assert [counts(job) for job in Job.objects.order_by("pk")] == [row, row]
    answer = made.json()
    assert (answer["ranks"], answer["node_count"], answer["nodes_open"]) == row[:3]


@pytest.mark.parametrize(
    ("asked", "field", "sentence"),
    [
        ({"ranks": 2, "node_count": 4}, "node_count", "node_count is 4; accepted is at most 2, one for each rank."),
        ({"ranks": 3}, "ranks", "ranks is 3; accepted is 1, 2, 4 or 8 for NAS EP."),
        ({"node_count": 2, "cpus_per_rank": 0}, "cpus_per_rank", "cpus_per_rank is 0; accepted is a whole number"),
        ({"node_count": 2, "gres_per_rank": "gpu:x:y:z"}, "gres_per_rank", "names with a count of at least 1"),
    ],
)
def test_what_cannot_be_is_refused_beside_its_field(client_as, application, asked, field, sentence):
    client = client_as("user")
    refused = client.post("/api/jobs", {"application": "ep", **asked}, content_type=JSON)
    assert refused.status_code == 400
    assert sentence in refused.json()[field][0]
    page = client.post("/submit/", form_of(application, node_count="") | asked)
    assert page.status_code == 422
    assert f'id="id_{field}_error"' in markup(page)
    assert not Job.objects.exists()


def test_a_form_that_says_neither_ranks_nor_nodes_is_refused(client_as, application):
    page = client_as("user").post("/submit/", form_of(application, node_count=""))
    assert page.status_code == 422
    assert "Enter how many nodes, or choose a number of ranks." in markup(page)


def test_a_second_submission_asks_for_the_same_and_may_change_one_count(client_as, submit):
    job = submit(None, ranks=8, ranks_per_node=4, cpus_per_rank=2, memory_per_rank=512, method="compute")
    old = JobSpec.from_row(job)
    first = initial(job.application, job.owner, old)
    shown = {name: value for name, value in first.items() if value is not None and value is not False}
    form = SubmitForm(job.application, shown)
    assert form.is_valid(), form.errors
    assert form.to_spec().columns() | {"skeleton": None} == old.columns()
    again = client_as("user").post(f"/api/jobs/{job.pk}/resubmit", {"ranks": 4}, content_type=JSON)
    assert counts(Job.objects.get(pk=again.json()["id"])) == (4, 1, True, 4, 2)


def test_a_job_of_one_rank_a_node_is_resubmitted_on_other_nodes_by_their_number_alone(client_as, submit):
    job = submit(2, method="compute")
    again = client_as("user").post(f"/api/jobs/{job.pk}/resubmit", {"node_count": 4}, content_type=JSON)
    assert counts(Job.objects.get(pk=again.json()["id"])) == (4, 4, False, None, 1)


def test_the_page_of_a_job_says_what_was_asked(client_as, submit):
    job = submit(None, ranks=8, cpus_per_rank=2, gres_per_rank="gpu:1", memory_per_rank=100, method="compute")
    page = markup(client_as("user").get(job.get_absolute_url()))
    for words in ("as the selection decides", "threads of each rank", "100 MB", "gpu:1"):
        assert words in page, words


def test_threads_that_were_asked_for_as_an_option_are_those_of_each_rank(client_as, application):
    body = {"application": "ep", "node_count": 2, "options": {"cpus_per_rank": 2}}
    client_as("user").post("/api/jobs", body, content_type=JSON)
    assert counts(Job.objects.get()) == (2, 2, False, None, 2)
    refused = client_as("user").post("/api/jobs", body | {"cpus_per_rank": 3}, content_type=JSON)
    assert "cpus_per_rank is 3; accepted is 2, as the option of that name says." in refused.json()["cpus_per_rank"]


@pytest.mark.parametrize(("text", "megabytes"), [("4 GB", 4096), ("500M", 500), ("512", 512), ("", None)])
def test_memory_may_have_its_unit(text: str, megabytes: int | None) -> None:
    assert SizeField("Memory", 2**20, "").clean(text) == megabytes


@pytest.mark.parametrize("text", ["much", "0", "-4", "4 PB", "2 TB", "0.1 KB"])
def test_what_is_no_memory_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValidationError, match="Enter a size from 1 MB to 1,048,576 MB, such as 512 MB or 4 GB"):
        SizeField("Memory", 2**20, "").clean(text)
