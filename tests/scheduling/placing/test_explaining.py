"""Why other nodes were not taken, as a placement, the preview, pages and REST tell it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client

from scheduling.jobs.core.explanation import Explanation
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.messages import message
from scheduling.placing.models import Placement
from scheduling.placing.services import preview, rounds
from tests.fake_grid import FakeGrid

Submit = Callable[..., Job]


def place(job: Job) -> Placement:
    rounds.place_and_start_all(job.cluster)
    return Job.objects.get(pk=job.pk).runs.get().placement


def reasons(explanation: Explanation | None) -> dict[str, str]:
    assert explanation is not None
    return {each.node: message(each.reason) for each in explanation.nodes}


def slow(fake_grid: FakeGrid, *nodes: str) -> None:
    fake_grid.rates = {(a, b): 40e6 for a in nodes for b in fake_grid.names}


def test_a_placement_keeps_why_each_other_node_was_not_taken(submit: Submit, fake_grid: FakeGrid) -> None:
    slow(fake_grid, "n1", "n2")
    placement = place(submit(2))
    assert sorted(placement.nodes) == ["n3", "n4"]
    assert reasons(placement.explanation) == {
        "n1": "40 Mbit/s to n4 in the place of n3, less than the group's 90 Mbit/s",
        "n2": "40 Mbit/s to n4 in the place of n3, less than the group's 90 Mbit/s",
    }


def test_nodes_that_another_job_has_are_named_with_the_job(submit: Submit, fake_grid: FakeGrid) -> None:
    first = submit(1)
    (taken,) = place(first).nodes
    second = place(submit(2))
    assert reasons(second.explanation)[taken] == f"in use by job {first.pk}"


def test_pairs_of_a_placement_name_the_link_that_holds_them(submit: Submit, fake_grid: FakeGrid) -> None:
    edge = place(submit(2)).candidates[0].edges[0]
    assert edge.link is not None
    assert set(edge.link) == {edge.source, edge.target}


def test_rows_of_before_have_no_explanation(submit: Submit, fake_grid: FakeGrid) -> None:
    placement = place(submit(2))
    Placement.objects.filter(pk=placement.pk).update(explanation=None)
    placement.refresh_from_db()
    assert placement.explanation is None


def test_page_and_rest_tell_it(submit: Submit, fake_grid: FakeGrid, people: Any) -> None:
    slow(fake_grid, "n1", "n2")
    job = submit(2)
    place(job)
    client = Client()
    client.force_login(people["administrator"])
    page = client.get(job.get_absolute_url()).content.decode()
    assert "Why 2 other nodes were not taken" in page
    assert "40 Mbit/s to n4 in the place of n3" in page
    assert "With a faster link" in page
    told = client.get(f"/api/jobs/{job.pk}/placement").json()["explanation"]
    assert told["counts"] == [{"code": "node_slower", "kind": "slower than the slowest pair of the group", "nodes": 2}]
    assert [each["node"] for each in told["nodes"]] == ["n1", "n2"]
    assert told["next_link"]["then"] is None


def test_the_preview_tells_it_for_a_job_as_it_would_be_submitted(submit: Submit, fake_grid: FakeGrid) -> None:
    slow(fake_grid, "n1", "n2")
    (taken,) = place(submit(1)).nodes
    shown = preview.preview(JobSpec.from_row(submit(2)))
    assert reasons(shown.explanation)[taken].startswith("in use by job ")
    assert len(reasons(shown.explanation)) == 2
