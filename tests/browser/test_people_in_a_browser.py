"""The pages of people and settings: both themes, wide and narrow."""

from __future__ import annotations

import pytest

from gridportal.accounts.models import User
from tests.browser.conftest import page_faults
from tests.browser.test_notices_in_a_browser import _keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_somebody_is_invited_and_given_a_role(live_server, portal, network):
    portal.sign_in("administrator")
    page = portal.page
    portal.go("/people/")
    page.get_by_label("Username").fill("ada")
    page.get_by_role("button", name="Invite").click()
    page.locator("#first-password").wait_for()
    page.get_by_label("Role of ada").select_option("operator")
    page.get_by_role("button", name="Change to this role: ada").click()
    page.get_by_text("has the role operator now").wait_for()
    assert User.objects.get(username="ada").role == "operator"
    page.get_by_role("button", name="Switch ada off").click()
    dialog = page.get_by_role("dialog", name="Switch off ada?")
    dialog.get_by_text("API tokens are revoked for good").wait_for()
    assert page_faults(portal) == []
    dialog.get_by_role("button", name="Go back").click()
    assert User.objects.get(username="ada").is_active
    page.get_by_role("button", name="Switch ada off").press("Enter")
    dialog.get_by_role("button", name="Switch off ada").click()
    page.get_by_text("is switched off. Sessions have ended").wait_for()
    assert not User.objects.get(username="ada").is_active
    for path in ("/people/", "/settings/"):
        portal.go(path)
        assert page_faults(portal) == [], path
        _keep(page, path)
    assert portal.errors == []
    assert portal.foreign == []


def test_groups_clusters_and_saved_views_look_right(live_server, portal, jobs, people):
    portal.sign_in("administrator")
    page = portal.page
    portal.go("/groups/")
    page.get_by_label("Name").fill("physics")
    page.get_by_role("button", name="Make group").click()
    page.get_by_label("User names").fill("user other")
    page.get_by_role("button", name="Add them").click()
    page.get_by_text("2 people.").wait_for()
    page.get_by_label("Role that it gives").select_option("operator")
    page.get_by_role("button", name="Change").click()
    page.get_by_text("Its members have at least the role operator.").wait_for()
    portal.go("/jobs/?state=failed")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Cluster").check()
    page.get_by_label("Chosen", exact=True).uncheck()
    page.get_by_role("button", name="Show these").click()
    page.get_by_role("columnheader", name="Cluster").wait_for()
    page.get_by_text("Save this view").first.click()
    page.get_by_role("textbox", name="Name", exact=True).fill("Failed ones")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Failed ones").first.wait_for()
    assert "state=failed" in page.url
    page.get_by_text("Columns", exact=True).click()
    page.get_by_text("Save this view").first.click()
    group = f"/groups/{people['user'].groups.exclude(name='user').get().pk}/"
    pages = (None, "/saved-views/", "/groups/", group, "/clusters/", "/clusters/grid/")
    for path in (*pages, "/reports/places/", "/sweeps/", "/alerts/?show=all", "/notices/?kind=failed"):
        if path:
            portal.go(path)
        for name in ("Columns", "Save this view"):
            if page.get_by_text(name, exact=True).count():
                page.get_by_text(name, exact=True).first.click()
        assert page_faults(portal) == [], path
        _keep(page, path or "/jobs/view")
    assert portal.errors == []
    assert portal.foreign == []


def test_views_and_columns_work_without_script(live_server, people, jobs, open_page):
    portal = open_page(live_server.url, width=375, java_script_enabled=False)
    portal.sign_in("user")
    page = portal.page
    portal.go("/jobs/?state=failed")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Ranks").uncheck()
    page.get_by_role("button", name="Show these").click()
    assert page.get_by_role("columnheader", name="Ranks").count() == 0
    page.get_by_text("Save this view").first.click()
    page.get_by_role("textbox", name="Name", exact=True).fill("Failed")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Rename or remove").click()
    page.get_by_role("button", name="Remove Failed").click()
    page.get_by_text("You have saved no view yet").wait_for()
