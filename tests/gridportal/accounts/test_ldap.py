"""Signing in by a real LDAP server (slapd): names, passwords, groups, and a server that is away."""

from __future__ import annotations

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from gridportal.accounts.ldap_directory import Directory, DirectoryError
from gridportal.accounts.models import AuditEvent, User
from gridportal.accounts.services import create_person, switch
from tests.conftest import PASSWORD
from tests.gridportal.accounts.conftest import shown
from tests.ldap_server import SUFFIX, slapd_server
from tests.markup import markup

pytestmark = pytest.mark.ldap


@pytest.fixture(scope="module")
def running_slapd():
    with slapd_server() as slapd:
        yield slapd


@pytest.fixture
def slapd(running_slapd, portal_settings, db):
    running_slapd.empty()
    portal_settings(**running_slapd.settings())
    return running_slapd


def come(uid, password=None, client=None):
    client = client or Client()
    answer = client.post("/sign-in/", {"username": uid, "password": password or f"{uid}-secret"})
    answer.client = client
    return answer


def test_somebody_of_the_directory_comes_in_and_is_the_same_after_a_new_name(slapd):
    slapd.person("ann")
    assert come("ann").status_code == 302
    ann = User.objects.get(username="ann")
    assert (ann.role, ann.email, ann.has_usable_password()) == ("user", "ann@example.org", False)
    assert AuditEvent.objects.get(action="person.sign_in").detail == {"way": "ldap"}
    slapd.rename("ann", "ann-smith")
    assert come("ann-smith", "ann-secret").status_code == 302
    assert list(User.objects.values_list("username", flat=True)) == ["ann"]


@pytest.mark.parametrize("password", ["wrong", " ", "ann-secret ", "*"])
def test_a_wrong_password_is_refused_and_counted(slapd, password):
    slapd.person("ann")
    for _ in range(5):
        assert "do not belong together" in markup(come("ann", password))
    assert "Too many failed sign-ins" in markup(come("ann"))
    assert not User.objects.exists()


@pytest.mark.parametrize("name", ["*", "a*", "ann)(uid=*", "ann)(|(uid=*", "\\61nn", "ann,ou=people"])
def test_a_name_is_never_read_as_a_filter(slapd, name):
    slapd.person("ann")
    assert come(name, "ann-secret").status_code == 200
    assert not User.objects.exists()


def test_an_empty_password_is_nobodys(slapd):
    dn = slapd.person("ann")
    directory = Directory(url=slapd.url, base=SUFFIX, bind_dn=dn, password="ann-secret")
    entry = directory.find("ann")
    assert directory.accepts(entry, "ann-secret")
    assert not directory.accepts(entry, "")


def test_groups_of_both_kinds_give_role_and_groups_anew_each_time(slapd, portal_settings):
    portal_settings(
        ldap_roles={"HPC-Ops": "operator", "*": "user"}, ldap_groups={f"cn=phys,ou=groups,{SUFFIX}": "physics"}
    )
    dn = slapd.person("ann")
    slapd.group("hpc-ops", dn)
    slapd.group("phys", "ann", "bob")
    come("ann")
    ann = User.objects.get(username="ann")
    assert set(ann.groups.values_list("name", flat=True)) == {"operator", "physics"}
    slapd.remove_group("hpc-ops")
    slapd.remove_group("phys")
    come("ann")
    assert set(ann.groups.values_list("name", flat=True)) == {"user"}


def test_who_is_in_no_group_or_switched_off_stays_outside(slapd, portal_settings):
    slapd.person("ann")
    come("ann")
    switch(User.objects.get(username="ann"), False)
    assert "switched off" in markup(come("ann"))
    switch(User.objects.get(username="ann"), True)
    portal_settings(ldap_roles={"ops": "operator"})
    assert "in none of the groups of LDAP" in markup(come("ann"))
    assert AuditEvent.objects.filter(action="person.sign_in_refused").count() == 2


def test_an_account_with_a_password_of_the_portal_is_no_business_of_the_servers(slapd, people):
    slapd.person("user")
    assert come("user", PASSWORD).status_code == 302
    assert "do not belong together" in markup(come("user"))
    assert "account with your username already" in markup(come("USER", "user-secret"))
    assert not SocialAccount.objects.exists()


def test_who_was_invited_by_that_name_is_met(slapd, db):
    slapd.person("ann")
    create_person("ann", "operator", PASSWORD)
    assert come("ann").status_code == 302
    ann = User.objects.get(username="ann")
    assert (ann.role, ann.has_usable_password()) == ("operator", False)


def test_who_is_signed_in_joins_the_entry_by_its_password(slapd, freshly):
    slapd.person("theirs")
    client = freshly("user")
    wrong = client.post("/account/ldap", {"username": "theirs", "password": "guess"})
    wrong.client = client
    assert "do not belong together at the LDAP server" in shown(wrong)
    assert client.post("/account/ldap", {"username": "theirs", "password": "theirs-secret"}).status_code == 302
    assert come("theirs").client.get("/account/").context["user"].username == "user"


def test_starttls_with_the_right_certificate_only(slapd, portal_settings):
    slapd.person("ann")
    sealed = slapd.url.replace("ldap://", "ldap+starttls://")
    portal_settings(ldap_url=sealed, ldap_ca_file=slapd.certificate)
    assert come("ann").status_code == 302
    portal_settings(ldap_ca_file=None)
    assert "The LDAP server does not answer" in markup(come("ann"))


def test_a_server_that_is_away_keeps_no_local_person_out(slapd, people, portal_settings):
    portal_settings(ldap_url="ldap://127.0.0.1:9")
    assert come("user", PASSWORD).status_code == 302
    assert "The LDAP server does not answer" in markup(come("nobody"))


def test_a_server_that_does_not_know_the_portal_says_so(slapd, portal_settings):
    portal_settings(ldap_bind_password="changed")
    with pytest.raises(DirectoryError, match="look people up"):
        Directory(url=slapd.url, base=SUFFIX, bind_dn=f"cn=admin,{SUFFIX}", password="changed").find("ann")
    assert "The LDAP server does not answer" in markup(come("ann"))


def test_the_settings_page_asks_the_server(slapd, client_as):
    slapd.person("ann")
    client = client_as("administrator")
    assert "Try the LDAP server" in markup(client.get("/settings/"))
    said = markup(client.post("/settings/try-ldap", follow=True))
    assert f"answers and knows 1 person below ou=people,{SUFFIX}" in said
    slapd.empty()
    assert "nobody fits (objectClass=person)" in markup(client.post("/settings/try-ldap", follow=True))
