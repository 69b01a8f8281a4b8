"""Django's administration in the look of the portal: its colours in both themes, ways back, nothing that axe finds."""

from __future__ import annotations

from gridportal.accounts.models import User
from tests.browser.conftest import page_faults

_GROUND = "getComputedStyle(document.body).backgroundColor"
_INK = "getComputedStyle(document.querySelector('#site-name a')).color"


def test_it_looks_like_the_portal_and_leads_back(live_server, people, open_page):
    watched = open_page(live_server.url, color_scheme="light")
    watched.sign_in("administrator")
    page = watched.page
    watched.go("/help/")
    own = {}
    for theme in ("Light", "Dark"):
        page.get_by_role("button", name=theme).click()
        own[theme] = page.evaluate(_GROUND)
    watched.go("/admin/")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark", "one choice holds in both"
    for theme, ground in own.items():
        page.get_by_role("button", name=theme).click()
        assert page.evaluate(_GROUND) == ground
    page.get_by_role("button", name="Auto").click()
    person = User.objects.get(username="user").pk
    for path in (
        "/admin/",
        "/admin/accounts/user/",
        f"/admin/accounts/user/{person}/change/",
        "/admin/scheduling/job/",
    ):
        watched.go(path)
        assert page_faults(watched) == [], path
    watched.go("/admin/")
    assert page.get_by_role("main").get_by_role("link", name="audit trail").get_attribute("href") == "/audit/"
    page.locator("#user-tools").get_by_role("link", name="Back to the portal").click()
    page.wait_for_url("**/jobs/")
    assert not watched.errors
    assert not watched.foreign
