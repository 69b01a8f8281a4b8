"""Signing in and out: friendly words, throttling without a server, and the trail it leaves."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from gridportal.accounts import sign_in
from gridportal.accounts.models import AuditEvent
from tests.conftest import PASSWORD
from tests.markup import markup

WRONG = {"username": "user", "password": "not it"}
RIGHT = {"username": "user", "password": PASSWORD}


def test_the_right_password_signs_in_and_follows_next(people):
    answer = Client().post("/sign-in/", RIGHT | {"next": "/account/"})
    assert (answer.status_code, answer["Location"]) == (302, "/account/")
    event = AuditEvent.objects.get(action="person.sign_in")
    assert (event.actor_name, event.address) == ("user", "127.0.0.1")
    assert event.request_id == answer["X-Request-ID"]


def test_next_never_leaves_this_host(people):
    answer = Client().post("/sign-in/", RIGHT | {"next": "https://elsewhere.example/"})
    assert "elsewhere" not in answer["Location"]


def test_a_wrong_password_is_said_in_words_and_noted(people):
    answer = Client().post("/sign-in/", WRONG)
    assert "do not belong together" in markup(answer)
    assert AuditEvent.objects.get().action == "person.sign_in_failed"


def test_a_name_that_nobody_has_is_not_written_into_the_trail(people):
    Client().post("/sign-in/", {"username": "my-secret-password", "password": "x"})
    event = AuditEvent.objects.get()
    assert event.actor_name == event.object_label == "unknown person"
    assert "my-secret" not in str(vars(event))


def test_after_five_failures_even_the_right_password_waits(people):
    for _ in range(5):
        Client().post("/sign-in/", WRONG)
    answer = Client().post("/sign-in/", RIGHT)
    assert answer.status_code == 200
    assert "Too many failed sign-ins: try again in 15 min." in markup(answer)
    assert AuditEvent.objects.filter(action="person.sign_in_failed").count() == 5


def test_other_people_and_other_addresses_are_not_made_to_wait(people):
    for _ in range(5):
        Client().post("/sign-in/", WRONG)
    assert Client().post("/sign-in/", RIGHT | {"username": "other"}).status_code == 302
    assert Client(REMOTE_ADDR="10.0.0.9").post("/sign-in/", RIGHT).status_code == 302


def test_the_case_of_the_name_does_not_help_around_the_wait(people):
    for name in ("user", "USER", "User", "uSer", "usEr"):
        Client().post("/sign-in/", WRONG | {"username": name})
    assert Client().post("/sign-in/", RIGHT).status_code == 200


def test_failures_older_than_the_window_and_before_a_success_do_not_count(people, monkeypatch):
    for _ in range(4):
        Client().post("/sign-in/", WRONG)
    assert Client().post("/sign-in/", RIGHT).status_code == 302
    for _ in range(4):
        Client().post("/sign-in/", WRONG)
    assert Client().post("/sign-in/", RIGHT).status_code == 302
    for _ in range(5):
        Client().post("/sign-in/", WRONG)
    later = timezone.now() + sign_in.WINDOW + timedelta(seconds=1)
    monkeypatch.setattr(sign_in.timezone, "now", lambda: later)
    assert Client().post("/sign-in/", RIGHT).status_code == 302


def test_one_address_cannot_try_many_names(people, monkeypatch):
    monkeypatch.setattr(sign_in, "PER_ADDRESS", 7)
    for number in range(7):
        Client().post("/sign-in/", {"username": f"guess{number}", "password": "x"})
    assert "Too many failed sign-ins" in markup(Client().post("/sign-in/", RIGHT))


def test_inactive_people_cannot_sign_in(people):
    people["user"].is_active = False
    people["user"].save()
    assert Client().post("/sign-in/", RIGHT).status_code == 200


def test_signing_out_needs_a_post_and_ends_the_session(client_as):
    client = client_as("user")
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/").status_code == 302
    assert client.get("/account/").status_code == 302
    assert AuditEvent.objects.get(action="person.sign_out").actor_name == "user"


def test_the_sign_in_form_needs_its_csrf_token(people):
    assert Client(enforce_csrf_checks=True).post("/sign-in/", RIGHT).status_code == 403


@pytest.mark.parametrize("forwarded", ["6.6.6.6", "6.6.6.6, 7.7.7.7"])
def test_a_forged_forwarding_header_is_ignored_without_our_proxy(people, forwarded):
    Client(HTTP_X_FORWARDED_FOR=forwarded).post("/sign-in/", WRONG)
    assert AuditEvent.objects.get().address == "127.0.0.1"


def test_behind_our_proxy_the_last_forwarded_address_counts(people, settings):
    settings.PORTAL = settings.PORTAL.model_copy(update={"secure_cookies": True})
    Client(HTTP_X_FORWARDED_FOR="6.6.6.6, 7.7.7.7").post("/sign-in/", WRONG)
    assert AuditEvent.objects.get().address == "7.7.7.7"
