"""What only a browser can tell: keyboard, live parts, themes, widths, accessibility; that nothing leaves the host."""

from __future__ import annotations

import os
import re
import threading
from datetime import timedelta
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from django.core.wsgi import get_wsgi_application
from django.utils import timezone

from gridportal.base.reasons import text_reason
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job, JobEvent
from tests.browser.conftest import page_faults, settled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


#: One of each template; `running` and `failed` are the numbers of jobs.
PAGES = [
    *("/jobs/", "/submit/?application=ep", "/topology/", "/topology/nodes/n1/", "/topology/links/n1/n2/"),
    *("/applications/", "/applications/ep/", "/applications/ep/profile", "/applications/new", "/help/", "/account/"),
    *("/audit/", "/telemetry/", "/jobs/{running}/", "/jobs/{running}/runs/1/"),
]
#: The same with other rows, or with more in the address.
VARIANTS = [
    *("/jobs/?q=nothing-like-it", "/jobs/{failed}/", "/topology/?job={running}", "/topology/?at=2001-01-01T00:00:00Z"),
    *("/topology/?flows=n1>n2%20n3>n2", "/topology/?flows=x"),
]


@pytest.mark.parametrize("addresses", [PAGES, pytest.param(VARIANTS, marks=pytest.mark.slow)], ids=["one", "variants"])
def test_no_page_has_serious_faults_scrolls_sideways_or_asks_another_host(live_server, open_page, jobs, addresses):
    Job.objects.filter(pk=jobs["running"].pk).update(name="x" * 120)
    watched = open_page(live_server.url)
    watched.sign_in("administrator")
    faults = {}
    for address in (each.format(running=jobs["running"].pk, failed=jobs["failed"].pk) for each in addresses):
        assert watched.go(address).status == 200, address
        settled(watched)
        if bad := page_faults(watched):
            faults[address] = bad
    assert not faults
    assert not watched.errors
    assert not watched.foreign


def test_a_job_is_submitted_with_the_keyboard_and_followed_live(portal, application, network):
    portal.sign_in_with_keyboard("user")
    page = portal.page
    page.keyboard.type("gs")
    page.wait_for_selector("#preview pre")
    page.locator("#id_param-seed").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("77")
    page.wait_for_function("() => document.querySelector('#preview-script')?.textContent.includes('77')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/*/")
    job = Job.objects.get()
    assert job.parameters["seed"] == 77
    assert "is submitted" in page.locator("[role=status] .toast").inner_text()
    page.evaluate("window.stays = true; getSelection().selectAllChildren(document.querySelector('h1'))")
    for state in (JobState.PLACING, JobState.WAITING):
        Job.objects.filter(pk=job.pk).update(state=state, reason=text_reason(f"It is {state} for a reason."))
        page.wait_for_function(f"() => document.querySelector('.title .state').textContent.includes('{state}')")
    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED, ended_at=timezone.now())
    page.wait_for_selector(".live[data-state=ended]")
    assert page.evaluate("window.stays") is True
    assert page.evaluate("getSelection().toString()").startswith("NAS EP, 4 ranks on")
    assert not page.locator("#cancel").count()
    assert not portal.errors


def test_cancelling_asks_first_and_esc_keeps_the_job(portal, people, jobs):
    portal.leave_charts_out()
    portal.sign_in("user")
    portal.go(f"/jobs/{jobs['running'].pk}/")
    page = portal.page
    page.locator("#cancel").focus()
    page.keyboard.press("Enter")
    dialog = page.locator("#cancel-dialog")
    assert f"Cancel job {jobs['running'].pk}" in dialog.inner_text()
    page.wait_for_timeout(2500)  # a live update goes by, and the dialog stays open
    assert dialog.is_visible()
    # The next one has to move it: something that stood before it is no more.
    page.evaluate("document.querySelector('#cancel-dialog').before(document.createElement('hr'))")
    page.evaluate(
        "document.querySelector('#cancel-dialog').parentNode.insertBefore("
        "Object.assign(document.createElement('p'), {id: 'gone'}), document.querySelector('#cancel-dialog'))"
    )
    page.wait_for_function("() => !document.querySelector('#gone')")
    assert page.evaluate("document.querySelector('#cancel-dialog').matches(':modal')"), "it is over the page"
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert Job.objects.get(pk=jobs["running"].pk).state == "running"


@pytest.mark.parametrize("of", ["", pytest.param("runs/1/", marks=pytest.mark.slow)])
def test_the_title_names_the_job_and_the_log_grows_without_a_reload_and_can_be_searched(portal, jobs, of):
    run = jobs["running"].runs.get()
    portal.leave_charts_out()
    portal.sign_in("user")
    portal.go(f"/jobs/{jobs['running'].pk}/{of}")
    page = portal.page
    assert f"ob {jobs['running'].pk} · " in page.title()
    assert "first" in page.title()
    page.wait_for_selector("#log")
    with open(f"{run.run_dir}/output.log", "a", encoding="utf-8") as log:
        log.write("fourth line\n")
    page.wait_for_function("() => document.querySelector('#log').textContent.includes('fourth line')")
    page.locator("#log-search").fill("LINE")
    assert page.locator("#log mark").count() == 4
    page.locator("#log-search").press("Enter")
    assert "1 of 4" in page.locator("[data-log-found]").inner_text()


def test_live_updates_pause_and_resume(portal, jobs):
    portal.leave_charts_out()
    portal.sign_in("user")
    portal.go(f"/jobs/{jobs['running'].pk}/")
    page = portal.page
    page.locator("[data-live-pause]").click()
    page.wait_for_selector(".live[data-state=paused]")
    Job.objects.filter(pk=jobs["running"].pk).update(name="renamed")
    page.wait_for_timeout(3000)
    assert "renamed" not in page.locator("h1").inner_text()
    page.locator("[data-live-pause]").click()
    page.wait_for_function("() => document.querySelector('h1').textContent.includes('renamed')")


def test_a_paused_page_follows_no_log_until_it_goes_on(portal, jobs):
    portal.leave_charts_out()
    portal.sign_in("user")
    job = jobs["running"]
    portal.go(f"/jobs/{job.pk}/")
    page = portal.page
    page.wait_for_selector("#log")
    page.locator("[data-live-pause]").click()
    with open(f"{job.runs.get().run_dir}/output.log", "a", encoding="utf-8") as log:
        log.write("while it paused\n")
    page.wait_for_timeout(3000)
    assert "while it paused" not in page.locator("#log").inner_text()
    page.locator("[data-live-pause]").click()
    page.wait_for_function("() => document.querySelector('#log').textContent.includes('while it paused')")


def test_live_updates_come_where_a_script_of_the_page_is_late(portal, jobs):
    """A slow machine reads a page's large scripts for seconds: the first polls come before htmx listens."""
    portal.sign_in("user")
    page = portal.page
    held = []
    page.route("**/vendor/plotly/*", lambda route: held.append(route))  # a built-in cannot be marked
    page.goto(f"{portal.base}/jobs/{jobs['running'].pk}/", wait_until="commit")
    page.wait_for_selector(".live")
    page.wait_for_timeout(3000)
    Job.objects.filter(pk=jobs["running"].pk).update(name="renamed")
    held[0].fulfill(body="", content_type="text/javascript")
    page.wait_for_function("() => document.querySelector('h1').textContent.includes('renamed')")


class Quiet(WSGIRequestHandler):
    """Writes no access log."""

    def log_message(self, *_):
        """Nothing."""


class Stoppable:
    """The portal on a port of its own that can be stopped and started again."""

    def __init__(self) -> None:
        self.port = 0
        self.server = None

    def start(self) -> str:
        self.server = make_server("127.0.0.1", self.port, get_wsgi_application(), handler_class=Quiet)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)


def test_the_live_mark_says_stale_when_the_server_stops_and_recovers_alone(live_server, open_page, people, jobs):
    # live_server shares its in-memory database between threads, which the second server then uses too.
    served = Stoppable()
    watched = open_page(served.start(), own=True)
    page = watched.page
    try:
        watched.sign_in("user")
        page.route(
            "**/static/**", lambda route: route.continue_(url=route.request.url.replace(watched.base, live_server.url))
        )
        watched.go(f"/jobs/{jobs['running'].pk}/")
        page.wait_for_selector(".live[data-state=live]")
        served.stop()
        page.wait_for_selector(".live[data-state=stale]")
        assert page.locator(".live .live-label").inner_text() == "stale, retrying"
        assert not [line for line in watched.errors if "htmx:" in line]
        served.start()
        page.wait_for_selector(".live[data-state=live]")
    finally:
        served.stop()


def test_the_theme_is_remembered_and_charts_follow_it(live_server, open_page, jobs):
    watched = open_page(live_server.url, color_scheme="light")
    watched.sign_in("user")
    watched.go(f"/jobs/{jobs['running'].pk}/")
    settled(watched)
    page = watched.page
    ink = "getComputedStyle(document.querySelector('#phase-chart .xtick text')).fill"
    before = page.evaluate(ink)
    page.get_by_role("button", name="Dark").click()
    page.wait_for_function(f"() => {ink} !== '{before}'")
    watched.go("/help/")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"


def test_the_theme_survives_a_visit_to_the_administration(live_server, open_page, jobs):
    watched = open_page(live_server.url, color_scheme="dark")
    watched.sign_in("administrator")
    watched.go("/admin/")  # keeps a theme of its own under the same name
    watched.go("/help/")
    assert watched.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert watched.page.get_by_role("button", name="Auto").get_attribute("aria-pressed") == "true"
    assert not watched.errors


def test_the_head_of_the_list_stays_in_sight(portal, people, make_job):
    for _ in range(50):
        make_job(people["user"])
    portal.sign_in("user")
    portal.go("/jobs/")
    gap = portal.page.evaluate(
        """() => { const box = document.querySelector(".sticky"); box.scrollTop = 300;
        const head = box.querySelector("th").getBoundingClientRect().top - box.getBoundingClientRect().top;
        return [box.scrollTop, head]; }"""
    )
    assert gap == [300, 0]


def test_paper_is_white_even_from_the_dark_theme(live_server, open_page, jobs):
    watched = open_page(live_server.url, color_scheme="dark")
    watched.leave_charts_out()
    watched.sign_in("user")
    watched.go(f"/jobs/{jobs['running'].pk}/")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert watched.page.evaluate(ground) != "rgb(255, 255, 255)"
    watched.page.emulate_media(media="print", color_scheme="dark")
    watched.page.wait_for_function(f"() => {ground} === 'rgb(255, 255, 255)'")
    watched.page.emulate_media(media="screen", color_scheme="dark")
    watched.page.wait_for_function(f"() => {ground} !== 'rgb(255, 255, 255)'")


def test_keys_open_the_list_of_shortcuts_and_the_search(portal, jobs):
    portal.sign_in("user")
    portal.go("/jobs/")
    page = portal.page
    page.keyboard.press("?")
    assert page.locator("#shortcuts").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#shortcuts").is_visible()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"


def test_keys_go_to_the_pages_that_the_list_of_shortcuts_names(portal, jobs):
    portal.sign_in("user")
    portal.go("/jobs/")
    page = portal.page
    for key, address in (("m", "/migrations/"), ("r", "/reports/people/"), ("j", "/jobs/")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**{address}")


def test_the_key_of_the_search_takes_the_one_that_the_page_has(portal, jobs):
    portal.sign_in("user")
    page = portal.page
    portal.go(f"/jobs/{jobs['running'].pk}/")
    page.wait_for_selector("#log-search")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "log-search"
    portal.go("/help/")
    page.keyboard.press("?")
    assert page.locator("#shortcuts dd", has_text="this list").is_visible()
    assert not page.locator("#shortcuts dd", has_text="search on this page").is_visible()


def test_the_address_of_a_filtered_list_has_no_empty_filter(portal, jobs):
    portal.sign_in("user")
    portal.go("/jobs/")
    page = portal.page
    page.select_option("#id_state", "failed")
    page.click("form[aria-label=Jobs] button:has-text('Filter')")
    page.wait_for_url("**/jobs/?*")
    assert page.url.endswith("/jobs/?state=failed")


def test_a_table_that_goes_on_out_of_sight_says_by_how_much(live_server, open_page, people, make_job, network):
    for _ in range(40):
        make_job(people["user"], "queued")
    watched = open_page(live_server.url, width=740)  # on narrower pages there are few columns, and the page scrolls
    watched.sign_in("user")
    watched.go("/jobs/")
    box = watched.page.locator("#job-table .scroll")
    watched.page.wait_for_selector("#job-table .scroll[data-more]")
    assert re.fullmatch(
        r"scroll for \d+ more rows below, \d+ more columns to the right", box.get_attribute("data-more")
    )
    box.evaluate("(box) => box.scrollTo(box.scrollWidth, box.scrollHeight)")
    watched.page.wait_for_selector("#job-table .scroll:not([data-more])")


def test_the_preview_marks_the_field_that_was_touched_and_takes_the_mark_away(portal, application, network):
    portal.sign_in("user")
    portal.go("/submit/?application=ep")
    page = portal.page
    page.locator("#id_param-seed").fill("5000")
    page.wait_for_selector("#id_param-seed[aria-invalid=true]")
    assert "5000 is not possible. Enter a whole number" in page.locator("#id_param-seed_live_error").inner_text()
    page.locator("#id_param-seed").fill("7")
    page.wait_for_selector("#id_param-seed:not([aria-invalid])")
    assert not page.locator("#id_param-seed_live_error").count()
    page.locator("#id_pattern").select_option("own")  # nothing is written in its field yet
    page.wait_for_selector("#preview >> text=Write the graph here")
    assert not page.locator("#id_pattern_graph[aria-invalid=true]").count()
    assert not portal.errors


def test_a_wrong_field_has_the_focus_after_the_form_comes_back(portal, application, network):
    portal.sign_in("user")
    portal.go("/submit/?application=ep")
    page = portal.page
    page.locator("#id_param-seed").fill("5000")
    page.locator("#id_param-seed").press("Enter")
    page.wait_for_selector("[role=alert] >> text=Nothing was submitted")
    assert page.evaluate("document.activeElement.name") == "param-seed"
    assert page.locator("#id_param-seed").input_value() == "5000"


def test_each_state_of_a_job_can_be_read(live_server, open_page, people, make_job, network):
    """In the list, and on the pages of those that are tried or moved, with their steps."""
    made = {state: make_job(people["user"], state) for state in JobState}
    now = timezone.now()
    for state in (JobState.TRIAL, JobState.MOVING):
        steps = (JobState.QUEUED, JobState.PLACING, JobState.TRIAL, JobState.STARTING, JobState.RUNNING, state)
        for place, step in enumerate(steps):
            at = now - timedelta(seconds=60 - 10 * place)
            JobEvent.objects.create(job=made[state], to_state=step, at=at, reason=text_reason("For a reason."))
    watched = open_page(live_server.url)
    watched.sign_in("user")
    faults = {}
    for address in ("/jobs/", *(f"/jobs/{made[state].pk}/" for state in (JobState.TRIAL, JobState.MOVING))):
        assert watched.go(address).status == 200, address
        settled(watched)
        if folder := os.environ.get("SHOTS"):
            watched.page.screenshot(path=f"{folder}/state{address.replace('/', '_')}.png", full_page=True)
        if bad := page_faults(watched):
            faults[address] = bad
    assert not faults
    assert not watched.errors
