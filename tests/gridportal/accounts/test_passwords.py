"""What a new password, and being switched off, end: sessions and API tokens, whoever does it and wherever."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from gridportal.accounts.models import AuditEvent
from gridportal.accounts.services import create_token, set_password, switch
from tests.conftest import PASSWORD
from tests.markup import markup

NEW = "quite-another-9"
FIELDS = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}


@pytest.fixture
def token(people) -> str:
    return create_token(people["user"], "laptop")[1]


def works(text: str) -> bool:
    return Client(headers={"Authorization": f"Bearer {text}"}).get("/api/me").status_code == 200


def test_ones_own_new_password_revokes_the_tokens_and_says_so(client_as, token):
    answer = client_as("user").post("/account/password", FIELDS, follow=True)
    assert "Your other sessions have ended. 1 API token is revoked" in markup(answer)
    assert not works(token)
    assert AuditEvent.objects.get(action="person.change_password").detail == {"tokens_revoked": 1}
    assert AuditEvent.objects.get(action="token.revoke").object_label.startswith("laptop")


def test_who_asks_to_keep_the_tokens_keeps_them(client_as, token):
    answer = client_as("user").post("/account/password", FIELDS | {"keep_tokens": "on"}, follow=True)
    assert "No API token is revoked." in markup(answer)
    assert works(token)


def test_a_new_password_by_an_administrator_revokes_them_and_ends_sessions(client_as, people, token):
    theirs = client_as("user")
    address = reverse("admin:auth_user_password_change", args=[people["user"].pk])
    asked = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    answer = client_as("administrator").post(address, asked, follow=True)
    assert "1 API tokens of this person are revoked" in markup(answer)
    assert not works(token)
    assert theirs.get("/account/").status_code == 302


def test_a_new_password_by_djangos_command_revokes_them(people, token, monkeypatch):
    monkeypatch.setattr("getpass.getpass", lambda *_, **__: NEW)
    call_command("changepassword", "user", verbosity=0)
    people["user"].refresh_from_db()
    assert people["user"].check_password(NEW)
    assert not works(token)


def test_a_better_hash_of_the_same_password_revokes_nothing(people, token, settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher", *settings.PASSWORD_HASHERS]
    assert Client().post("/sign-in/", {"username": "user", "password": PASSWORD}).status_code == 302
    people["user"].refresh_from_db()
    assert people["user"].password.startswith("pbkdf2")
    assert works(token)


def test_the_old_password_cannot_be_guessed_in_a_session(client_as):
    client = client_as("user")
    for _ in range(5):
        assert client.post("/account/password", FIELDS | {"old_password": "guess"}).status_code == 400
    answer = client.post("/account/password", FIELDS)
    assert answer.status_code == 400
    assert "Too many wrong passwords: try again in 15 min." in markup(answer)


def test_who_is_switched_off_is_out_at_once_and_back_with_nothing_of_before(client_as, people, token):
    theirs = client_as("user")
    switch(people["user"], False, actor=people["administrator"])
    assert theirs.get("/account/").status_code == 302
    assert not works(token)
    switch(people["user"], True)
    assert theirs.get("/account/").status_code == 302
    assert not works(token)
    assert client_as("other").get("/account/").status_code == 200
    assert AuditEvent.objects.filter(action="person.switch_off", actor_name="administrator").exists()


def test_who_is_made_inactive_in_the_administration_is_out_as_well(client_as, people, token):
    theirs = client_as("user")
    address = reverse("admin:accounts_user_change", args=[people["user"].pk])
    assert client_as("administrator").post(address, {"username": "user"}).status_code == 302
    people["user"].refresh_from_db()
    assert not people["user"].is_active
    assert not people["user"].tokens.exists()
    assert theirs.get("/account/").status_code == 302


def test_a_weak_password_is_refused_and_nothing_ends(people, token):
    from gridportal.base.errors import InputError

    with pytest.raises(InputError, match="password is"):
        set_password(people["user"], "12345678")
    assert works(token)


def test_the_same_password_again_is_refused(client_as, people):
    same = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    answer = client_as("user").post("/account/password", FIELDS | same)
    assert answer.status_code == 400
    assert "Enter another password than the one that you have now." in markup(answer)
    assert not AuditEvent.objects.filter(action="person.change_password").exists()
