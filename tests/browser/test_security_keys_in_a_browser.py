"""Security keys with Chromium's own virtual authenticator: added, named, signed in by, removed."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator

from gridportal.accounts.models import AuditEvent
from tests.browser.conftest import page_faults
from tests.browser.test_notices_in_a_browser import _keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
KEY = {"protocol": "ctap2", "transport": "usb", "hasResidentKey": False, "hasUserVerification": False}


@pytest.fixture
def portal(live_server, people, open_page):
    """One of its own: what is plugged into a page stays there."""
    return open_page(live_server.url, own=True)


@pytest.fixture
def plug_in(portal):
    """plug_in(): a key on this browser that is always touched; its number and the line to the browser."""
    line = portal.page.context.new_cdp_session(portal.page)
    line.send("WebAuthn.enable")

    def make(**options):
        settings = KEY | {"isUserVerified": False, "automaticPresenceSimulation": True} | options
        return line.send("WebAuthn.addVirtualAuthenticator", {"options": settings})["authenticatorId"]

    make.line = line
    return make


def look(portal, path):
    """Nothing is wrong with the page that is open."""
    assert page_faults(portal) == [], path
    _keep(portal.page, path)


def add(page, name):
    page.get_by_role("link", name="Add a security key").click()
    page.get_by_label("Name of the key").fill(name)


def test_a_key_is_added_signs_in_and_is_removed(portal, network, plug_in):
    page, first = portal.page, plug_in()
    portal.sign_in_with_keyboard("user")
    portal.go("/account/second-factor")
    add(page, "blue key")
    look(portal, "/account/second-factor/keys/new")
    page.get_by_role("button", name="Add it").click()
    page.locator("#recovery-codes").wait_for()
    look(portal, "/account/recovery-codes")
    page.get_by_role("link", name="I have them: go on").click()
    page.get_by_role("cell", name="blue key").first.wait_for()
    look(portal, "/account/second-factor/with-key")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in/")
    page.get_by_label("Username").fill("user")
    page.get_by_label("Password").fill("correct-horse-battery")
    page.get_by_role("button", name="Sign in").click()
    use = page.get_by_role("button", name="Use your security key")
    use.wait_for()
    look(portal, "/sign-in/code/key")

    plug_in.line.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": first})
    stranger = plug_in()
    use.click()
    page.get_by_text("The key did not answer, or was refused. Try again.").wait_for()
    assert not AuditEvent.objects.filter(action="person.second_factor_failed").exists(), "it never came to the portal"
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("This code is wrong").wait_for()

    plug_in.line.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": stranger})
    assert Authenticator.objects.filter(type="webauthn").count() == 1
    assert portal.errors == []


def test_by_the_key_into_the_portal_and_a_second_key(portal, network, plug_in):
    page = portal.page
    plug_in()
    portal.sign_in_with_keyboard("user")
    portal.go("/account/second-factor/keys/new")
    page.get_by_label("Name of the key").fill("blue key")
    page.keyboard.press("Enter")
    page.locator("#recovery-codes").wait_for()
    portal.page.context.clear_cookies()
    portal.go("/sign-in/?next=/account/second-factor")
    page.get_by_label("Username").fill("user")
    page.get_by_label("Password").fill("correct-horse-battery")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Use your security key").click()
    page.wait_for_url("**/account/second-factor")
    assert AuditEvent.objects.filter(action="person.sign_in").latest("pk").detail["second_factor"] == "security key"
    add(page, "the same once more")
    page.get_by_role("button", name="Add it").click()
    page.get_by_text("This key is set up already. Use another one.").wait_for()
    portal.go("/account/second-factor")
    page.get_by_role("button", name="Remove blue key").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove blue key").click()
    page.get_by_text("is no second factor any more").wait_for()
    assert not Authenticator.objects.exists()
    assert portal.errors == []
    assert portal.foreign == []
