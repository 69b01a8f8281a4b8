"""What has too little room shows only in a browser: the rail of an administrator, sentences in wide tables, legends."""

from __future__ import annotations

import pytest

from scheduling.jobs.services.registering import register_application
from tests.browser.conftest import settled
from tests.scheduling.rescheduling.proposals import propose

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

#: Whether the last of the rail is in the window, and whether it can be scrolled there.
_LAST_IN_SIGHT = """() => {
  const last = document.querySelector(".theme"), box = last.getBoundingClientRect();
  return box.height > 20 && box.bottom <= innerHeight;
}"""
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
    for address in (f"/jobs/{job.pk}/", "/migrations/?show=not-moved"):
        portal.go(address)
        settled(portal)
        for box in portal.page.locator("th:text-is('Finding')").all():
            assert box.bounding_box()["width"] >= 180, address
    portal.go(f"/jobs/{job.pk}/")
    assert portal.page.locator("[aria-label='Decisions on moves'] th").all_inner_texts()[:2] == ["Decision", "State"]
