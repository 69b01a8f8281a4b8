"""A job that is moved, on its page: checkpoints, moves, and the dialog that asks for one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from monitoring.telemetry.services.depots import DepotJob, DepotReport
from scheduling.checkpoints.models import Checkpoint, RuntimeSupport
from scheduling.checkpoints.services.depot_use import ClusterUse, JobUse, NodeUse
from scheduling.jobs.services.registering import register_application
from scheduling.pages.views import depot_page
from scheduling.placing.models import Placement
from scheduling.rescheduling.core.expected_move import ExpectedMove
from scheduling.rescheduling.core.move_cost import CostPhase
from scheduling.rescheduling.services import expected_moves
from scheduling.runs.continuation_models import Continuation
from tests.browser.conftest import page_faults, settled
from tests.browser.pictures import keep_pictures

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def moved(people, make_job, network):
    """A job that runs, was moved once, and has two checkpoints, of which one is damaged."""
    job = make_job(people["user"], "running")
    register_application("tests", {"stop_means": {"by": "srs"}}, job.application)
    now, run = timezone.now(), job.runs.get()
    placement = Placement.objects.get(pk=run.placement_id)
    placement.pk = None
    placement.nodes = ["n3", "n4"]
    placement.save(force_insert=True)
    RuntimeSupport.objects.create(job=job, ranks=2, hosts=["n1", "n2"], bytes=2**30, read_at=now)
    Checkpoint.objects.create(job=job, number=7, written_at=now, ranks=2, bytes=2**30, health="whole")
    missing = Reason.of(Code.SHARD_MISSING, file="0-1.raw")
    more = {"written_at": now - timezone.timedelta(minutes=10), "ranks": 2, "bytes": 2**30, "depots": ["n1", "n2"]}
    Checkpoint.objects.create(job=job, number=6, health="incomplete", problem=missing, **more)
    seconds = {"writing": 1.2, "telemetry": 0.4, "information": 0.1, "schedule": 0.2, "other": 2.1, "start": 3.4}
    Continuation.objects.create(
        job=job,
        source=run,
        target=run,
        placement=placement,
        by="operator",
        why="the nodes are wanted for something else",
        ranks=2,
        state="moved",
        checkpoint=6,
        reason=Reason.of(Code.MOVED, nodes=["n3", "n4"], ranks=2, seconds=9.2),
        reading=1.8,
        expected={**seconds, "other": 1.5, "reading": 2.4},
        total=9.2,
        paused=7.5,
        ended_at=now,
        **seconds,
    )
    return job


def test_checkpoints_moves_and_the_form_that_asks_for_one(portal, moved, monkeypatch):
    seconds = {**dict.fromkeys(CostPhase, 1.25), CostPhase.OTHER: None, CostPhase.REDISTRIBUTION: 31.5}
    del seconds[CostPhase.QUEUE]
    monkeypatch.setattr(expected_moves, "expected", lambda *_: ExpectedMove(("n3", "n4"), seconds))
    portal.sign_in("user")
    portal.go(f"/jobs/{moved.pk}/")
    settled(portal)
    content = portal.page.locator("#job-live").inner_text()
    assert "It computes again with 2 ranks on n3 n4, 9.2 s after the move was asked for." in content
    assert "The shard 0-1.raw is missing." in content
    assert "waiting for telemetry" in content
    if folder := os.environ.get("SCREENSHOTS"):
        _look(portal.page, Path(folder))
    assert page_faults(portal) == []
    portal.page.locator("#move").click()
    assert portal.page.locator("#move-dialog").is_visible()
    portal.page.locator("#move-expected").get_by_text("Expected: 37.8 s and what is not known").wait_for()
    portal.page.locator("#move-ranks").fill("3")
    portal.page.locator("#move-dialog button.main").click()
    portal.page.wait_for_load_state()
    assert "Ranks: 3 is not possible. Enter 1, 2, 4 or 8 for NAS EP." in portal.page.locator("body").inner_text()
    assert (portal.errors, portal.foreign) == ([], [])


def test_what_jobs_have_in_depots(portal, moved, monkeypatch):
    now, mine = timezone.now(), DepotJob("1", 2**28, 12, timezone.now())
    report = DepotReport("n1", space=2**34, job_space=2**33, free=2**40, jobs=(mine,))
    jobs = (JobUse("1", moved, 2**28, 12, now), JobUse("of-another-portal-412", None, 4096, 2, now))
    silent = NodeUse(DepotReport("n2", problem="its agent does not answer"), ())
    uses = [ClusterUse("grid", (NodeUse(report, jobs), silent)), ClusterUse("slurm", problem="The key is not there.")]
    monkeypatch.setattr(depot_page, "depot_use", lambda: uses)
    portal.sign_in("operator")
    portal.go("/depots/")
    settled(portal)
    content = portal.page.locator("main").inner_text()
    for part in ("268.4 MB", "17.2 GB", "of no job here", "its agent does not answer", "The key is not there."):
        assert part in content, content
    keep_pictures(portal.page, "depots")
    assert page_faults(portal) == []


def _look(page, folder: Path) -> None:
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for width in (1280, 375):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=folder / f"moves-{theme}-{width}.png", full_page=True)
            page.locator("#move").click()
            page.locator("#move-expected dt").last.scroll_into_view_if_needed()
            page.screenshot(path=folder / f"moves-dialog-{theme}-{width}.png")
            page.keyboard.press("Escape")
