"""The page of a job whose skeleton was tried, and the page of the skeleton, in a real browser."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from django.utils import timezone

from gridportal.base.reasons import Code, Reason, text_reason
from tests.scheduling.placing.trial_grid import keep_skeleton

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PLAN = {
    "skeleton": 1,
    "groups": [0, 1, 2],
    "apart": [],
    "bounds": [1.0] * 3,
    "estimates": [2.0] * 3,
    "expected": 2.0,
    "application": 200.0,
    "budget": 20.0,
}


@pytest.fixture
def tried(people, make_job, application):
    """A job that took its second group, and one in the midst of trying."""
    error = "mpicc is 'mpicc.openmpi'; accepted is the MPI compiler that the application was built with"
    skeleton = keep_skeleton(application, player=Reason.of(Code.PLAYED_BY_PORTAL, error=error))
    made = []
    for name, over in (("took", True), ("tries", False)):
        job = make_job(people["user"], "running", name=name)
        placement = job.placements.get()
        groups = [["n1", "n2"], ["n3", "n4"], ["n5-with-a-long-name.of.a.cluster", "n6-with-a-long-name.of.a.cluster"]]
        ended_so = {"taken": 1, "by": "skeleton", "spent": 6.5, "won": 9.0, "finding": "n3, n4 taken: 31 s predicted."}
        placement.trial = {**PLAN, **(ended_so if over else {})}
        first = placement.candidates[0]
        placement.candidates = [replace(first, nodes=tuple(nodes), place=place) for place, nodes in enumerate(groups)]
        placement.save()
        for place, nodes in enumerate(groups):
            ended = (
                {"state": "done", "seconds": 2.0, "predicted": 40.0 - 9 * (place == 1)}
                if over
                else {"state": "running"}
            )
            job.skeleton_runs.create(
                placement=placement,
                skeleton=skeleton,
                candidate=place,
                nodes=nodes,
                key=f"{name}-{place}",
                handed_at=timezone.now(),
                **ended,
            )
        made.append(job)
    made[1].runs.all().delete()
    type(made[1]).objects.filter(pk=made[1].pk).update(
        state="trial", reason=text_reason("Its skeleton runs on 3 groups.")
    )
    made[1].events.create(from_state="placing", to_state="trial")
    return *made, skeleton


@pytest.mark.parametrize("width", [375, pytest.param(1280, marks=pytest.mark.slow)])
def test_trials_are_seen_and_a_group_is_taken(live_server, open_page, tried, width):
    took, tries, skeleton = tried
    portal = open_page(live_server.url, width=width)
    portal.sign_in("user")
    shots = os.environ.get("SHOTS")
    for path in (f"/jobs/{took.pk}/", f"/applications/ep/skeletons/{skeleton.pk}", f"/jobs/{tries.pk}/"):
        portal.go(path)
        if path == f"/jobs/{took.pk}/":
            portal.page.wait_for_selector("#trial-chart .main-svg")
        elif "skeletons" in path:
            assert "Python plays it with the portal's own MPI" in portal.page.inner_text("main")
        if shots:
            portal.page.screenshot(path=f"{shots}/{width}{path.strip('/').replace('/', '-')}.png", full_page=True)
        assert portal.page.evaluate("document.documentElement.scrollWidth") <= width
    portal.page.click("#take")
    portal.page.check("#take-2")
    portal.page.fill("#take-reason", "it is nearer to me")
    portal.page.click("#take-dialog button.main")
    portal.page.wait_for_selector("#override")
    assert "user took group 3: it is nearer to me" in portal.page.inner_text("#override")
    assert not portal.errors
    assert not portal.foreign
