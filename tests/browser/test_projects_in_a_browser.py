"""The pages of projects: both themes, wide and narrow."""

from __future__ import annotations

import pytest

from scheduling.jobs.project_models import Project
from tests.browser.conftest import page_faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_project_is_made_and_looked_at(live_server, portal, network):
    portal.sign_in("administrator")
    page = portal.page
    portal.go("/projects/new")
    page.get_by_label("Name").fill("ocean-2026")
    page.get_by_label("What it is for").fill("Waves and currents in the North Sea.")
    page.get_by_label("Members").fill("user, other")
    assert page_faults(portal) == []
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Project ocean-2026").wait_for()
    assert Project.objects.get().members.count() == 2
    assert page_faults(portal) == []
    portal.go("/projects/")
    assert page_faults(portal) == []
    assert portal.errors == []
