"""The page of notices and of what one is told: both themes, wide and narrow, read and chosen with a click."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scheduling.jobs.core.states import JobState
from scheduling.jobs.services.advance import advance
from scheduling.notices import selectors
from scheduling.notices.models import Delivery, Notice
from scheduling.notices.services import writing_notices
from tests.browser.conftest import page_faults
from tests.scheduling.rescheduling.proposals import propose

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def told(people, make_job, jobs):
    """An operator who was told of a failure by three ways, and of a proposal."""
    mine = make_job(people["operator"], "running", name="a job with quite a long name, as people give them")
    advance(mine, JobState.FAILED, reason=jobs["failed"].reason)
    writing_notices.write_notices()
    notice = Notice.objects.get()
    Delivery.objects.create(notice=notice, channel="email", state="sent", attempts=1)
    why = "hooks.example answered with status 404."
    Delivery.objects.create(notice=notice, channel="webhook", state="given up", attempts=1, error=why)
    writing_notices.tell_of_proposal(propose(jobs["running"]))
    return mine


def test_notices_are_read_and_chosen_in_both_themes_and_on_a_narrow_page(live_server, told, portal, people):
    portal.sign_in("operator")
    page = portal.page
    for path in ("/notices/", "/notices/settings"):
        portal.go(path)
        assert page_faults(portal) == [], path
        _keep(page, path)
    page.emulate_media(color_scheme="light")
    portal.go("/notices/")
    assert page.locator("[data-count]").inner_text() == "2"
    page.get_by_role("button", name=f"Mark as read: Job {told.pk}").click()
    page.wait_for_function("document.querySelector('[data-count]').textContent.trim() === '1'")
    portal.go("/notices/settings")
    page.get_by_label("A job starts: page").check()
    page.get_by_role("button", name="Save these choices").click()
    page.get_by_text("come from now on as it is chosen here").wait_for()
    assert "started" in selectors.settings_of(people["operator"]).page
    assert portal.errors == []
    assert portal.foreign == []


def _keep(page, path):
    """Pictures for whoever wants to look, where SCREENSHOTS names a folder."""
    if not (folder := os.environ.get("SCREENSHOTS")):
        return
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for width in (1280, 375):
            page.set_viewport_size({"width": width, "height": 800})
            place = path.partition("?")[0].strip("/").replace("/", "-")
            name = f"{place}-{theme}-{width}.png"
            page.screenshot(path=Path(folder, name), full_page=True)
    page.set_viewport_size({"width": 1280, "height": 800})
