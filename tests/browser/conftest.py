"""A real Chromium on the pages of a live server; what it asked, what it logged, and who is signed in."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import PASSWORD

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="module")
def chromium():
    """One browser for a module, closed with it: Playwright allows one at a time in a thread, and other modules may
    start their own. Skipped with the reason where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (make setup)")
    path = os.environ.get("CHROMIUM") or (CHROMIUM if Path(CHROMIUM).exists() else shutil.which("chromium"))
    if not path:
        pytest.skip("Chromium is not installed; as root: apt-get install -y chromium")
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

    def sign_in(self, name: str, password: str = PASSWORD) -> None:
        """By the form, with the keyboard alone."""
        self.go("/sign-in/")
        self.page.keyboard.type(name)
        self.page.keyboard.press("Tab")
        self.page.keyboard.type(password)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url("**/jobs/")


@pytest.fixture
def open_page(chromium):
    """open_page(base, width=375, color_scheme="dark"): a watched page in a fresh profile."""
    contexts = []

    def make(base: str, *, width: int = 1280, **options: object) -> Watched:
        context = chromium.new_context(viewport={"width": width, "height": 800}, **options)
        context.set_default_timeout(15_000)
        contexts.append(context)
        watched = Watched(context.new_page(), base)
        page = watched.page
        page.on("console", lambda line: watched.errors.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: watched.errors.append(str(error)))
        page.on("request", lambda request: _note(watched, request.url))
        return watched

    yield make
    for context in contexts:
        context.close()


def _note(watched: Watched, url: str) -> None:
    if not url.startswith((watched.base, "data:", "blob:", "about:")):
        watched.foreign.append(url)


@pytest.fixture
def portal(live_server, people, open_page):
    """A watched page on a live server, not signed in."""
    return open_page(live_server.url)
