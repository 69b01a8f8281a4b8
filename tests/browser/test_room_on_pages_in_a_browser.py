"""What has too little room shows only in a browser: the rail of an administrator, sentences in wide tables, legends."""

from __future__ import annotations

import pytest
from django.utils import timezone

from scheduling.jobs.services.registering import register_application
from tests.browser.conftest import settled
from tests.scheduling.rescheduling.proposals import propose

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

#: Whether the last of the rail is in the window, and whether it can be scrolled there.
_LAST_IN_SIGHT = """() => {
  const last = document.querySelector(".theme"), box = last.getBoundingClientRect();
  return box.height > 20 && box.bottom <= innerHeight;
}"""
#: The tables that are wider than their box.
_CUT = """() => [...document.querySelectorAll(".scroll")]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => `${box.scrollWidth} of ${box.clientWidth}`)"""
_SCROLL = "() => { const nav = document.querySelector('.rail nav'); nav.scrollTop = nav.scrollHeight; }"


def test_the_rail_of_an_administrator_fits_a_laptop(portal, people):
    portal.page.set_viewport_size({"width": 1280, "height": 800})
    portal.sign_in("administrator")
    portal.go("/jobs/")
    assert portal.page.locator(".rail >> text=Sign out").is_visible()
    assert portal.page.evaluate(_LAST_IN_SIGHT)


def test_in_a_low_window_the_rail_scrolls_by_itself(portal, people):
    portal.page.set_viewport_size({"width": 1280, "height": 400})
    portal.sign_in("administrator")
    portal.go("/jobs/")
    assert not portal.page.evaluate(_LAST_IN_SIGHT)
    portal.page.evaluate(_SCROLL)
    assert portal.page.evaluate(_LAST_IN_SIGHT)


def test_the_finding_of_a_decision_has_the_width_of_some_words(portal, people, make_job, network):
    job = make_job(people["user"], "running")
    register_application("tests", {"stop_means": {"by": "srs"}}, job.application)
    propose(job, nodes_now=["node-with-a-name-1"] * 2, nodes=["node-with-a-name-2"] * 2)
    portal.page.set_viewport_size({"width": 1280, "height": 800})
    portal.sign_in("user")
    for address in ("/migrations/?show=not-moved", f"/jobs/{job.pk}/"):
        portal.go(address)
        settled(portal)
        for box in portal.page.locator("th:text-is('Finding')").all():
            assert box.bounding_box()["width"] >= 180, address
    assert portal.page.locator("[aria-label='Decisions on moves'] th").all_inner_texts()[:2] == ["Decision", "State"]


def test_on_a_telephone_rows_of_wide_tables_are_cards(portal, people, make_job, network):
    job = make_job(people["user"], "succeeded", name="heat on the new links", node_count=8, ended_at=timezone.now())
    propose(job, state="verified", by="operator", nodes_now=["duo1", "quad12"], nodes=["duo3", "quad14"])
    portal.sign_in("operator")
    portal.page.set_viewport_size({"width": 375, "height": 800})
    boxes = {
        "/migrations/?show=moved": ".scroll[aria-label=Decisions]",
        "/topology/": "[aria-label=Links]",
        "/reports/people/": "[aria-label='By user']",
        "/reports/skeletons/": "[aria-label='Use by application']",
        f"/jobs/{job.pk}/": "[aria-label=Events]",
        "/jobs/": "#job-table .scroll",
    }
    for address, box in boxes.items():
        portal.go(address)
        settled(portal)
        assert portal.page.locator(box).evaluate("box => box.scrollWidth - box.clientWidth") == 0, address
        first = portal.page.locator(f"{box} tbody tr").first
        assert first.evaluate("row => getComputedStyle(row).display") == "flex", address
    assert portal.page.locator("td.title-of").first.bounding_box()["width"] > 250


def test_no_column_of_jobs_and_moves_is_cut_on_a_laptop(portal, people, make_job):
    portal.page.set_viewport_size({"width": 1280, "height": 800})
    for name in ("heat on the new links", "before the paper"):
        job = make_job(people["user"], "succeeded", name=name, node_count=8, ended_at=timezone.now())
        nodes = {"nodes_now": ["duo1", "quad12", "rack7-n11"], "nodes": ["duo3", "quad14", "rack8-n12"]}
        propose(job, state="verified", by="operator", why="The link of the old nodes is slow.", **nodes)
    portal.sign_in("operator")
    for address in ("/jobs/", "/jobs/?sort=-running", "/migrations/?show=moved", "/migrations/?show=moved&sort=gain"):
        portal.go(address)
        settled(portal)
        for theme in ("light", "dark"):
            portal.page.emulate_media(color_scheme=theme)
            assert portal.page.evaluate(_CUT) == [], (address, theme)
