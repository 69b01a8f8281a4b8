"""People and their roles."""

from __future__ import annotations

import re
import stat
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import Client
from django.utils import timezone

from gridportal.accounts.models import AuditEvent, User
from gridportal.accounts.services import create_person, ensure_demo_people, set_role
from gridportal.base.errors import InputError
from monitoring.clusters.models import Cluster
from tests.conftest import PASSWORD
from tests.markup import markup


def test_the_roles_are_groups_made_by_the_migration(db):
    from django.contrib.auth.models import Group

    assert set(Group.objects.values_list("name", flat=True)) >= {"user", "operator", "manager"}


@pytest.mark.parametrize("role", ["user", "operator", "manager", "administrator"])
def test_a_person_has_exactly_the_role_given_last(people, role):
    person = set_role(people["manager"], role)
    assert person.role == User.objects.get(pk=person.pk).role == role
    assert person.is_superuser == (role == "administrator")
    assert AuditEvent.objects.filter(action="person.set_role", object_label="manager", detail={"role": role}).exists()


def test_an_unknown_role_is_refused(people):
    with pytest.raises(InputError, match="one of user, operator, manager, administrator"):
        set_role(people["user"], "root")


@pytest.mark.parametrize(
    ("username", "role", "password", "field"),
    [
        ("user", "user", PASSWORD, "username"),
        ("USER", "user", PASSWORD, "username"),
        ("a b", "user", PASSWORD, "username"),
        ("new", "king", PASSWORD, "role"),
        ("new", "user", "12345", "password"),
    ],
)
def test_a_person_needs_a_free_name_a_role_and_a_good_password(people, username, role, password, field):
    with pytest.raises(InputError) as caught:
        create_person(username, role, password)
    assert caught.value.field == field
    assert password not in str(caught.value)


def test_demo_people_sign_in_and_stay_the_same(db):
    first = ensure_demo_people()
    assert ensure_demo_people() == first
    assert [role for _, _, role in first] == ["user", "user", "operator", "manager", "administrator"]
    for username, password, role in first:
        assert authenticate(username=username, password=password).role == role
    assert stat.S_IMODE((settings.PORTAL.home / "demo_password").stat().st_mode) == 0o600


def test_the_password_of_all_demo_people_is_hashed_once_and_checked_once(db, monkeypatch):
    hashed = []
    encode = MD5PasswordHasher.encode
    monkeypatch.setattr(MD5PasswordHasher, "encode", lambda *given: hashed.append(given) or encode(*given))
    ensure_demo_people()
    assert len(hashed) == 1
    ensure_demo_people()
    assert len(hashed) == 2


def test_demo_people_get_their_printed_password_back(db):
    username, password, _ = ensure_demo_people()[0]
    person = User.objects.get(username=username)
    person.set_password("something else")
    person.save()
    ensure_demo_people()
    assert authenticate(username=username, password=password) == person


def test_a_password_is_changed_on_the_account_page(client_as):
    client = client_as("user")
    fields = {"old_password": PASSWORD, "new_password1": "quite-another-9", "new_password2": "quite-another-9"}
    assert client.post("/account/password", fields | {"old_password": "wrong"}).status_code == 400
    assert client.post("/account/password", fields).status_code == 302
    assert client.get("/account/").status_code == 200
    assert authenticate(username="user", password="quite-another-9")
    assert AuditEvent.objects.get(action="person.change_password").actor_name == "user"


def test_changing_the_password_ends_the_other_sessions(client_as):
    here, there = client_as("user"), client_as("user")
    fields = {"old_password": PASSWORD, "new_password1": "quite-another-9", "new_password2": "quite-another-9"}
    here.post("/account/password", fields)
    assert there.get("/account/").status_code == 302


def test_the_account_page_says_who_one_is_and_what_one_may_do(client_as):
    page = markup(client_as("manager").get("/account/"))
    assert "manager" in page
    assert "not submit or cancel jobs" in page


def test_the_administration_has_no_door_of_its_own(client_as):
    answer = Client().get("/admin/login/")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=/admin/")
    assert client_as("operator").get("/admin/login/").status_code == 403
    assert client_as("administrator").get("/admin/").status_code == 200


def test_the_foot_of_the_administration_has_the_age_of_what_is_measured(client_as):
    cluster = Cluster.objects.create(name="grid", topology="star", kind="links")
    assert "grid not measured yet · all times UTC" in _text(client_as("administrator").get("/admin/"))
    cluster.measured_at = timezone.now() - timedelta(hours=2)
    cluster.save()
    assert "grid measured 2 h ago · all times UTC" in _text(client_as("administrator").get("/admin/"))


def _text(answer):
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def test_staff_who_are_no_administrators_stay_outside(people, client_as):
    people["operator"].is_staff = True
    people["operator"].save()
    assert client_as("operator").get("/admin/", follow=True).status_code == 403


def test_what_an_administrator_changes_about_people_is_in_the_trail(people, client_as):
    from django.contrib.auth.models import Group
    from django.urls import reverse

    fields = {"username": "user", "is_active": "on", "groups": [Group.objects.get(name="operator").pk]}
    address = reverse("admin:accounts_user_change", args=[people["user"].pk])
    assert client_as("administrator").post(address, fields).status_code == 302
    event = AuditEvent.objects.get(action="person.change")
    assert (event.actor_name, event.object_label, event.detail) == ("administrator", "user", {"role": "operator"})
