"""API tokens: kept as a hash, shown once, useless when expired, revoked or their person is switched off."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.utils import timezone

from gridportal.accounts.models import ApiToken, AuditEvent
from gridportal.accounts.services import create_token, revoke_token
from gridportal.base.errors import InputError
from tests.markup import markup


def bearer(text: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {text}"})


@pytest.fixture
def made(people):
    return create_token(people["user"], "laptop", 30)


def test_a_token_acts_as_its_person(made):
    token, text = made
    assert text.startswith("gp_")
    assert bearer(text).get("/api/me").json()["username"] == "user"
    token.refresh_from_db()
    assert token.last_used_at is not None


def test_the_text_is_nowhere_in_the_database(made):
    _, text = made
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            assert text not in str(cursor.fetchall())


def test_an_expired_token_is_refused(made):
    token, text = made
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = bearer(text).get("/api/me")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == 'Bearer realm="GridPortal"'
    assert answer.json()["detail"].startswith("This token expired on ")
    assert answer.json()["detail"].endswith(" UTC; make a new one on your account page.")


def test_a_revoked_token_is_refused_at_once(made, people):
    token, text = made
    revoke_token(people["user"], token)
    assert bearer(text).get("/api/me").status_code == 401
    assert AuditEvent.objects.filter(action="token.revoke", object_label__startswith="laptop").exists()


def test_who_sends_no_token_is_told_where_to_get_one(db):
    answer = Client().get("/api/me")
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="GridPortal"')
    assert "account page (/account/)" in answer.json()["detail"]
    assert "gridportal person token NAME" in answer.json()["detail"]


def test_the_token_of_an_inactive_person_is_refused(made, people):
    people["user"].is_active = False
    people["user"].save()
    assert bearer(made[1]).get("/api/me").status_code == 401


@pytest.mark.parametrize("header", ["Bearer", "Bearer a b", "Bearer gp_wrong", "Bearer \u00ff", "Basic dXNlcjp4"])
def test_other_headers_are_refused(people, header):
    assert (
        Client(headers={"Authorization": header.encode("latin-1").decode("latin-1")}).get("/api/me").status_code == 401
    )


def test_a_token_does_not_open_the_pages(made):
    assert bearer(made[1]).get("/account/").status_code == 302


def test_a_token_cannot_make_a_token(made):
    answer = bearer(made[1]).post("/api/tokens", {"name": "forever", "days": None}, content_type="application/json")
    assert answer.status_code == 403
    assert ApiToken.objects.count() == 1


def test_two_tokens_of_one_person_cannot_share_a_name(made, people):
    with pytest.raises(InputError, match="laptop"):
        create_token(people["user"], "laptop", 1)
    assert create_token(people["other"], "laptop", 1)[1] != made[1]


@pytest.mark.parametrize(("name", "days"), [("", 1), ("x" * 81, 1), ("ok", 0), ("ok", 4000)])
def test_a_token_needs_a_name_and_a_sensible_end(people, name, days):
    with pytest.raises(InputError):
        create_token(people["user"], name, days)


def test_the_account_page_shows_the_text_once(client_as):
    client = client_as("user")
    answer = client.post("/account/tokens", {"name": "script", "days": "7"})
    token = ApiToken.objects.get()
    text = answer.context["new_text"]
    assert ApiToken.digest_of(text) == token.digest
    assert text in markup(answer)
    assert "no-store" in answer["Cache-Control"]
    again = markup(client.get("/account/"))
    assert text not in again
    assert token.prefix in again


def test_the_account_page_says_what_is_wrong_with_a_token(client_as):
    client = client_as("user")
    client.post("/account/tokens", {"name": "script", "days": "7"})
    answer = client.post("/account/tokens", {"name": "script", "days": "7"})
    assert answer.status_code == 400
    assert "none of your tokens has" in markup(answer)


def test_other_peoples_tokens_cannot_be_revoked(made, client_as):
    token, _ = made
    assert client_as("other").post(f"/account/tokens/{token.pk}/revoke").status_code == 404
    assert client_as("administrator").delete(f"/api/tokens/{token.pk}").status_code == 404
    assert client_as("user").delete(f"/api/tokens/{token.pk}").status_code == 204


def test_the_api_gives_the_text_once_and_lists_only_ones_own(client_as, made):
    client = client_as("other")
    answer = client.post("/api/tokens", {"name": "ci"}, content_type="application/json")
    assert answer.status_code == 201
    assert bearer(answer.json()["token"]).get("/api/me").json()["username"] == "other"
    listed = client.get("/api/tokens").json()
    assert [token["name"] for token in listed["results"]] == ["ci"]
    assert "token" not in listed["results"][0]


@pytest.fixture
def permits(settings):
    """permits(30): tokens last 30 days at most; permits(0): as long as they like."""

    def make(days: int) -> None:
        settings.PORTAL = settings.PORTAL.model_copy(update={"token_days": days})

    return make


def test_a_token_without_an_end_needs_a_setting_that_permits_it(people, permits):
    with pytest.raises(InputError, match=r"days is empty; accepted is a whole number from 1 to 365\.$"):
        create_token(people["user"], "for ever", None)
    permits(0)
    assert create_token(people["user"], "for ever", None)[0].expires_at is None


def test_the_longest_time_is_a_setting_and_the_usual_one_keeps_to_it(people, permits, client_as):
    permits(30)
    with pytest.raises(InputError, match="from 1 to 30"):
        create_token(people["user"], "long", 31)
    made = client_as("user").post("/api/tokens", {"name": "usual"}, content_type="application/json").json()
    assert made["expires_at"] < (timezone.now() + timedelta(days=30, seconds=5)).isoformat()
    page = markup(client_as("user").get("/account/"))
    assert "in 30 days" in page
    assert "in 90 days" not in page
    permits(0)
    assert ">never</option>" in markup(client_as("user").get("/account/"))


def test_the_account_page_says_when_a_token_is_about_to_expire(people, client_as):
    create_token(people["user"], "soon", 13)
    create_token(people["user"], "later", 15)
    page = markup(client_as("user").get("/account/"))
    assert "The token “soon” expires on" in page
    assert "The token “later” expires on" not in page


def test_tokens_of_before_get_an_end_where_the_setting_permits_none(people, permits):
    give_an_end = import_module("gridportal.accounts.migrations.0004_tokens_expire").give_an_end
    permits(0)
    token, text = create_token(people["user"], "old", None)
    editor = SimpleNamespace(connection=connection)
    give_an_end(apps, editor)
    token.refresh_from_db()
    assert token.expires_at is None
    permits(100)
    give_an_end(apps, editor)
    token.refresh_from_db()
    assert timedelta(days=99) < token.expires_at - timezone.now() <= timedelta(days=100)
    assert bearer(text).get("/api/me").status_code == 200
