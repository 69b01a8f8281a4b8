"""The tabs of the usage report, budgets, and reports by e-mail: both themes, wide and narrow, with their charts."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from scheduling.jobs.models import Job
from scheduling.jobs.project_models import Project
from scheduling.projects import budget_services
from scheduling.reports import schedule_services
from scheduling.usage.services.counting_use import count_use
from scheduling.workload_logs.core.synthetic_log import LogSize, synthetic_lines
from scheduling.workload_logs.services.reading_logs import read_log
from tests.browser.conftest import page_faults, settled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def month(people, network) -> Project:
    """A month of a log, with a project that has used most of its budget."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    read_log(synthetic_lines(LogSize(300, days=40, nodes=16), 3, int((today - timedelta(days=40)).timestamp())), "log")
    ocean = Project.objects.create(name="ocean-2026", description="Waves and currents.")
    ocean.members.add(people["user"])
    Job.objects.filter(pk__in=Job.objects.values_list("pk", flat=True)[:120]).update(project=ocean)
    count_use()
    day = timezone.now().date()
    values = {"begins": day - timedelta(days=35), "ends": day + timedelta(days=20), "when_used": "refuse"}
    budget_services.make_budget(people["manager"], ocean, values | {"node_hours": 60.0, "warn_at": 70}, "the grant")
    asked = {"name": "For the board", "every": "month", "tabs": ["people", "budgets"], "people": ["manager", "user"]}
    schedule_services.save_schedule(people["manager"], None, **asked)
    return ocean


ADDRESSES = {
    "people": "/reports/people/?since=30d",
    "programs": "/reports/programs/?since=30d&sort=-applications:jobs",
    "places": "/reports/places/?since=30d",
    "waiting": "/reports/waiting/?since=365d",
    "budgets": "/reports/budgets/",
    "skeletons": "/reports/skeletons/?since=30d",
    "by-mail": "/reports/by-mail/",
    "logs": "/reports/logs/",
    "log-remove": "/reports/logs/log/remove",
    "by-mail-new": "/reports/by-mail/new",
    "project": "/projects/ocean-2026/",
    "budget-new": "/projects/ocean-2026/budgets/new",
}


def test_reports_and_budgets_have_no_serious_faults(live_server, portal, month):
    portal.sign_in("administrator")
    faults = {}
    for name, address in ADDRESSES.items():
        assert portal.go(address).status == 200, address
        settled(portal)
        if folder := os.environ.get("SCREENSHOTS"):
            _look(portal.page, Path(folder), name)
        if bad := page_faults(portal):
            faults[name] = bad
    assert not faults
    assert (portal.errors, portal.foreign) == ([], [])


def _look(page, folder: Path, name: str) -> None:
    for theme in ("light", "dark"):
        for width in (1280, 375):
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(400)
            page.screenshot(path=folder / f"{name}-{theme}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 900})


def test_on_paper_a_chart_is_no_wider_than_its_page(live_server, portal, month):
    portal.sign_in("manager")
    portal.go("/reports/")
    page = portal.page
    page.wait_for_selector(".chart .main-svg")
    width = "Math.max(...[...document.querySelectorAll('.chart .main-svg')].map((each) => each.clientWidth))"
    shown = page.evaluate(width)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(f"() => {width} === 640")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_function(f"() => {width} === {shown}")
    assert shown > 640
