"""A provider of OpenID Connect for the tests of signing in, and a way through it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from gridportal.accounts import entering

if TYPE_CHECKING:
    from tests.oidc_provider import Front


@pytest.fixture(scope="session")
def running_provider() -> Iterator[Front]:
    """One server for all tests of a process; what it is made of takes long to import."""
    from tests.oidc_provider import oidc_provider

    with oidc_provider() as provider:
        yield provider


@pytest.fixture
def portal_settings(settings: Any) -> Callable[..., None]:
    """portal_settings(token_days=3): settings of the portal, as the environment would give them."""

    def put(**values: Any) -> None:
        settings.PORTAL = settings.PORTAL.model_copy(update=values)

    return put


@pytest.fixture
def provider(running_provider: Front, portal_settings: Callable[..., None], db: None) -> Front:
    """The provider, in the settings of the portal."""
    running_provider.be_good()
    portal_settings(
        oidc_issuer=running_provider.issuer, oidc_name="Campus", oidc_client_id="portal", oidc_client_secret="hidden"
    )
    return running_provider


@pytest.fixture
def come(provider: Front) -> Callable[..., Any]:
    """come("ann") signs in as somebody of the provider; answers what the portal says at the end, and `.client`."""

    def go(subject: str, client: Client | None = None, address: str = "/sign-in/provider", **form: Any) -> Any:
        client = client or Client()
        there = client.post(address, form).context["address"]
        back = urlsplit(provider.agree(there, subject))
        answer = client.get(f"{back.path}?{back.query}")
        answer.client = client
        return answer

    return go


@pytest.fixture
def freshly(client_as: Callable[..., Client]) -> Callable[[str], Client]:
    """freshly("user"): signed in a moment ago."""

    def make(role: str) -> Client:
        client = client_as(role)
        session = client.session
        session[entering._SINCE] = time.time()
        session.save()
        return client

    return make


def shown(answer: Any) -> str:
    """The messages of the page that an answer leads to."""
    page = answer.client.get(answer["Location"]) if answer.status_code == 302 else answer
    return " ".join(str(message) for message in page.context["messages"])
