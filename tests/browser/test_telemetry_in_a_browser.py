"""The map, its slider, the pages of nodes and links: what only a browser can tell of them."""

from __future__ import annotations

import pytest
from django.utils import timezone

from monitoring.history.core.samples import Sample
from monitoring.telemetry.services.readings import record_readings
from tests.browser.conftest import settled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_node_is_found_on_the_map_with_its_facts(portal, jobs):
    portal.sign_in("user")
    portal.go("/topology/")
    settled(portal)
    page = portal.page
    page.locator("#find-node").fill("n3")
    page.keyboard.press("Enter")
    page.wait_for_selector("#map-detail a")
    assert "compute node" in page.locator("#map-detail").inner_text()
    page.locator("#find-node").fill("nowhere")
    page.keyboard.press("Enter")
    assert page.locator("[data-map-found].bad").inner_text() == "No node is called nowhere."
    assert not page.evaluate("document.getElementById('map-chart').layout.annotations.length")
    page.locator("#map-chart").evaluate("box => box.scrollIntoView({ block: 'center' })")
    spot = page.evaluate(
        """() => { const box = document.getElementById("map-chart"), { xaxis, yaxis } = box._fullLayout;
        const trace = box.data.find((one) => one.customdata?.includes("n4")), i = trace.customdata.indexOf("n4");
        const at = box.getBoundingClientRect();
        return [at.left + xaxis._offset + xaxis.l2p(trace.x[i]), at.top + yaxis._offset + yaxis.l2p(trace.y[i])]; }"""
    )
    page.mouse.click(*spot)
    page.wait_for_selector("#map-detail h2 >> text=n4")
    page.wait_for_url("**/topology/?find=n4")


def test_what_the_address_names_is_marked_and_stays_so_when_the_map_is_drawn_anew(portal, jobs):
    marks = "document.getElementById('map-chart').layout.annotations?.map((each) => each.text).join() === 'n4'"
    portal.sign_in("user")
    portal.go("/topology/?find=n4")
    page = portal.page
    page.wait_for_function(marks)
    page.get_by_role("button", name="Dark").click()
    page.wait_for_function("document.getElementById('map-chart').drawn.endsWith('dark')")
    settled(portal)
    page.wait_for_function(marks)
    page.get_by_role("button", name="Fit").click()
    assert page.evaluate(marks)


def test_a_link_in_the_address_is_told_beside_the_map(portal, jobs):
    portal.sign_in("user")
    portal.go("/topology/?find=n1>n2")
    portal.page.wait_for_selector("#map-detail h2 >> text=n1")
    assert "n2" in portal.page.locator("#map-detail h2").inner_text()
    assert not portal.page.locator("[data-map-found].bad").count()


def test_the_slider_goes_back_in_time_and_the_network_answers(portal, jobs):
    portal.sign_in("user")
    portal.go("/topology/?since=15m")
    settled(portal)
    page = portal.page
    row = page.locator("tr:has(#link-n1-n2) td").nth(2)
    assert row.inner_text() == "15.0"
    page.locator("#at-slider").focus()
    page.keyboard.press("Home")
    page.wait_for_selector(".live[data-state=past]")
    assert row.inner_text() == "—"
    assert "at=" in page.url
    assert "UTC" in page.locator("#at-text").inner_text()
    page.reload()
    settled(portal)
    assert page.locator("#at-slider").input_value() == "0"
    page.locator("[data-slider-now]").click()
    page.wait_for_selector(".live[data-state=live]")
    assert "at=" not in page.url
    for source, target in (("n1", "n2"), ("n3", "n4")):
        page.locator("#flow-from").fill(source)
        page.locator("#flow-to").fill(target)
        page.keyboard.press("Enter")
    page.locator("#flow-list").press("Enter")
    page.wait_for_selector("#flow-answer tbody tr >> nth=1")
    assert "Together the 2 flows would get" in page.locator("#flow-answer .find").inner_text()
    assert page.locator("#flow-answer a >> nth=0").inner_text() == "n1–n2"
    assert "flows=n1%3En2+n3%3En4" in page.url
    assert not portal.errors


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/topology/nodes/n1/?since=1h", "77 %"),
        pytest.param("/topology/links/n1/n2/?since=1h", "77.0 Mbit/s", marks=pytest.mark.slow),
    ],
)
def test_a_live_update_brings_new_figures_and_keeps_charts_and_open_tables(portal, jobs, address, words):
    portal.sign_in("user")
    portal.go(address)
    settled(portal)
    page = portal.page
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    charts = page.locator("main .main-svg").count()
    now = timezone.now().timestamp() + 1
    record_readings("grid", "probes", [Sample("n1>n2", "bandwidth", now, 77e6), Sample("n1", "cpu", now, 0.77)])
    page.evaluate("htmx.trigger(document.querySelector('[data-live]'), 'poll')")
    page.wait_for_function(f"() => document.querySelector('main').textContent.includes('{words}')")
    settled(portal)
    assert page.locator("main .main-svg").count() == charts
    assert page.locator("[data-live]").count() == 1
    assert page.evaluate("[...document.querySelectorAll('main details')].every((part) => part.open)")
    assert not portal.errors


def test_the_chart_has_no_button_that_sends_it_away(portal, jobs):
    portal.sign_in("user")
    portal.go("/topology/")
    settled(portal)
    titles = portal.page.evaluate("[...document.querySelectorAll('.modebar-btn')].map((b) => b.dataset.title)")
    assert sorted(titles) == ["Pan", "Reset axes", "Zoom", "Zoom in", "Zoom out"]


def test_what_was_asked_and_got_no_answer_is_told_beside_it_and_asked_again(portal, jobs):
    portal.leave_charts_out()
    portal.sign_in("user")
    portal.go("/topology/")
    page = portal.page
    asked = "**/topology/flows*"
    for answer, words in (
        (lambda route: route.abort(), "The portal does not answer."),
        (lambda route: route.fulfill(status=503, body=""), "The portal answered with error 503."),
    ):
        page.route(asked, answer)
        page.locator("#flow-list").fill("n1>n2")
        page.locator("#flow-list").press("Enter")
        note = page.wait_for_selector(f"#flow-answer + [role=alert]:has-text('{words}')")
        page.unroute(asked)
        note.query_selector("button").click()
        page.wait_for_selector("#flow-answer tbody tr")
        assert page.locator("[data-unanswered]").count() == 0
        page.evaluate("document.getElementById('flow-answer').replaceChildren()")
    assert not [line for line in portal.errors if "Failed to load resource" not in line]
