"""A real Chromium on the pages of a live server; what it asked, what it logged, and who is signed in."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.base.reasons import text_reason
from gridportal.runtime.progress_events import Phase
from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services.readings import record_readings
from scheduling.profiles.core.profile import of_counters
from scheduling.profiles.services import stored_profiles
from scheduling.runs.services import phase_totals
from tests.conftest import PASSWORD

#: The first that is installed, unless CHROMIUM names another. The shell has no window: the same pages and scripts take
#: about half as much of a processor.
CHROMIUM = ("chromium-headless-shell", "chromium")
#: Scripts that run once are not worth the second of its two better compilers.
_SCRIPTS = "--js-flags=--no-opt"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", _SCRIPTS]


@pytest.fixture(scope="package")
def chromium():
    """One browser for these tests, closed with the last: Playwright allows one at a time in a thread. Skipped with the
    reason where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (make setup)")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if not path:
        pytest.skip("Chromium is not installed; as root: apt-get install -y chromium-headless-shell")
    # Playwright's loop runs in this thread, where Django else refuses its database.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
    else:
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


#: What axe looks for in each theme: colours are all that a theme changes. Of what is right it need not list every part.
THEMES: dict[str, dict[str, object]] = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast"]},
}
#: No colour is on its way to another one.
_CALM = "() => !document.getAnimations().some((each) => each instanceof CSSTransition)"
#: Charts are pictures, with their figures in tables beside them.
_ASK_AXE = "(options) => axe.run({ exclude: ['.main-svg'] }, options).then((found) => found.violations)"
#: The impacts, as axe names them, that no page may have.
SERIOUS = ("serious", "critical")


@dataclass
class Watched:
    """A page with all that went wrong on it: errors of the console, requests that left the host."""

    page: object
    base: str
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def go(self, path: str):
        """Open an address of the portal and wait for its scripts."""
        response = self.page.goto(self.base + path)
        self.page.wait_for_load_state("load")
        return response

    def leave_charts_out(self) -> None:
        """For tests of something else: what draws charts takes one to two seconds of a processor."""
        empty = {"body": "", "content_type": "text/javascript"}
        self.page.route("**/vendor/plotly/*", lambda route: route.fulfill(**empty))

    def sign_in(self, name: str) -> None:
        """By a session that is there already; no page is opened."""
        client = Client()
        person = User.objects.get(username=name)
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        session = client.cookies["sessionid"].value
        self.page.context.add_cookies([{"name": "sessionid", "value": session, "url": self.base}])

    def sign_in_with_keyboard(self, name: str) -> None:
        """By the form, with the keyboard alone; the list of jobs is open then."""
        self.go("/sign-in/")
        self.page.wait_for_function("() => document.activeElement.name === 'username'")
        self.page.keyboard.type(name)
        self.page.keyboard.press("Tab")
        self.page.keyboard.type(PASSWORD)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url("**/jobs/")


#: A page of the same address that nobody is asked for: on it nothing runs, and the browser keeps the process.
_RESTING = "/resting-page"
_NOTHING = {"body": "<!doctype html><link rel=icon href=data:,>", "content_type": "text/html"}
_FORGET = "() => { localStorage.clear(); sessionStorage.clear(); }"


@dataclass
class Pages:
    """Pages of the browser, each in a profile of its own. One that was used is emptied and used again, for its process
    and the scripts that it has compiled: a new one takes one to two seconds of a processor."""

    browser: object
    idle: dict[str, list[object]] = field(default_factory=dict)
    watched: dict[int, Watched] = field(default_factory=dict)

    def take(self, options: dict[str, object], base: str) -> Watched:
        """An empty one that nobody else has."""
        kept = self.idle.setdefault(repr(sorted(options.items())), [])
        page = kept.pop() if kept else self._new(options)
        self.watched[id(page)] = Watched(page, base)
        return self.watched[id(page)]

    def _new(self, options: dict[str, object]) -> object:
        profile = self.browser.new_context(**options)
        profile.set_default_timeout(60_000)
        page = profile.new_page()
        page.wait_for_function = partial(page.wait_for_function, polling=100)  # else with each picture it could draw
        page.on("console", lambda line: _note_error(self.watched[id(page)], line))
        page.on("pageerror", lambda error: self.watched[id(page)].errors.append(str(error)))
        page.on("request", lambda request: _note(self.watched[id(page)], request.url))
        return page

    def put_back(self, options: dict[str, object], watched: Watched) -> None:
        """Take away what a test has left on it and in its profile."""
        page = watched.page
        page.unroute_all(behavior="ignoreErrors")
        page.route(f"**{_RESTING}", lambda route: route.fulfill(**_NOTHING))
        page.goto(watched.base + _RESTING)
        page.evaluate(_FORGET)
        page.unroute_all(behavior="ignoreErrors")
        for other in page.context.pages:
            if other is not page:
                other.close()
        page.context.clear_cookies()
        page.set_viewport_size(options["viewport"])
        page.emulate_media(media="null", color_scheme=options.get("color_scheme", "light"), reduced_motion="reduce")
        self.idle[repr(sorted(options.items()))].append(page)


@pytest.fixture(scope="package")
def pages_of_browser(chromium):
    return Pages(chromium)


@pytest.fixture
def open_page(pages_of_browser):
    """open_page(base, width=375, color_scheme="dark"): a watched page in an empty profile; `own`: one that nobody has
    afterwards, for tests that change how time goes there, plug something in, or end what it shows.

    Nothing moves there, unless asked for: to draw sixty pictures a second takes much of a processor without a GPU.
    """
    opened = []

    def make(base: str, *, width: int = 1280, own: bool = False, **options: object) -> Watched:
        wanted = {"viewport": {"width": width, "height": 800}, "reduced_motion": "reduce", **options}
        watched = pages_of_browser.take(wanted, base)
        opened.append((watched, wanted, own or options.get("java_script_enabled") is False))
        return watched

    yield make
    for watched, wanted, own in opened:
        if own or watched.page.is_closed():
            watched.page.context.close()
        else:
            pages_of_browser.put_back(wanted, watched)


def _note_error(watched: Watched, line: object) -> None:
    if line.type == "error":
        watched.errors.append(line.text)


def _note(watched: Watched, url: str) -> None:
    if not url.startswith((watched.base, "data:", "blob:", "about:")):
        watched.foreign.append(url)


@pytest.fixture
def portal(live_server, people, open_page):
    """A watched page on a live server, not signed in."""
    return open_page(live_server.url)


@pytest.fixture
def network(db):
    """Five nodes on a crossbar with one bad path."""
    now = timezone.now()
    cluster = Cluster.objects.create(name="grid", kind="pairs", directed=True, topology="five", measured_at=now)
    nodes = [Node.objects.create(cluster=cluster, name=f"n{i}", position=i, cpu=1.0, load=0.0) for i in range(1, 6)]
    for a in nodes:
        for b in nodes:
            if a != b:
                rate = 15e6 if (a.name, b.name) == ("n1", "n2") else 60e6 + 5e6 * b.position
                Link.objects.create(cluster=cluster, source=a, target=b, capacity=100e6, bandwidth=rate, latency=1e-4)
    for i in range(5):
        at = now.timestamp() - 60 * i
        fast, free = Sample("n1>n2", "bandwidth", at, 1e7 * (i + 1)), Sample("n1", "cpu", at, 0.2 * (i + 1))
        record_readings("grid", "probes", [fast, free])
    return cluster


@pytest.fixture
def jobs(people, make_job, network):
    """One running job with phases and one that failed."""
    running = make_job(people["user"], "running", name="first")
    steps = [Phase("step", 1.0, i, 9, communicate=0.4) for i in range(1, 5)]
    phase_totals.add_phases(running.runs.get(), steps)
    sizes = np.array([[0, 6e6, 0, 2e6], [6e6, 0, 1e6, 0], [0, 1e6, 0, 3e5], [2e6, 0, 3e5, 0]])
    stored_profiles.keep(running.application, {}, of_counters("ep", sizes, 2.0))
    return {"running": running, "failed": make_job(people["user"], "failed", reason=text_reason("Exit code 1."))}


def settled(watched):
    """Wait until the charts and the preview of a page are there."""
    watched.page.wait_for_function(
        "() => [...document.querySelectorAll('[data-chart]')].every((box) => box.querySelector('.main-svg'))"
    )
    if watched.page.locator("#preview").count():
        watched.page.wait_for_selector("#preview h2")


def page_faults(watched) -> list[object]:
    """What axe finds serious on the open page, in both themes, and by how many pixels it scrolls sideways at each of
    three widths: a desk's, 1280 px at 200 % zoom, and a telephone's. One load of the page serves for all."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page, width = watched.page, watched.page.viewport_size["width"]
    page.evaluate(axe.axe_script)
    faults: list[object] = []
    for theme, rules in THEMES.items():
        page.emulate_media(color_scheme=theme)
        settled(watched)
        page.wait_for_function(_CALM)
        bad = [each for each in page.evaluate(_ASK_AXE, rules) if each["impact"] in SERIOUS]
        faults += [(theme, each["id"], each["nodes"][0]["html"][:120]) for each in bad]
    for narrow in (width, 640, 375):
        page.set_viewport_size({"width": narrow, "height": 800})
        over = _sideways(page)
        faults += [(narrow, over)] if over > 0 else []
    page.set_viewport_size({"width": width, "height": 800})
    return faults


def _sideways(page) -> int:
    """By how many pixels a page scrolls sideways once its charts have followed the width of the window."""
    for _ in range(50):
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if over <= 0:
            break
        page.wait_for_timeout(50)
    return over
