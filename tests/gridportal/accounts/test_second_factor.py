"""Second factors: set up, asked for, guessed at, lost, demanded of a role, and taken away by an administrator."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.core.cache import cache
from django.db import connection
from django.test import Client

from gridportal.accounts import second_factors, sign_in
from gridportal.accounts.models import AuditEvent, User
from gridportal.accounts.services import create_token, set_password, switch
from tests import migrated
from tests.conftest import PASSWORD
from tests.markup import markup

ROOT = Path(__file__).parents[3]
PAGE = "/account/second-factor"


def code_of(secret, step=0):
    """What an app shows now, or some steps of 30 s later."""
    return totp.format_hotp_value(totp.hotp_value(secret.replace(" ", ""), int(time.time()) // 30 + step))


def next_code(secret):
    """One that was not used yet: as if 30 s had passed, without waiting for it."""
    cache.clear()
    return code_of(secret)


def set_up(client):
    """Set up an app; its secret and the recovery codes."""
    secret = client.get(PAGE).context["secret"].replace(" ", "")
    page = client.post(PAGE, {"code": code_of(secret)})
    assert page.status_code == 200, markup(page)
    return secret, page.context["codes"]


def half(name="user", client=None):
    """Somebody who has given the right password."""
    client = client or Client()
    answer = client.post("/sign-in/", {"username": name, "password": PASSWORD, "next": "/account/"})
    assert answer["Location"] == "/sign-in/code"
    return client


def is_in(client):
    return client.get("/account/").status_code == 200


@pytest.fixture
def app(freshly):
    """The secret and the recovery codes of `user`."""
    return set_up(freshly("user"))


def test_the_page_shows_a_picture_and_a_key_and_takes_a_code_of_it(freshly):
    client = freshly("user")
    page = client.get(PAGE)
    assert page.context["picture"].startswith("data:image/svg+xml;base64,")
    secret = page.context["secret"]
    assert re.fullmatch(r"([A-Z2-7]{4} ){7}[A-Z2-7]{4}", secret)
    assert client.get(PAGE).context["secret"] == secret, "the same key when the page is loaded again"
    wrong = client.post(PAGE, {"code": "12 34"})
    assert wrong.status_code == 422
    assert "Enter the six digits that your app shows now." in markup(wrong)
    done = client.post(PAGE, {"code": code_of(secret)})
    codes = done.context["codes"]
    assert len(set(codes)) == 10
    assert "no-store" in done["Cache-Control"]
    assert codes[0] not in markup(client.get(PAGE)), "they are shown once"
    assert AuditEvent.objects.get(action="person.second_factor_set").actor_name == "user"


def test_the_password_alone_opens_nothing_and_the_code_does(app):
    client = half()
    assert not is_in(client)
    assert not AuditEvent.objects.filter(action="person.sign_in").exists()
    assert client.get("/sign-in/code").status_code == 200
    answer = client.post("/sign-in/code", {"code": next_code(app[0])})
    assert (answer.status_code, answer["Location"]) == (302, "/account/")
    assert is_in(client)
    assert AuditEvent.objects.get(action="person.sign_in").detail == {"way": "password", "second_factor": "app"}


def test_a_code_counts_once(app):
    code = next_code(app[0])
    assert half().post("/sign-in/code", {"code": code}).status_code == 302
    again = half()
    assert "was used before" in markup(again.post("/sign-in/code", {"code": code}))
    assert not is_in(again)


@pytest.mark.parametrize(("step", "status"), [(-3, 200), (-1, 302), (1, 302), (3, 200)])
def test_a_clock_may_be_half_a_minute_wrong_and_no_more(app, step, status):
    cache.clear()
    assert half().post("/sign-in/code", {"code": code_of(app[0], step)}).status_code == status


def test_each_recovery_code_lets_in_once_and_may_be_typed_without_its_dash(app, client_as):
    first, second = app[1][:2]
    assert half().post("/sign-in/code", {"code": first.replace("-", "")}).status_code == 302
    assert half().post("/sign-in/code", {"code": first}).status_code == 200
    client = half()
    assert client.post("/sign-in/code", {"code": f" {second} "}).status_code == 302
    assert "8 of 10 are left" in markup(client.get(PAGE))
    details = [event.detail for event in AuditEvent.objects.filter(action="person.sign_in")]
    assert details == [{"way": "password", "second_factor": "recovery code"}] * 2


def test_after_five_wrong_codes_even_the_right_one_waits_and_so_does_the_password(app):
    client = half()
    for _ in range(5):
        assert "This code is wrong" in markup(client.post("/sign-in/code", {"code": "000000"}))
    assert "Too many wrong codes: try again in 15 min." in markup(
        client.post("/sign-in/code", {"code": next_code(app[0])})
    )
    assert not is_in(client)
    page = Client().post("/sign-in/", {"username": "user", "password": PASSWORD})
    assert "Too many failed sign-ins" in markup(page)
    assert AuditEvent.objects.filter(action="person.second_factor_failed").count() == 5


def test_many_addresses_do_not_help_to_guess(app):
    for number in range(sign_in.CODES_PER_PERSON):
        client = half(client=Client(REMOTE_ADDR=f"10.0.0.{number}"))
        client.post("/sign-in/code", {"code": "000000"})
    fresh = half(client=Client(REMOTE_ADDR="10.0.1.1"))
    assert "Too many wrong codes: try again in 60 min." in markup(fresh.post("/sign-in/code", {"code": "000000"}))


@pytest.mark.parametrize("change", ["switched off", "new password", "too late", "nothing"])
def test_the_second_step_holds_only_while_the_account_is_as_it_was(app, people, change, monkeypatch):
    client = half()
    if change == "switched off":
        switch(people["user"], False)
    elif change == "new password":
        set_password(people["user"], "quite-another-9")
    elif change == "too late":
        later = time.time() + 601
        monkeypatch.setattr("gridportal.accounts.entering.time.time", lambda: later)
    answer = client.post("/sign-in/code", {"code": next_code(app[0])})
    assert (answer["Location"], is_in(client)) == (("/account/", True) if change == "nothing" else ("/sign-in/", False))


def test_nobody_is_asked_for_a_code_out_of_turn(people):
    assert Client().get("/sign-in/code")["Location"] == "/sign-in/"
    client = Client()
    client.force_login(people["user"])
    assert client.get("/sign-in/code")["Location"] == "/sign-in/"


def test_a_code_takes_it_away_or_makes_new_recovery_codes_and_nothing_else_does(app, client_as):
    client = client_as("user")
    for address in (f"{PAGE}/remove", f"{PAGE}/codes"):
        assert client.post(address, {"code": "000000"}).status_code == 422
    fresh = client.post(f"{PAGE}/codes", {"code": next_code(app[0])}).context["codes"]
    assert not set(fresh) & set(app[1])
    assert half().post("/sign-in/code", {"code": app[1][0]}).status_code == 200, "the old ones are of no use"
    assert client.post(f"{PAGE}/remove", {"code": fresh[0]}).status_code == 302
    assert not Authenticator.objects.exists()
    assert Client().post("/sign-in/", {"username": "user", "password": PASSWORD})["Location"] == "/jobs/"
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"person.recovery_codes_made", "person.second_factor_removed"} <= actions


def test_long_after_signing_in_none_is_set_up(client_as):
    client = client_as("user")
    page = client.get(PAGE)
    assert "secret" not in page.context
    assert "sign in again" in markup(page)
    assert client.post(PAGE, {"code": "123456"}).status_code == 403
    assert client.post("/sign-out/?next=/sign-in/%3Fnext=/account/second-factor")["Location"] == (
        "/sign-in/?next=/account/second-factor"
    )


def test_secrets_are_in_the_database_as_ciphertext_only(app, settings):
    secret, codes = app
    with connection.cursor() as cursor:
        cursor.execute("SELECT data FROM mfa_authenticator")
        text = str(cursor.fetchall())
    assert secret not in text
    assert codes[0] not in text
    settings.SECRET_KEY = "another"
    page = half().post("/sign-in/code", {"code": next_code(secret)})
    assert "key has changed" in markup(page)


def test_a_role_that_needs_one_gets_no_further_than_setting_it_up(freshly, people, portal_settings):
    portal_settings(second_factor_roles=("user",))
    client = freshly("user")
    for address in ("/jobs/", "/account/", "/admin/", "/settings/"):
        assert client.get(address)["Location"] == PAGE
    assert client.get("/jobs/", headers={"HX-Request": "true"})["HX-Redirect"] == PAGE
    answer = client.get("/api/jobs")
    assert (answer.status_code, answer.json()["detail"].startswith("Your role needs a second factor")) == (403, True)
    assert client.post("/api/tokens", {"name": "x"}, content_type="application/json").status_code == 403
    assert "needs a second factor here" in markup(client.get(PAGE))
    assert freshly("operator").get("/jobs/").status_code == 200
    set_up(client)
    assert client.get("/jobs/").status_code == 200
    assert client.get("/api/jobs").status_code == 200


def test_a_session_of_before_is_asked_for_the_code_when_the_role_needs_it(app, client_as, portal_settings):
    client = client_as("user")
    assert client.get("/jobs/").status_code == 200
    portal_settings(second_factor_roles=("user",))
    assert client.get("/jobs/")["Location"] == "/sign-in/code"
    assert client.post("/sign-in/code", {"code": next_code(app[0])})["Location"] == "/jobs/"
    assert client.get("/jobs/").status_code == 200


def test_tokens_are_asked_for_no_code(people, portal_settings):
    _, text = create_token(people["user"], "laptop")
    portal_settings(second_factor_roles=("user",))
    assert Client(headers={"Authorization": f"Bearer {text}"}).get("/api/jobs").status_code == 200
    assert "API tokens</strong> are asked for no code" in markup(Client().get("/help/"))


def test_an_administrator_takes_it_away_from_who_has_lost_it(app, client_as, people, freshly):
    theirs, boss = client_as("user"), client_as("administrator")
    assert "Remove the second factor of user" in markup(boss.get("/people/"))
    address = f"/people/{people['user'].pk}/second-factor/reset"
    assert "is signed out everywhere" in markup(boss.post(address, follow=True))
    assert not is_in(theirs)
    assert Client().post("/sign-in/", {"username": "user", "password": PASSWORD})["Location"] == "/jobs/"
    event = AuditEvent.objects.get(action="person.second_factor_removed")
    assert (event.actor_name, event.object_label) == ("administrator", "user")
    own = freshly("administrator")
    set_up(own)
    page = own.post(f"/people/{people['administrator'].pk}/second-factor/reset", follow=True)
    assert "Remove your own second factor on your account page" in markup(page)
    assert second_factors.is_set_up(people["administrator"])


def test_the_same_over_rest(app, client_as, people):
    address = f"/api/people/{people['user'].pk}/second-factor"
    assert client_as("operator").delete(address).status_code == 403
    assert client_as("administrator").delete(address).status_code == 204
    assert not second_factors.is_set_up(people["user"])


def test_the_provider_may_ask_for_it_instead(provider, come, portal_settings):
    provider.person("ann")
    set_up(come("ann").client)
    assert come("ann")["Location"] == "/sign-in/code"
    portal_settings(oidc_second_factor=True, second_factor_roles=("user",))
    answer = come("ann")
    assert answer["Location"] == "/jobs/"
    assert is_in(answer.client)
    details = AuditEvent.objects.filter(action="person.sign_in").latest("pk").detail
    assert details == {"way": "provider", "second_factor": "provider"}


def test_one_person_has_one(app, people):
    with pytest.raises(Exception, match="have an app as a second factor already"):
        second_factors.set_up(User.objects.get(username="user"), "A" * 32, "123456")


def test_codes_that_are_guessed_together_are_all_counted(tmp_path):
    migrated.put_into(tmp_path)
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "gridportal.settings", "GRIDPORTAL_HOME": str(tmp_path)}
    env |= {"DATABASE_URL": "", "REDIS_URL": ""}
    argv = [sys.executable, "-m", "tests.gridportal.accounts.parallel_codes"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=100, check=True, cwd=ROOT, env=env)
    assert json.loads(done.stdout) == {"looked_at": sign_in.CODES_PER_PERSON, "noted": sign_in.CODES_PER_PERSON}


def test_older_sessions_end_when_a_factor_is_set_up(freshly, client_as):
    old, own = client_as("user"), freshly("user")
    set_up(own)
    assert (is_in(old), is_in(own)) == (False, True)


def test_recovery_codes_stand_alone_and_can_be_printed_and_kept(freshly):
    client = freshly("user")
    secret = client.get(PAGE).context["secret"]
    page = markup(client.post(PAGE, {"code": code_of(secret)}))
    assert 'name="code"' not in page
    assert "data-print" in page
    assert 'download="gridportal-recovery-codes.txt" href="data:text/plain;charset=utf-8,Recovery%20codes' in page


def test_a_factor_that_was_just_shown_is_not_asked_for_again(app, monkeypatch):
    client = half()
    client.post("/sign-in/code", {"code": next_code(app[0])})
    assert "Confirm that it is you" not in markup(client.get(PAGE))
    assert len(client.post(f"{PAGE}/codes").context["codes"]) == 10
    later = time.time() + 601
    monkeypatch.setattr("gridportal.accounts.entering.time.time", lambda: later)
    assert "Confirm that it is you" in markup(client.get(PAGE))
    assert client.post(f"{PAGE}/codes").status_code == 422
    assert client.post(f"{PAGE}/confirm", {"code": next_code(app[0])}).status_code == 302
    assert client.post(f"{PAGE}/remove").status_code == 302
