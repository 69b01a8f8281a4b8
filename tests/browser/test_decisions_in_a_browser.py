"""Proposals, decisions, dry runs and reports in a browser: both themes, all widths, nothing from another host."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from scheduling.jobs.core.candidates import Bottleneck, CandidateGroup, Objective, RankPair
from scheduling.rescheduling.models import MoveDecision
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.models import Run
from tests.browser.conftest import page_faults, settled
from tests.browser.test_contract_in_a_browser import slowed_down
from tests.scheduling.rescheduling.proposals import propose

__all__ = ["slowed_down"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def group(nodes: list[str], rate: float) -> dict[str, object]:
    """Nodes in a ring, each pair a little faster than the one before."""
    pairs = [(rank, (rank + 1) % len(nodes)) for rank in range(len(nodes))]
    edges = [
        RankPair((a, b), nodes[a], nodes[b], rate + 4e6 * place, 1.0, link=(nodes[a], nodes[b]))
        for place, (a, b) in enumerate(pairs)
    ]
    return CandidateGroup(tuple(nodes), Objective(rate, 0.9), Bottleneck(edges[0]), tuple(edges)).document()


@pytest.fixture
def decided(slowed_down, network, people, make_job) -> dict[str, MoveDecision]:
    """A proposal with all its figures, a move under way, one that is verified, and one that was refused wrongly."""
    now, groups = timezone.now(), {"now": group(["n1", "n2"], 2e7), "there": group(["n3", "n4", "n5"], 6e7)}
    figures = {"groups": groups, "nodes": ["n3", "n4", "n5"], "measured_at": now - timedelta(seconds=6)}
    waiting = propose(slowed_down.job, **figures)
    job, done = make_job(people["user"], "moving"), make_job(people["user"], "succeeded")
    run = job.runs.get()
    at = {"asked_at": now - timedelta(seconds=40), "stop_sent_at": now - timedelta(seconds=38)}
    move = Continuation.objects.create(
        job=job, source=run, by="operator", ranks=3, nodes=["n3"], state="stopping", **at
    )
    moving = propose(job, state="moving", by="operator", continuation=move, **figures)
    took = {"writing": 38.0, "telemetry": 2.0, "information": 1.0, "schedule": 3.0, "other": 1.0, "start": 46.0}
    over = Continuation.objects.create(
        job=done,
        source=done.runs.get(),
        by="operator",
        ranks=3,
        nodes=["n3"],
        state="moved",
        asked_at=now - timedelta(hours=2),
        reading=31.0,
        total=122.0,
        ended_at=now - timedelta(hours=1),
        **took,
    )
    outcome = {"gain": 0.39, "saved": 1629.0, "took": 2549.0, "cost": 122.0}
    verified = propose(done, state="verified", by="operator", continuation=over, outcome=outcome, **figures)
    stayed = make_job(people["user"], "succeeded", ended_at=now)
    refused = propose(
        stayed,
        state="refused",
        by="operator",
        why="It ends before the maintenance.",
        created_at=now - timedelta(seconds=5000),
        **figures,
    )
    Run.objects.filter(job=done).update(started_at=now - timedelta(hours=30), ended_at=now)
    return {"waiting": waiting, "moving": moving, "verified": verified, "refused": refused}


def test_decisions_and_reports_have_no_serious_faults(portal, decided):
    portal.sign_in("operator")
    addresses = {name: decided[name].get_absolute_url() for name in ("waiting", "verified")}
    addresses |= {"list": "/migrations/", "stayed": "/migrations/?show=not-moved", "report": "/reports/people/"}
    faults = {}
    for name, address in addresses.items():
        assert portal.go(address).status == 200, address
        settled(portal)
        if folder := os.environ.get("SCREENSHOTS"):
            _look(portal.page, Path(folder), name)
        if bad := page_faults(portal):
            faults[name] = bad
    assert not faults
    assert (portal.errors, portal.foreign) == ([], [])


def test_a_proposal_is_refused_where_it_stands_in_the_list(portal, decided):
    portal.sign_in("operator")
    portal.go("/migrations/")
    page, number = portal.page, decided["waiting"].pk
    page.locator(f"#decide-here-{number} summary").click()
    page.fill(f"#refuse-reason-{number}", "It is nearly done")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/migrations/{number}/")
    assert "refused" in page.locator("#decision-live .title").inner_text()
    assert "It is nearly done" in page.locator("#decision-live").inner_text()


def _look(page, folder: Path, name: str) -> None:
    for theme in ("light", "dark"):
        for width in (1280, 375):
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(400)
            page.screenshot(path=folder / f"{name}-{theme}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 800})
