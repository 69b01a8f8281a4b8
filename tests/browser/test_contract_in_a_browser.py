"""The contract of a run that gets less than it was promised, on the page of its job."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from django.utils import timezone

from scheduling.contracts.services.tending import tend_contracts
from scheduling.runs.models import Run
from scheduling.runs.services.reading_progress import ingest
from tests.browser.conftest import page_faults, settled
from tests.scheduling.contracts import reported

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
#: Panels of a factorization, which become shorter.
PANELS = [3.1 * (1 - at / 110) ** 2 for at in range(100)]


@pytest.fixture
def slowed_down(people, make_job, monkeypatch):
    """A run that was as promised for 20 panels of 100, and then took five times as long."""
    monkeypatch.setattr(reported, "AT", timezone.now().timestamp() - 46)

    def running():
        run = make_job(people["user"], "running").runs.get()
        Path(run.run_dir, "progress.jsonl").touch()
        reported.report(run, 1.2, phase="read", of=1)
        return run

    before = running()
    reported.report(before, *PANELS, phase="panel")
    reported.end(before)
    run, random_part = running(), random.Random(1)
    Run.objects.filter(pk=run.pk).update(started_at=timezone.now() - timezone.timedelta(seconds=400))
    reported.report(run, *[each * random_part.uniform(0.9, 1.2) for each in PANELS[:20]], phase="panel")
    tend_contracts()
    reported.report(run, *[each * random_part.uniform(4, 6) for each in PANELS[20:45]], phase="panel", first=21)
    ingest(run)
    tend_contracts()
    return run


def test_a_broken_contract_is_drawn_and_told(portal, slowed_down):
    portal.sign_in("user")
    portal.go(f"/jobs/{slowed_down.job_id}/")
    settled(portal)
    content = portal.page.locator("#job-live").inner_text()
    assert "It gets less than it was promised: 2.03 s were promised for each panel" in content
    assert "Calls to the rescheduler" in content
    names = portal.page.locator("#contract-chart .legendtext").all_text_contents()
    assert names == ["upper limit", "promised", "lower limit", "actual"]
    if folder := os.environ.get("SCREENSHOTS"):
        _look(portal.page, Path(folder))
    assert page_faults(portal) == []
    assert (portal.errors, portal.foreign) == ([], [])


def _look(page, folder: Path) -> None:
    for theme in ("light", "dark"):
        for width in (1280, 375):
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(1000)
            page.screenshot(path=folder / f"contract-{theme}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 800})
