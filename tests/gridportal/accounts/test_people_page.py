"""The pages of people and settings, and people over REST: invite, give a role, switch off, and who may not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import Group
from django.test import Client

from gridportal.accounts.models import AuditEvent, User
from gridportal.accounts.passwords import set_password
from gridportal.accounts.people import create_person


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_somebody_is_invited_and_signs_in_with_the_first_password(client_as: Any, people: Any) -> None:
    form = {"username": "ada", "role": "operator", "email": "ada@example.org"}
    page = words(client_as("administrator").post("/people/invite", form))
    (password,) = re.findall(r'<code id="first-password">([^<]+)</code>', page)
    person = authenticate(username="ada", password=password)
    assert isinstance(person, User)
    assert (person.role, person.email) == ("operator", "ada@example.org")
    assert password not in words(client_as("administrator").get("/people/"))
    assert AuditEvent.objects.filter(action="person.create", actor_name="administrator").exists()


def test_the_first_password_is_to_be_changed_at_the_first_sign_in(client_as: Any, people: Any) -> None:
    form = {"username": "ada", "role": "user", "email": ""}
    page = words(client_as("administrator").post("/people/invite", form))
    (password,) = re.findall(r'<code id="first-password">([^<]+)</code>', page)
    asked = "Somebody else has set your password"
    client, sent = Client(), {"username": "ada", "password": password}
    assert client.post("/sign-in/", sent)["Location"] == "/account/#password"
    assert asked in words(client.get("/account/"))
    assert Client().post("/sign-in/", sent)["Location"] != "/account/#password", "asked again on the page alone"
    set_password(User.objects.get(username="ada"), "another long one 4711")
    fresh = Client()
    fresh.force_login(User.objects.get(username="ada"))
    assert asked not in words(fresh.get("/account/"))


def test_what_cannot_be_taken_back_asks_first(client_as: Any, people: Any) -> None:
    page = words(client_as("administrator").get("/people/"))
    assert 'data-ask="Switch off user?"' in page
    assert "user cannot sign in then: sessions end, and API tokens are revoked for good." in page


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("username", "user", "Enter a name that nobody has yet."),
        ("username", "a b", "Enter letters, digits"),
        ("email", "nobody", "Enter an e-mail address, such as ann@example.org."),
        ("role", "root", "Enter one of user, operator, manager, administrator."),
    ],
)
def test_a_wrong_value_is_told_beside_its_field(
    client_as: Any, people: Any, field: str, value: str, sentence: str
) -> None:
    form = {"username": "ada", "role": "user", "email": ""} | {field: value}
    answer = client_as("administrator").post("/people/invite", form)
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert not User.objects.filter(username="ada").exists()


def test_a_role_is_given_and_a_person_switched_off_and_on(client_as: Any, people: Any) -> None:
    client, person = client_as("administrator"), people["user"]
    assert "has the role manager now" in words(
        client.post(f"/people/{person.pk}/role", {"role": "manager"}, follow=True)
    )
    assert User.objects.get(pk=person.pk).role == "manager"
    assert "is switched off" in words(client.post(f"/people/{person.pk}/switch", {"on": "no"}, follow=True))
    assert not User.objects.get(pk=person.pk).is_active
    assert "can sign in again" in words(client.post(f"/people/{person.pk}/switch", {"on": "yes"}, follow=True))


def test_somebody_stays_who_administers(client_as: Any, people: Any) -> None:
    client, last = client_as("administrator"), people["administrator"]
    said = words(client.post(f"/people/{last.pk}/role", {"role": "user"}, follow=True))
    assert "administrator is the only administrator who can sign in" in said
    assert "You cannot switch yourself off." in words(
        client.post(f"/people/{last.pk}/switch", {"on": "no"}, follow=True)
    )
    assert User.objects.get(pk=last.pk).role == "administrator"
    answer = client.patch(f"/api/people/{last.pk}", {"role": "user"}, content_type="application/json")
    assert answer.status_code == 409


def test_people_are_searched_by_name(client_as: Any, people: Any) -> None:
    client = client_as("administrator")
    page = words(client.get("/people/?q=OPERA"))
    assert "Switch operator off" in page
    assert "Switch manager off" not in page
    assert "Nobody has that in the name" in words(client.get("/people/?q=nobody-like-it"))


def test_people_over_rest(client_as: Any, people: Any) -> None:
    client = client_as("administrator")
    made = client.post("/api/people", {"username": "ada"}, content_type="application/json").json()
    assert made["role"] == "user"
    assert authenticate(username="ada", password=made["password"])
    changed = client.patch(f"/api/people/{made['id']}", {"role": "operator", "is_active": False}, "application/json")
    assert (changed.json()["role"], changed.json()["is_active"]) == ("operator", False)
    assert "password" not in client.get(f"/api/people/{made['id']}").json()
    refused = client.post("/api/people", {"username": "ada"}, content_type="application/json")
    assert (refused.status_code, list(refused.json())) == (400, ["username"])


def test_settings_have_value_meaning_and_origin_and_no_secret(client_as: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIDPORTAL_SECRET_KEY", "quite-a-secret-key-of-fifty-letters-or-more-0123456789")
    page = words(client_as("administrator").get("/settings/"))
    assert "GRIDPORTAL_MEASURE_EVERY" in page
    assert "set, not shown" in page
    assert ">environment<" in page
    assert ">default<" in page
    assert "quite-a-secret" not in page


def test_a_change_that_is_refused_in_part_changes_nothing(client_as: Any, people: Any) -> None:
    client, me = client_as("administrator"), people["administrator"]
    create_person("second", "administrator", "quite-a-good-password")
    asked = {"role": "user", "is_active": False}
    assert client.patch(f"/api/people/{me.pk}", asked, "application/json").status_code == 400
    assert User.objects.get(pk=me.pk).role == "administrator"


def test_no_address_is_longer_than_the_database_keeps(client_as: Any, people: Any) -> None:
    email = f"{'a' * 60}@{'.'.join(['b' * 60] * 4)}"
    client = client_as("administrator")
    refused = client.post("/api/people", {"username": "ada", "email": email}, content_type="application/json")
    assert (refused.status_code, list(refused.json())) == (400, ["email"])
    form = {"username": "ada", "email": email, "role": "user"}
    assert client.post("/people/invite", form).status_code == 422
    assert not User.objects.filter(username="ada").exists()


def test_people_sort_by_their_columns(client_as: Any, people: Any) -> None:
    def listed(sort: str) -> list[str]:
        page = words(client_as("administrator").get(f"/people/?sort={sort}"))
        assert page.count("aria-sort=") == 1
        return re.findall(r'<td class="keep"> ?<a href="/jobs/\?q=(\w+)"', page)

    User.objects.filter(username="user").update(email="a@example.org")
    User.objects.filter(username="operator").update(email="b@example.org")
    assert listed("-name") == sorted((person.username for person in people.values()), reverse=True)
    assert listed("email")[:2] == ["user", "operator"]
    assert listed("-email")[:2] == ["operator", "user"]


def test_nobody_new_takes_the_name_of_a_group_or_one_that_looks_like_another(client_as: Any, people: Any) -> None:
    Group.objects.create(name="Climate")
    for name, accepted in (
        ("climate", "a name that no group has"),
        ("\N{CYRILLIC SMALL LETTER A}da", "letters of one script in their usual form"),
    ):
        answer = client_as("administrator").post("/people/invite", {"username": name, "role": "user", "email": ""})
        assert answer.status_code == 422
        assert accepted in words(answer)
        assert not User.objects.filter(username=name).exists()
