"""Security keys: added, named, used to sign in and to confirm, removed; what is not theirs is refused."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.test import Client

from gridportal.accounts import second_factors, security_keys
from gridportal.accounts.models import AuditEvent
from tests.gridportal.accounts.test_second_factor import PAGE, code_of, half, is_in
from tests.markup import markup

pytestmark = pytest.mark.django_db
NEW = f"{PAGE}/keys/new"
HOST = {"SERVER_NAME": "localhost"}


@pytest.fixture(autouse=True)
def at_localhost(monkeypatch: Any) -> None:
    """All clients come to localhost: to a host without https no browser lets a key speak."""
    made = Client.__init__

    def at(self: Client, *args: Any, **options: Any) -> None:
        made(self, *args, **(HOST | options))

    monkeypatch.setattr(Client, "__init__", at)


def soft_key(**options: str) -> Any:
    from tests.soft_key import SoftKey

    return SoftKey(**options)


def add(client: Client, key: Any, name: str = "blue key") -> Any:
    options = client.get(NEW).context["key_options"]
    return client.post(NEW, {"name": name, "credential": key.create(options)})


def use(client: Client, key: Any, address: str = "/sign-in/code") -> Any:
    options = client.get(address).context["key_options"]
    return client.post(address, {"credential": key.get(options)})


@pytest.fixture
def key(freshly: Any) -> Any:
    """The only factor of `user`."""
    made = soft_key()
    assert len(add(freshly("user"), made).context["codes"]) == 10
    return made


def test_a_key_is_added_with_recovery_codes_and_signs_in(key: Any) -> None:
    event = AuditEvent.objects.get(action="person.second_factor_set")
    assert event.detail == {"factor": "security key", "name": "blue key"}
    client = half()
    page = markup(client.get("/sign-in/code"))
    assert "one step is left: your security key." in page
    answer = use(client, key)
    assert (answer.status_code, answer["Location"]) == (302, "/account/")
    assert is_in(client)
    detail = AuditEvent.objects.filter(action="person.sign_in").latest("pk").detail
    assert detail == {"way": "password", "second_factor": "security key"}
    assert Authenticator.objects.get(type="webauthn").last_used_at


def test_an_answer_counts_once_and_only_for_its_challenge(key: Any) -> None:
    client = half()
    old = key.get(client.get("/sign-in/code").context["key_options"])
    new = key.get(client.get("/sign-in/code").context["key_options"])
    refused = client.post("/sign-in/code", {"credential": old})
    assert "This key is not one of yours, or it answered too late." in markup(refused)
    assert not is_in(client)
    assert AuditEvent.objects.filter(action="person.second_factor_failed").count() == 1
    again = key.get(refused.context["key_options"])
    assert client.post("/sign-in/code", {"credential": again}).status_code == 302
    other = half()
    assert other.post("/sign-in/code", {"credential": again}).status_code == 200
    assert other.post("/sign-in/code", {"credential": new}).status_code == 200
    assert not is_in(other)


def test_the_key_of_somebody_else_another_key_and_another_site_open_nothing(key: Any, freshly: Any) -> None:
    theirs = soft_key()
    add(freshly("other"), theirs)
    elsewhere = soft_key(origin="https://evil.example")
    elsewhere.id, elsewhere._private = key.id, key._private
    for wrong in (theirs, soft_key(), elsewhere):
        client = half()
        assert use(client, wrong).status_code == 200
        assert not is_in(client)


@pytest.mark.parametrize("nonsense", ["{}", "[]", "x", '{"id": 1}', "{" * 70_000, '{"id": "a", "response": {}}'])
def test_what_no_browser_sends_opens_nothing(key: Any, nonsense: str) -> None:
    client = half()
    assert client.post("/sign-in/code", {"credential": nonsense}).status_code == 200
    assert not is_in(client)


def test_recovery_codes_let_in_without_the_key(freshly: Any) -> None:
    codes = add(freshly("user"), soft_key()).context["codes"]
    client = half()
    assert client.post("/sign-in/code", {"code": codes[0]}).status_code == 302
    assert is_in(client)


def test_keys_are_named_renamed_and_removed_after_one_factor_was_shown(key: Any, freshly: Any) -> None:
    client = freshly("user")
    page = markup(client.get(PAGE))
    assert "Confirm that it is you" in page
    assert "Rename" not in page
    pk = Authenticator.objects.get(type="webauthn").pk
    assert client.get(NEW)["Location"] == PAGE
    assert client.post(f"{PAGE}/keys/{pk}/remove").status_code == 422
    options = client.get(PAGE).context["key_options"]
    assert client.post(f"{PAGE}/confirm", {"credential": key.get(options)})["Location"] == PAGE
    assert "Confirm that it is you" not in markup(client.get(PAGE))
    second = soft_key()
    assert add(client, second, "Blue KEY").status_code == 422, "a name that another key has"
    assert add(client, second, "phone")["Location"] == PAGE, "no new recovery codes"
    assert "This key is set up already" not in markup(client.get(PAGE))
    client.post(f"{PAGE}/keys/{pk}", {"name": "red key"})
    assert [each.name for each in security_keys.keys_of(AuditEvent.objects.first().actor)] == ["red key", "phone"]
    client.post(f"{PAGE}/keys/{pk}/remove")
    assert use(half(), key).status_code == 200, "it opens nothing any more"
    assert use(half(), second).status_code == 302


def test_with_the_last_factor_the_recovery_codes_go(key: Any, client_as: Any, people: Any) -> None:
    client = half()
    use(client, key)
    assert client.post(f"{PAGE}/keys/{Authenticator.objects.get(type='webauthn').pk}/remove").status_code == 302
    assert not Authenticator.objects.exists()
    assert not second_factors.is_set_up(people["user"])


def test_key_and_app_stand_beside_each_other(key: Any, people: Any) -> None:
    client = half()
    use(client, key)
    secret = client.get(PAGE).context["secret"].replace(" ", "")
    assert client.post(PAGE, {"code": code_of(secret)})["Location"] == PAGE
    assert "your security key, or the code of your app" in markup(half().get("/sign-in/code"))
    assert client.post(f"{PAGE}/remove").status_code == 302
    assert second_factors.is_set_up(people["user"])
    assert second_factors.codes_left(people["user"]) == 10


def test_nobody_touches_the_keys_of_others(key: Any, freshly: Any) -> None:
    client, pk = freshly("other"), Authenticator.objects.get(type="webauthn").pk
    add(client, soft_key(), "mine")
    assert "Enter a key of yours." in markup(client.post(f"{PAGE}/keys/{pk}/remove", follow=True))
    assert "Enter a key of yours." in markup(client.post(f"{PAGE}/keys/{pk}", {"name": "x"}, follow=True))
    assert Authenticator.objects.filter(pk=pk).exists()


def test_other_sessions_end_with_the_first_factor(client_as: Any, freshly: Any, people: Any) -> None:
    old, stranger, own = client_as("user"), client_as("other"), freshly("user")
    page = markup(add(own, soft_key()))
    assert "Your sessions on other devices have ended." in page
    assert (is_in(old), is_in(stranger), is_in(own)) == (False, True, True)
    assert Session.objects.count() == 2


def test_a_role_that_needs_a_factor_is_content_with_a_key(key: Any, freshly: Any, portal_settings: Any) -> None:
    portal_settings(second_factor_roles=("user",))
    client = half()
    use(client, key)
    assert client.get("/jobs/").status_code == 200
    late = freshly("user")
    assert late.get("/jobs/")["Location"] == "/sign-in/code"
    assert use(late, key)["Location"] == "/jobs/"
    assert late.get("/jobs/").status_code == 200


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("10.0.0.7", "Keys need an address with a name. This one is 10.0.0.7"),
        ("[::1]", "Keys need an address with a name. This one is ::1"),
        ("portal.example", "Keys need an address that begins with https."),
    ],
)
def test_where_no_browser_lets_a_key_speak_the_page_says_why(
    freshly: Any, settings: Any, address: str, why: str
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    client = freshly("user")
    assert why in markup(client.get(PAGE, headers={"Host": address}))
    assert client.get(NEW, headers={"Host": address}).status_code == 403
    assert client.get(NEW, headers={"Host": "portal.example"}, secure=True).status_code == 200
    assert client.get(NEW, headers={"Host": "localhost:8000"}).status_code == 200


def test_there_is_an_end_to_keys(key: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(security_keys, "MOST", 1)
    client = half()
    use(client, key)
    assert "You have 1 keys; remove one first." in markup(add(client, soft_key(), "one more"))
