"""The page of maintenance and announcements, and the lines on top of all pages: both themes, wide and narrow."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scheduling.maintenance.models import MaintenanceWindow
from tests.browser.conftest import page_faults
from tests.browser.test_notices_in_a_browser import _keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_maintenance_is_planned_and_announced(live_server, portal, network):
    portal.sign_in("administrator")
    page = portal.page
    portal.go("/maintenance/")
    window, say = (page.locator(f"form[action='/maintenance/{part}']") for part in ("windows", "announcements"))
    for label, hours in (("From, UTC", 1), ("To, UTC", 3)):
        window.get_by_label(label).fill(f"{timezone.now() + timedelta(hours=hours):%Y-%m-%dT%H:%M}")
    window.get_by_label("Nodes").fill("n1 n2")
    window.get_by_label("What people are told").fill("new disks")
    window.get_by_role("button", name="Plan it").click()
    page.get_by_text("No job is placed that could run into it").wait_for()
    assert MaintenanceWindow.objects.get().nodes == ["n1", "n2"]
    say.get_by_label("Announcement").fill("The licence of the compiler ends on Friday.")
    say.get_by_label("Looks like a").select_option("warning")
    say.get_by_role("button", name="Announce it").click()
    page.get_by_role("link", name="The announcement").wait_for()
    portal.go("/maintenance/")
    assert page_faults(portal) == []
    _keep(page, "/maintenance/")
    portal.go("/jobs/")
    page.get_by_text("The licence of the compiler ends on Friday.").wait_for()
    page.get_by_text("of n1 and n2 of grid").wait_for()
    assert page_faults(portal) == []
    page.get_by_role("button", name="Put away: The licence of the compiler").click()
    page.get_by_text("The licence of the compiler ends on Friday.").wait_for(state="detached")
    portal.go("/jobs/")
    assert page.get_by_text("The licence of the compiler ends on Friday.").count() == 0
    portal.go("/maintenance/")
    page.get_by_role("button", name="Take back").click()
    page.get_by_role("dialog", name="Take back the maintenance of n1 n2 of grid?").wait_for()
    page.keyboard.press("Escape")
    assert MaintenanceWindow.objects.exists()
    assert portal.errors == []
    assert portal.foreign == []
