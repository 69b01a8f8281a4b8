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
    for path in ("/people/", "/settings/"):
        portal.go(path)
        assert page_faults(portal) == [], path
        _keep(page, path)
    assert portal.errors == []
    assert portal.foreign == []
