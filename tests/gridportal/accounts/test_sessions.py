"""Sessions before and after signing in and out: nobody can hand out a session, keep one, or read one's pages after."""

from __future__ import annotations

import re

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from tests.conftest import PASSWORD

RIGHT = {"username": "user", "password": PASSWORD}


def form_token(client: Client, address: str) -> str:
    return re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get(address).content.decode())[1]


def test_a_session_from_before_the_sign_in_is_not_the_one_after(people):
    client = Client()
    session = client.session
    session["planted"] = "by somebody"
    session.save()
    planted = session.session_key
    client.cookies["sessionid"] = planted
    client.post("/sign-in/", RIGHT)
    key = client.cookies["sessionid"].value
    assert key != planted
    assert not Session.objects.filter(pk=planted).exists()
    thief = Client()
    thief.cookies["sessionid"] = planted
    assert thief.get("/account/").status_code == 302


def test_the_forms_token_of_before_the_sign_in_opens_no_form_after_it(people):
    client = Client(enforce_csrf_checks=True)
    before = form_token(client, "/sign-in/")
    secret = client.cookies["csrftoken"].value
    assert client.post("/sign-in/", RIGHT | {"csrfmiddlewaretoken": before}).status_code == 302
    assert client.cookies["csrftoken"].value != secret
    assert client.post("/account/tokens", {"name": "x", "csrfmiddlewaretoken": before}).status_code == 403
    after = form_token(client, "/account/")
    asked = {"name": "x", "days": "7", "csrfmiddlewaretoken": after}
    assert client.post("/account/tokens", asked).status_code == 200


def test_signing_out_ends_the_session_for_whoever_kept_its_cookie(people):
    client = Client()
    client.post("/sign-in/", RIGHT)
    key = client.cookies["sessionid"].value
    client.post("/sign-out/")
    assert not Session.objects.filter(pk=key).exists()
    kept = Client()
    kept.cookies["sessionid"] = key
    assert kept.get("/account/").status_code == 302
    assert kept.get("/api/me").status_code == 401


def test_signing_in_as_somebody_else_starts_an_empty_session(people):
    client = Client()
    client.post("/sign-in/", RIGHT)
    session = client.session
    session["mine"] = "alone"
    session.save()
    client.post("/sign-out/")
    client.post("/sign-in/", RIGHT | {"username": "other"})
    assert "mine" not in client.session


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(people):
    client = Client()
    client.post("/sign-in/", RIGHT)
    cookie = client.cookies["sessionid"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


PAGES = ["jobs", "account", "submit", "applications", "experiments", "topology", "report", "help", "telemetry"]


@pytest.mark.parametrize("name", [*PAGES, "api-me", "api-job-list", "api-tokens", "jobs-csv"])
def test_back_after_signing_out_shows_no_page_of_before(client_as, name):
    answer = client_as("user").get(reverse(name))
    assert "no-store" in answer["Cache-Control"]
    assert "private" in answer["Cache-Control"]


def test_pages_for_everybody_and_static_files_may_be_kept(client_as):
    assert "no-store" not in client_as("anonymous").get("/help/").headers.get("Cache-Control", "")
