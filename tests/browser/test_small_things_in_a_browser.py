"""Small things that people meet every day: what an address keeps, where the focus is, a preview that is late, paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from monitoring.clusters.models import Node
from scheduling.jobs.models import Application
from tests.browser.conftest import page_faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PREVIEW = "**/submit/preview"


def values(held):
    """The bandwidth that each of these previews was asked for with."""
    return [re.findall(r"min_bandwidth=(\d+)", route.request.post_data) for route in held]


def form(watched):
    """The form, with its first preview and all of its parts open."""
    watched.sign_in("user")
    watched.go("/submit/?application=ep")
    watched.page.wait_for_selector("#preview h2")
    watched.page.evaluate("for (const part of document.querySelectorAll('#submit-form details')) part.open = true")
    return watched


@pytest.fixture
def submit_page(portal, application, network):
    return form(portal)


def test_a_found_node_stays_in_the_address(portal, people, network):
    portal.sign_in("user")
    portal.go("/topology/")
    page = portal.page
    page.wait_for_selector("#map-chart .main-svg")
    page.locator("#find-node").fill("n3")
    page.keyboard.press("Enter")
    page.wait_for_url("**/topology/?find=n3")
    page.reload()
    page.wait_for_selector("#map-detail h2 >> text=n3")
    page.locator("#find-node").fill("n1>n3")
    page.keyboard.press("Enter")
    marks = "document.getElementById('map-chart').layout.annotations"
    page.wait_for_function(f"() => {marks}[0]?.text === 'n1–n3'")
    page.wait_for_selector("#map-detail h2 >> text=n3–n1")  # as the worse direction of the pair is called
    page.locator("#find-node").fill("N1 > n1")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-map-found].bad >> text=No link is called n1>n1.")
    page.locator("#find-node").fill("")
    page.wait_for_url(lambda url: "find" not in url)
    assert not portal.errors


def test_of_several_nodes_that_fit_enter_shows_one_after_the_other_in_view(portal, people, network):
    portal.sign_in("user")
    portal.go("/topology/")
    page = portal.page
    page.wait_for_selector("#map-chart .main-svg")
    page.locator("#find-node").fill("n")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-map-found] >> text=/1 of [0-9]+ nodes that fit. Press Enter for the next one./")
    first = page.evaluate("new URL(location).searchParams.get('find')")
    far = "Plotly.relayout('map-chart', {'xaxis.range': [1000, 1001], 'yaxis.range': [1000, 1001]})"
    page.evaluate(far)
    page.locator("#find-node").press("Enter")
    page.wait_for_selector("[data-map-found] >> text=/2 of [0-9]+ nodes/")
    assert page.evaluate("new URL(location).searchParams.get('find')") != first
    page.wait_for_function("document.getElementById('map-chart').layout.xaxis.range[0] < 1000")
    assert not page.locator("[data-map-found].bad").count()
    assert not portal.errors


def test_on_a_telephone_the_menu_opens_and_closes_by_the_keyboard(portal, people):
    portal.sign_in("operator")
    page = portal.page
    page.set_viewport_size({"width": 375, "height": 700})
    portal.go("/jobs/")
    menu, audit = page.get_by_role("button", name="Menu"), page.get_by_role("link", name="Audit")
    assert not audit.is_visible()
    menu.press("Enter")
    audit.focus()
    page.keyboard.press("Escape")
    assert not audit.is_visible()
    assert menu.evaluate("button => button === document.activeElement")
    menu.click()
    audit.click()
    page.wait_for_url("**/audit/")
    page.set_viewport_size({"width": 1280, "height": 700})
    assert page.get_by_role("link", name="Telemetry").is_visible()
    assert not menu.is_visible()


@pytest.mark.parametrize(
    "address", ["/reports/skeletons/", pytest.param("/topology/?cluster=grid", marks=pytest.mark.slow)]
)
def test_from_and_to_are_in_the_address(portal, people, network, address):
    portal.sign_in("user")
    portal.go(address)
    page = portal.page
    page.get_by_text("from – to").click()
    page.locator("#id_start").fill("2026-01-02T00:00:00")
    page.locator("#id_until").fill("2026-01-01T00:00:00")
    page.locator("#id_until").press("Enter")
    page.wait_for_url("**start=2026-01-02*until=2026-01-01*")
    page.get_by_text("2026-01-02 00:00:00 UTC is after To.").wait_for()
    assert page.locator("#id_start").input_value().startswith("2026-01-02T00:00")


@pytest.mark.parametrize("many", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_focus_stays_on_the_application_that_was_chosen(portal, application, network, many):
    for number in range(7 if many else 1):
        Application.objects.create(slug=f"other-{number}", name=f"Other {number}", command=["true"])
    portal.sign_in("user")
    portal.go("/submit/?application=ep")
    page = portal.page
    if many:
        page.locator("#id_application").select_option("other-0")
    else:
        page.locator("nav[aria-label=Application] a >> text=Other 0").press("Enter")
    page.wait_for_url("**/submit/?application=other-0")
    page.wait_for_selector("#preview h2")
    focus = page.evaluate("document.activeElement.value || document.activeElement.innerText")
    assert focus == ("other-0" if many else "Other 0")


def test_fast_typing_asks_for_the_newest_preview_alone_and_logs_nothing(submit_page):
    page = submit_page.page
    held = []
    page.route(PREVIEW, lambda route: held.append(route))  # Playwright marks the function
    for text in ("1", "12", "123"):
        page.locator("#id_min_bandwidth").fill(text)
        page.wait_for_timeout(450)
    page.wait_for_function("() => document.querySelector('#preview').getAttribute('aria-busy') === 'true'")
    assert values(held) == [["1"]]
    assert page.locator("#preview .preview-old").is_visible()
    held[0].continue_()
    while len(held) < 2:
        page.wait_for_timeout(20)
    assert values(held) == [["1"], ["123"]]
    assert page.locator("#preview .preview-old").is_visible()
    held[1].continue_()
    page.wait_for_selector("#preview[aria-busy=false]")
    assert page.locator("#preview .preview-old").count() == 0
    assert not submit_page.errors


def test_a_late_preview_says_so_and_can_be_asked_for_again(live_server, open_page, people, application, network):
    submit_page = form(open_page(live_server.url, own=True))
    page = submit_page.page
    held = []
    page.route(PREVIEW, lambda route: held.append(route))  # Playwright marks the function
    page.clock.install()
    page.locator("#id_min_bandwidth").fill("1")
    page.clock.fast_forward(2000)
    page.clock.fast_forward(2000)
    page.get_by_text("The nodes are still being chosen.").wait_for()
    assert page.get_by_role("progressbar").is_visible()
    page.clock.fast_forward(8000)
    page.unroute(PREVIEW)
    page.get_by_role("button", name="Try again").press("Enter")
    page.wait_for_selector("#preview[aria-busy=false]")
    assert page.locator("[data-preview-state]").inner_text() == ""
    assert len(held) == 1
    assert not submit_page.errors


def test_a_preview_that_fails_says_why_and_can_be_asked_for_again(submit_page):
    page = submit_page.page
    page.route(PREVIEW, lambda route: route.fulfill(status=500, body=""))
    page.locator("#id_min_bandwidth").fill("1")
    page.get_by_text("There is no preview: the portal answered with error 500.").wait_for()
    assert page.locator("#preview[data-old] .preview-old").inner_text() == "From before your last change"
    assert page.locator("#preview > *").first.evaluate("part => getComputedStyle(part).opacity") == "0.6"
    page.unroute(PREVIEW)
    page.get_by_role("button", name="Try again").click()
    page.wait_for_function("() => !document.querySelector('[data-preview-state]').textContent")
    page.wait_for_selector("#preview:not([data-old])")
    assert page.locator(".preview-old").count() == 0


#: What changes its colours slowly.
_FADES = """() => [...document.querySelectorAll("#swagger-ui *")]
  .filter((each) => /[1-9]/.test(getComputedStyle(each).transitionDuration)).map((each) => each.className)"""


def test_the_rest_api_is_described_in_the_look_of_the_portal(portal, people, network):
    portal.sign_in("user")
    portal.go("/api/docs")
    page = portal.page
    assert page.title() == "REST API · GridPortal"
    page.locator("#operations[role=group]").wait_for()
    assert page.locator("main").count() == 1
    assert page.evaluate(_FADES) == []  # another theme is there at once, and axe never looks at half of it
    page.locator("#operations-announcements-announcements_create .opblock-summary-control").press("Enter")
    page.locator("#operations-announcements-announcements_create").get_by_role("button", name="Try it out").click()
    page.locator("#operations-announcements-announcements_create textarea").wait_for()
    # Two hundred operations look alike: to look at all of them takes ten times as long.
    page.evaluate(
        """() => { for (const part of document.querySelectorAll(".opblock-tag-section"))
        if (!part.querySelector("#operations-announcements-announcements_create")) part.remove(); }"""
    )
    assert page_faults(portal) == []
    page.get_by_role("button", name="Dark").click()
    page.wait_for_selector("html.dark-mode")
    assert not portal.errors
    assert not portal.foreign


@pytest.mark.parametrize(
    "address",
    ["/submit/?application=ep", *(pytest.param(each, marks=pytest.mark.slow) for each in ("/jobs/", "/audit/"))],
)
def test_the_texts_of_selects_are_whole(portal, application, network, address):
    Application.objects.filter(pk=application.pk).update(name="Sparse matrix with a name of some length")
    portal.sign_in("administrator")
    portal.go(address)
    portal.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    cut = portal.page.evaluate(
        """() => [...document.querySelectorAll("select")].filter((select) => {
          const style = getComputedStyle(select), pen = document.createElement("canvas").getContext("2d");
          pen.font = style.font;
          const widths = [...select.options].map((option) => pen.measureText(option.label).width);
          const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
          return select.offsetWidth && Math.max(...widths) > room;
        }).map((select) => select.name)"""
    )
    if "/submit/" in address:  # its preview is answered before the next test empties the database
        portal.page.wait_for_load_state("networkidle")
    assert cut == []


def test_a_job_is_printed_on_four_pages_at_most(portal, people, make_job, network):
    Node.objects.bulk_create(Node(cluster=network, name=f"n{i}", position=i) for i in range(6, 65))
    job = make_job(people["user"], "succeeded", node_count=64)
    log = Path(job.runs.get().run_dir) / "output.log"
    log.write_text("".join(f"line {number} of a long log\n" for number in range(5000)), encoding="utf-8")
    portal.sign_in("user")
    portal.go(f"/jobs/{job.pk}/")
    portal.page.wait_for_function("() => document.getElementById('log').textContent.includes('line 4999')")
    pages = re.findall(rb"/Type\s*/Page\b", portal.page.pdf(format="A4"))
    assert 1 <= len(pages) <= 4


def test_a_page_of_the_browser_that_was_used_is_as_empty_as_a_new_one(live_server, pages_of_browser, people):
    """What `open_page` answers."""
    options = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
    first = pages_of_browser.take(options, live_server.url)
    first.sign_in("user")
    first.go("/help/")
    first.page.evaluate("localStorage.left = sessionStorage.left = 'something'")
    first.page.emulate_media(color_scheme="dark", media="print")
    first.page.set_viewport_size({"width": 375, "height": 700})
    first.page.route("**/help/", lambda route: route.abort())
    pages_of_browser.put_back(options, first)
    second = pages_of_browser.take(options, live_server.url)
    assert second.page is first.page
    assert second.go("/help/").status == 200
    assert second.page.context.cookies() == []
    assert second.page.evaluate("[localStorage.left, sessionStorage.left, innerWidth]") == [None, None, 1280]
    for media in ("print", "(prefers-color-scheme: dark)", "(prefers-reduced-motion: no-preference)"):
        assert not second.page.evaluate(f"matchMedia('{media}').matches"), media
    pages_of_browser.put_back(options, second)


def test_cards_are_sorted_with_the_keyboard_and_without_script(live_server, people, make_job, open_page):
    jobs = [make_job(people["user"], "succeeded", name=name) for name in ("beta", "alpha", "gamma")]
    portal = open_page(live_server.url, width=375, java_script_enabled=False)
    portal.sign_in("user")
    page = portal.page
    portal.go("/jobs/?state=succeeded")
    page.get_by_label("Sort by").focus()
    page.keyboard.type("Name, d")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=-name*")
    assert "state=succeeded" in page.url
    named = sorted(jobs, key=lambda job: job.name, reverse=True)
    shown = page.locator("tbody tr td.title-of, tbody tr td:has-text('a')").all_inner_texts()
    order = [name for text in shown for name in ("alpha", "beta", "gamma") if name in text]
    assert list(dict.fromkeys(order)) == [job.name for job in named]
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.get_by_label("Sort by").is_hidden()
