"""Requests in ClassAds in a browser: checked while one writes, kept and shared, used for a job, explained."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from scheduling.jobs.core.requirements import Requirements
from scheduling.matching.services.saving_requests import save_request
from tests.browser.conftest import page_faults, settled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def has(page, place: str, text: str) -> None:
    page.wait_for_function(
        "([place, text]) => document.querySelector(place).textContent.replace(/\\s+/g, ' ').includes(text)",
        arg=[place, text],
    )


def look(page, name: str) -> None:
    folder = os.environ.get("SCREENSHOTS")
    if not folder:
        return
    for theme, width in (("light", 1280), ("dark", 1280), ("light", 375)):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(500)
        page.screenshot(path=Path(folder) / f"{name}-{theme}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 800})


def test_a_request_is_checked_while_it_is_written_and_another_person_uses_it(portal, people, application, network):
    portal.sign_in("user")
    portal.go("/requests/new")
    page = portal.page
    page.fill("#id_text", "[\n requirements = other.cpu >= ) ]")
    has(page, "#match-check", "Request, line 2, column")
    page.fill("#id_text", "[ requirements = other.cpu >= 2 && other.bandwidth > 1 ]")
    has(page, "#match-check", "The smallest change: ask for >= 1 in other.cpu >= 2.")
    assert page_faults(portal) == []
    save_request(people["operator"], "half a node", "[ requirements = other.cpu >= 0.5 ]", shared=True)
    portal.go("/submit/")
    page.click("summary:has-text('A request in ClassAds')")
    page.click("a:has-text('half a node')")
    page.wait_for_load_state("load")
    assert page.input_value("#id_classad") == "[ requirements = other.cpu >= 0.5 ]"
    page.fill("#id_classad", "[ requirements = other.cpu >= 0.75 ]")
    has(page, "#classad-check", "of 5 nodes meet")
    page.fill("#id_classad", "[ requirements = other.cpu >= ( ]")
    has(page, "#classad-check", "line 1, column")
    assert portal.errors == []


def test_plain_fields_show_their_request_and_the_job_says_the_same_clauses(
    portal, people, make_job, application, network
):
    portal.sign_in("user")
    portal.go("/submit/")
    page = portal.page
    page.click("summary:has-text('Requirements, candidates, recording')")
    page.fill("#id_require", "speed>=9")
    has(page, "#preview", "other.speed >= 9")
    has(page, "#preview", "The smallest change: ask for >= 1 in other.speed >= 9.")
    has(page, "#preview", "The fields as a request in ClassAds")
    look(page, "preview-clauses")
    assert page_faults(portal) == []
    job = make_job(people["user"], "waiting", requirements=Requirements(require={"speed": ">=9"}))
    portal.go(f"/jobs/{job.pk}/")
    page.click("text=Which nodes meet each requirement now")
    page.wait_for_url("**/requirements/")
    settled(portal)
    assert "ask for >= 1 in other.speed >= 9" in page.locator("main").inner_text()
    look(page, "job-requirements")
    assert page_faults(portal) == []
    assert (portal.errors, portal.foreign) == ([], [])


def test_the_clauses_of_a_job_stand_beside_what_its_mapper_gives_or_why_it_fails(portal, people, make_job, network):
    portal.sign_in("user")
    text = '[ Type = "Set"; requirements = SetSize == 2; rank = Sum(other.cpu); Mapper = {} ]'
    for number, mapper in enumerate(('[ libraryname = "block"; total = 100 ]', '"nobody"')):
        job = make_job(people["user"], "waiting", node_count=2, classad=text.format(mapper))
        portal.go(f"/jobs/{job.pk}/requirements/")
        settled(portal)
        shown = portal.page.locator("main").inner_text()
        assert ("Order and shares by the mapper block." in shown) == (number == 0)
        assert ("The mapper nobody failed: LookupError" in shown) == (number == 1)
        look(portal.page, f"job-mapper-{number}")
        assert page_faults(portal) == []
    assert (portal.errors, portal.foreign) == ([], [])


def test_a_part_that_means_nothing_is_shown_in_its_line(portal, network):
    portal.sign_in("user")
    portal.go("/requests/new")
    page = portal.page
    page.fill("#id_text", '[ Type = "Set";\n requirements = Sum(other.cpu) > 1 || other.site == "utk" ]')
    has(page, "#match-check", "Request, line 2, column 39: other.site")
    look(page, "request-fault")
    page.fill("#id_text", '[ Type = "Set"; x = Avrg(1);\n requirements = other.cpu > 0.1; rank = Sum(other.cpu) ]')
    has(page, "#match-check", "there is no function Avrg")
    look(page, "request-warning")
    assert page_faults(portal) == []


def hold(held: list, route) -> None:
    held.append(route)


def test_an_answer_to_another_text_is_marked_at_once(portal, people, application, network):
    portal.sign_in("user")
    page = portal.page
    for address, text, part in (
        ("/requests/new", "#id_text", "#match-check"),
        ("/submit/?application=ep", "#id_classad", "#classad-check"),
    ):
        portal.go(address)
        if page.locator("summary:has-text('A request in ClassAds')").count():
            page.click("summary:has-text('A request in ClassAds')")
        page.fill(text, "[ requirements = other.cpu >= 0.25 ]")
        has(page, part, "of 5 nodes meet")
        page.wait_for_selector(f"{part}:not([data-old])")
        held = []
        page.route("**/requests/check", partial(hold, held))
        page.fill(text, "[ requirements = other.cpu >= 2 ]")
        assert page.locator(f"{part}[data-old] > .preview-old").inner_text() == "From before your last change"
        page.wait_for_timeout(800)
        for route in held:
            route.continue_()
        page.unroute("**/requests/check")
        has(page, part, "The smallest change: ask for >= 1 in other.cpu >= 2.")
        page.wait_for_selector(f"{part}:not([data-old])")
        assert page.locator(f"{part} > .preview-old").count() == 0
    assert portal.errors == []
