"""Ranks of one node that talk are drawn, though no link carries it."""

from __future__ import annotations

import pytest

from scheduling.jobs.models import Application
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.pages.inner_pairs import inner_pairs
from tests.markup import markup

RING = JobSpec(Application(slug="solver"), {}, ranks=4, pattern="ring")


def test_the_pairs_of_one_node_are_those_of_the_pattern():
    assert inner_pairs(["n1"] * 4, RING) == [(0, 1), (0, 3), (1, 2), (2, 3)]
    assert inner_pairs(["n1", "n1", "n2", "n2"], RING) == [(0, 1), (2, 3)]
    assert inner_pairs(["n1", "n2", "n3", "n4"], RING) == []


@pytest.mark.django_db
def test_the_page_draws_them_and_says_what_they_are(people, make_job, client_as):
    job = make_job(people["user"], "running", node_count=1, ranks=4, pattern="ring", method="pattern")
    job.placements.update(nodes=["n1"] * 4, candidates=[])
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert page.count('class="inner"') == 4
    assert "ranks 0 and 1 talk inside n1, over no link" in page
