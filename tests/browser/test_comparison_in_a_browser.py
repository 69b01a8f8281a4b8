"""From a job to the same on random nodes, and both side by side: one click, both themes, wide and narrow."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.runtime.progress_events import Phase
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.runs.models import Run
from scheduling.runs.services import phase_totals
from tests.browser.conftest import page_faults, settled
from tests.browser.pictures import keep_pictures

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def pair(people: Any, make_job: Any, network: Any) -> list[Job]:
    """A job with nodes by pattern, and the same on random nodes, which took 1.8 times as long."""
    made = []
    for method, seconds, share in (("pattern", 12.4, 0.3), ("random", 22.6, 0.6)):
        job = make_job(people["user"], "succeeded", node_count=4, method=method, name="NPB CG, class B")
        whole = timedelta(seconds=seconds + 0.8)
        job.runs.update(seconds=seconds, verified=True, started_at=timezone.now() - whole, ended_at=timezone.now())
        talk = share * seconds
        steps = [Phase("conj_grad", seconds * 0.9, 1, 1, communicate=talk), Phase("norm_temp", seconds * 0.1, 1, 1)]
        phase_totals.add_phases(job.runs.get(), steps)
        made.append(job)
    Job.objects.filter(pk=made[1].pk).update(resubmitted_from=made[0])
    return made


def test_the_comparison_is_drawn_and_readable_in_all_forms(portal: Any, pair: list[Job]) -> None:
    portal.sign_in("user")
    portal.go(f"/jobs/compare/?runs={pair[0].pk},{pair[1].pk}")
    settled(portal)
    assert "1.8 times as long" in portal.page.locator("#finding").inner_text()
    assert page_faults(portal) == []
    keep_pictures(portal.page, "compare")
    portal.go(f"/jobs/{pair[0].pk}/")
    assert page_faults(portal) == []
    keep_pictures(portal.page, "compared-job")
    assert portal.errors == []
    assert portal.foreign == []


def test_one_click_leads_to_both_and_the_page_follows_the_new_one(portal: Any, pair: list[Job]) -> None:
    portal.sign_in("user")
    portal.go(f"/jobs/{pair[0].pk}/")
    page = portal.page
    page.locator("#random-nodes").click()
    page.wait_for_url("**/jobs/compare/?runs=*")
    made = Job.objects.latest("pk")
    assert made.method == "random"
    assert f"Job {made.pk} has not started." in page.locator("#compare-live").inner_text()
    assert "is submitted" in page.locator("[role=status] .toast").inner_text()
    _run_like(pair[1], made)
    page.wait_for_selector(".live[data-state=ended]")
    assert "1.8 times as long" in page.locator("#finding").inner_text()
    settled(portal)
    assert portal.errors == []


def _run_like(other: Job, job: Job) -> None:
    """As if it had run as the other did."""
    run, placement = other.runs.get(), other.placements.get()
    placement.pk, placement.job = None, job
    placement.save()
    now = timezone.now()
    Run.objects.create(
        job=job,
        number=1,
        placement=placement,
        state=run.state,
        seconds=run.seconds,
        started_at=run.started_at,
        ended_at=run.ended_at,
        run_dir=run.run_dir,
    )
    Job.objects.filter(pk=job.pk).update(state=JobState.SUCCEEDED, ended_at=now)
