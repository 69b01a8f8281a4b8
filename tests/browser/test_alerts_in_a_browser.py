"""The pages of alerts: both themes, wide and narrow; a rule is made and what it finds is seen on the chart."""

from __future__ import annotations

import pytest

from scheduling.alerts.models import AlertRule
from scheduling.alerts.services.judging_rules import judge_rules
from tests.browser.conftest import page_faults, settled
from tests.browser.test_notices_in_a_browser import _keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_rule_is_made_and_its_alert_is_on_the_chart(live_server, portal, network):
    portal.sign_in("operator")
    page = portal.page
    portal.go("/alerts/")
    page.get_by_role("link", name="Make the first rule").click()
    page.get_by_label("Name").fill("A busy link")
    page.get_by_label("What is watched").select_option("memory_free")
    assert page.locator("#id_level_unit").inner_text() == "GB"
    page.get_by_label("What is watched").select_option("link_use")
    assert page.locator("#id_level_unit").inner_text() == "%"
    page.get_by_label("Level", exact=True).fill("80")
    page.get_by_label("It ends at").fill("70")
    page.get_by_role("button", name="Make the rule").click()
    page.get_by_role("link", name="The rule A busy link").wait_for()
    judge_rules()
    rule = AlertRule.objects.get()
    for path in ("/alerts/", f"/alerts/rules/{rule.pk}/", "/alerts/rules/new", "/topology/links/n1/n2/"):
        portal.go(path)
        settled(portal)
        assert page_faults(portal) == [], path
        _keep(page, path)
    page.get_by_role("link", name="A busy link").first.wait_for()
    assert portal.errors == []
    assert portal.foreign == []
