"""Signing in by a real provider, an app as the second factor, out, and in again with its code."""

from __future__ import annotations

import time

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.core.cache import cache

from gridportal.accounts.models import AuditEvent
from tests.browser.conftest import page_faults
from tests.browser.test_notices_in_a_browser import _keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def provider(settings):
    from tests.oidc_provider import oidc_provider  # what it is made of takes long to import

    with oidc_provider() as front:
        given = {
            "oidc_issuer": front.issuer,
            "oidc_name": "Campus",
            "oidc_client_id": "portal",
            "oidc_client_secret": "hidden",
        }
        settings.PORTAL = settings.PORTAL.model_copy(update=given)
        front.person("ann")
        yield front


def through_the_provider(portal):
    """By the button of the sign-in page, over the page that leads on by itself, and back."""
    page = portal.page
    page.get_by_role("button", name="Sign in with Campus").click()
    page.locator("input[name=sub]").fill("ann")
    page.locator("input[name=sub]").press("Enter")


def look(portal, path):
    """Nothing is wrong with the page that is open."""
    assert page_faults(portal) == [], path
    _keep(portal.page, path)


def code_of(key):
    cache.clear()  # the code of these 30 seconds was used a moment ago
    return totp.format_hotp_value(totp.hotp_value(key.replace(" ", ""), int(time.time()) // 30))


def test_by_the_provider_then_an_app_then_with_its_code(portal, provider, network):
    page = portal.page
    portal.go("/sign-in/")
    look(portal, "/sign-in/")
    through_the_provider(portal)
    page.wait_for_url("**/jobs/")
    portal.go("/account/")
    look(portal, "/account/")
    page.get_by_role("link", name="Set one up").click()
    page.get_by_role("heading", name="App with codes").wait_for()
    look(portal, "/account/second-factor")
    key = page.locator("#factor-key").inner_text()
    page.get_by_label("Code").fill(code_of(key))
    page.get_by_role("button", name="Turn it on").click()
    page.locator("#recovery-codes").wait_for()
    look(portal, "/account/second-factor/set")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in/")
    through_the_provider(portal)
    page.get_by_role("heading", name="Your second factor").wait_for()
    look(portal, "/sign-in/code")
    page.get_by_label("Code").fill(code_of(key))
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/")
    assert AuditEvent.objects.filter(action="person.sign_in").latest("pk").detail == {
        "way": "provider",
        "second_factor": "app",
    }
    assert portal.errors == []
    assert all(address.startswith(provider.issuer) for address in portal.foreign)


def test_the_settings_page_tries_the_provider(portal, provider, network):
    portal.sign_in("administrator")
    portal.go("/settings/")
    look(portal, "/settings/")
    portal.page.get_by_role("button", name="Try the provider").click()
    portal.page.get_by_text("and shows 1 key").wait_for()
    portal.go("/people/")
    look(portal, "/people/")
    assert portal.errors == []
    assert portal.foreign == []
