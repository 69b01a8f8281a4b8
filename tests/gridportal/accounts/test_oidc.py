"""Signing in by a real OpenID Connect provider: the whole code flow, and everything that keeps somebody out."""

from __future__ import annotations

import time
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Group
from django.test import Client

from gridportal.accounts import sign_in
from gridportal.accounts.models import AuditEvent, User
from gridportal.accounts.services import create_person, create_token, set_role, switch
from tests.conftest import PASSWORD
from tests.gridportal.accounts.conftest import shown
from tests.markup import markup


def refused(answer, reason: str) -> str:
    """What the sign-in page says; nobody is signed in, and the trail has the reason."""
    assert answer["Location"] == "/sign-in/"
    assert answer.client.get("/account/").status_code == 302
    assert AuditEvent.objects.filter(action="person.sign_in_refused").latest("pk").detail["reason"] == reason
    return shown(answer)


def test_a_new_person_comes_in_by_the_whole_flow(provider, come):
    provider.person("ann")
    answer = come("ann", next="/account/")
    assert (answer.status_code, answer["Location"]) == (302, "/account/")
    ann = User.objects.get(username="ann")
    assert (ann.role, ann.email, ann.has_usable_password()) == ("user", "ann@example.org", False)
    assert "With Campus, as ann" in " ".join(markup(answer.client.get("/account/")).split())
    event = AuditEvent.objects.get(action="person.sign_in")
    assert (event.actor_name, event.detail) == ("ann", {"way": "provider"})
    assert {"person.create", "person.join_identity"} <= set(AuditEvent.objects.values_list("action", flat=True))


def test_who_comes_again_is_the_same_person_whatever_the_provider_calls_them_now(provider, come):
    provider.person("ann")
    come("ann")
    provider.person("ann", preferred_username="root", email="new@example.org")
    assert come("ann")["Location"] == "/jobs/"
    assert list(User.objects.values_list("username", "email")) == [("ann", "ann@example.org")]


def test_state_nonce_and_pkce_go_to_the_provider(provider):
    there = urlsplit(Client().post("/sign-in/provider").context["address"])
    asked = parse_qs(there.query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == ["http://testserver/sign-in/provider/callback"]
    assert set(asked["scope"][0].split()) == {"openid", "profile", "email"}
    assert all(len(asked[name][0]) >= 16 for name in ("state", "nonce", "code_challenge"))


def test_a_code_is_of_no_use_to_another_browser_nor_a_second_time(provider):
    provider.person("ann")
    mine, theirs = Client(), Client()
    back = urlsplit(provider.agree(mine.post("/sign-in/provider").context["address"], "ann"))
    address = f"{back.path}?{back.query}"
    answer = theirs.get(address)
    answer.client = theirs
    assert "was not begun here" in refused(answer, "not-begun")
    assert mine.get(address)["Location"] == "/jobs/"
    mine.post("/sign-out/")
    again = mine.get(address)
    again.client = mine
    assert "was not begun here" in refused(again, "not-begun")


def test_a_stolen_code_without_the_verifier_is_refused_by_the_provider(provider):
    provider.person("ann")
    client = Client()
    there = client.post("/sign-in/provider").context["address"]
    session = client.session
    states = session["socialaccount_states"]
    next(iter(states.values()))[0]["pkce_code_verifier"] = "another-one-" * 6
    session["socialaccount_states"] = states
    session.save()
    back = urlsplit(provider.agree(there, "ann"))
    answer = client.get(f"{back.path}?{back.query}")
    answer.client = client
    assert "cannot be trusted" in refused(answer, "bad-answer")


def without(name):
    return lambda claims: {key: value for key, value in claims.items() if key != name}


@pytest.mark.parametrize(
    "change",
    [
        lambda claims: claims | {"iss": "https://evil.example"},
        lambda claims: claims | {"aud": "another-portal"},
        lambda claims: claims | {"aud": ["portal", "another"]},
        lambda claims: claims | {"azp": "another"},
        lambda claims: claims | {"exp": int(time.time()) - 60},
        lambda claims: claims | {"nonce": "of-another-sign-in"},
        lambda claims: claims | {"sub": "somebody-else"},
        *map(without, ("iss", "aud", "exp", "nonce", "sub")),
    ],
)
def test_an_id_token_that_is_not_for_this_sign_in_lets_nobody_in(provider, come, change):
    provider.person("ann")
    provider.change = change
    assert "The answer of Campus cannot be trusted" in refused(come("ann"), "bad-answer")
    assert not User.objects.exists()


def test_what_the_page_about_the_person_says_of_somebody_else_lets_nobody_in(provider, come):
    provider.person("ann")
    provider.change_person = lambda about: about | {"sub": "bob"}
    assert "cannot be trusted" in refused(come("ann"), "bad-answer")


def test_a_provider_that_calls_itself_otherwise_is_not_the_one_of_the_settings(provider):
    provider.describe = lambda about: about | {"issuer": "https://evil.example"}
    client = Client()
    answer = client.post("/sign-in/provider")
    answer.client = client
    assert "cannot be trusted" in refused(answer, "bad-answer")


def test_a_provider_that_is_away_is_said_and_passwords_still_work(provider, people, portal_settings):
    portal_settings(oidc_issuer="http://127.0.0.1:9")
    client = Client()
    answer = client.post("/sign-in/provider")
    answer.client = client
    assert "Campus does not answer" in refused(answer, "no-answer")
    assert client.post("/sign-in/", {"username": "user", "password": PASSWORD}).status_code == 302


def test_who_says_no_at_the_provider_is_not_signed_in(provider):
    client = Client()
    back = urlsplit(provider.agree(client.post("/sign-in/provider").context["address"], "ann", action="deny"))
    # The provider leaves the state out here, as no real one does.
    state = next(iter(client.session["socialaccount_states"]))
    answer = client.get(f"{back.path}?{back.query}&state={state}")
    answer.client = client
    assert "says that you said no" in refused(answer, "cancelled")


@pytest.mark.parametrize(
    "claims",
    [
        *({"email": ""}, {"email_verified": False}, {"email_verified": None}),
        *({"email": bad} for bad in ("a@b.c\nBcc: x@y", "a\0@b.c", f"{'a' * 400}@b.org", 5, ["a@b.org"])),
    ],
)
def test_a_new_person_needs_an_address_that_the_provider_has_confirmed(provider, come, claims):
    provider.person("ann", **claims)
    assert "gives no confirmed e-mail address" in refused(come("ann"), "no-email")


def test_who_is_switched_off_does_not_come_in_this_way_either(provider, come):
    provider.person("ann")
    first = come("ann")
    switch(User.objects.get(username="ann"), False)
    assert first.client.get("/account/").status_code == 302
    assert "switched off" in refused(come("ann"), "switched-off")
    provider.person("ann-2", email="ann@example.org")
    assert "switched off" in refused(come("ann-2"), "switched-off")


def test_groups_give_the_role_anew_at_each_sign_in(provider, come, portal_settings):
    portal_settings(oidc_roles={"ops": "operator", "bosses": "manager", "*": "user"})
    provider.person("ann", groups=["bosses", "ops", "choir"])
    come("ann")
    ann = User.objects.get(username="ann")
    assert ann.role == "operator"
    provider.person("ann", groups=["bosses"])
    come("ann")
    assert User.objects.get(pk=ann.pk).role == "manager"
    provider.person("ann", groups=[])
    come("ann")
    assert User.objects.get(pk=ann.pk).role == "user"
    assert AuditEvent.objects.filter(action="person.set_role", actor_name="Campus").count() == 2


def test_only_the_mapping_makes_administrators(provider, come, portal_settings):
    provider.person("ann", groups=["administrator", "admins"], role="administrator")
    come("ann")
    assert User.objects.get(username="ann").role == "user"
    portal_settings(oidc_roles={"admins": "administrator"})
    come("ann")
    assert User.objects.get(username="ann").is_superuser


def test_who_was_taken_out_of_the_groups_is_refused_and_what_was_open_is_shut(provider, come, portal_settings):
    portal_settings(oidc_roles={"ops": "operator"})
    provider.person("ann", groups=["ops"])
    before = come("ann")
    create_token(User.objects.get(username="ann"), "laptop")
    provider.person("ann", groups=["choir"])
    assert "in none of the groups of Campus" in refused(come("ann"), "no-group")
    assert before.client.get("/account/").status_code == 302
    assert not User.objects.get(username="ann").tokens.exists()


def test_a_provider_that_does_not_speak_of_groups_lets_nobody_in_and_shuts_nothing(provider, come, portal_settings):
    portal_settings(oidc_roles={"ops": "operator"})
    provider.person("ann", groups=["ops"])
    before = come("ann")
    provider.person("ann")
    assert "does not say in which groups" in refused(come("ann"), "groups-missing")
    assert before.client.get("/account/").status_code == 200


def test_groups_of_the_portal_follow_and_others_stay(provider, come, portal_settings):
    portal_settings(oidc_groups={"phys": "physics", "chem": "chemistry"}, oidc_groups_claim="realm.groups")
    provider.person("ann", realm={"groups": ["phys"]})
    come("ann")
    ann = User.objects.get(username="ann")
    ann.groups.add(Group.objects.create(name="by hand"))
    assert set(ann.groups.values_list("name", flat=True)) == {"user", "physics", "by hand"}
    provider.person("ann", realm={"groups": ["chem"]})
    come("ann")
    assert set(ann.groups.values_list("name", flat=True)) == {"user", "chemistry", "by hand"}


def test_the_only_administrator_stays_one(provider, come, portal_settings, freshly, people):
    portal_settings(oidc_roles={"*": "user"})
    provider.person("boss", groups=[])
    come("boss", freshly("administrator"), "/account/provider")
    assert User.objects.get(username="administrator").is_superuser
    assert come("boss")["Location"] == "/jobs/"
    assert User.objects.get(username="administrator").is_superuser


def test_an_account_that_is_in_use_is_not_taken_over_by_its_name_or_address(provider, come, people):
    User.objects.filter(username="user").update(email="user@example.org")
    Client().post("/sign-in/", {"username": "user", "password": PASSWORD})
    provider.person("User", email="else@example.org")
    assert "account with your username already" in refused(come("User"), "name-taken")
    provider.person("new", email="USER@example.org")
    assert "account with your e-mail address already" in refused(come("new"), "email-taken")
    assert not SocialAccount.objects.exists()


def test_an_invitation_is_met_by_a_confirmed_address_and_its_first_password_ends(provider, come, client_as):
    client_as("administrator").post("/people/invite", {"username": "ada", "role": "operator", "email": "ada@x.org"})
    provider.person("a-lovelace", email="ada@x.org", email_verified=False)
    assert "no confirmed e-mail" in refused(come("a-lovelace"), "no-email")
    provider.person("a-lovelace", email="Ada@x.org")
    assert come("a-lovelace").client.get("/account/").status_code == 200
    ada = User.objects.get(username="ada")
    assert (ada.role, ada.has_usable_password(), ada.socialaccount_set.count()) == ("operator", False, 1)


def test_whoever_has_used_an_account_keeps_it_to_themselves(provider, come, db):
    ada = create_person("ada", "user", PASSWORD)
    User.objects.filter(pk=ada.pk).update(email="ada@x.org")
    create_token(ada, "first")
    provider.person("a-lovelace", email="ada@x.org")
    assert "e-mail address already" in refused(come("a-lovelace"), "email-taken")


@pytest.mark.parametrize("name", ["", "a b", "x" * 151])
def test_a_name_that_is_no_username_is_refused(provider, come, name):
    provider.person("ann", preferred_username=name)
    assert "no name that can be a username" in refused(come("ann"), "bad-name")


def test_where_only_the_invited_may_come_others_are_told_so(provider, come, portal_settings):
    portal_settings(oidc_new_people=False)
    provider.person("ann")
    assert "ask an administrator to invite you" in refused(come("ann"), "unknown-person")


def test_who_is_signed_in_joins_the_account_there_and_parts_from_it(provider, come, freshly, people):
    provider.person("theirs")
    client = freshly("user")
    answer = come("theirs", client, "/account/provider")
    assert answer["Location"] == "/account/"
    assert "is a way for you to sign in now." in shown(answer)
    assert come("theirs").client.get("/account/").context["user"].username == "user"
    again = come("theirs", freshly("other"), "/account/provider")
    assert "joined with another person" in shown(again)
    joined = SocialAccount.objects.get()
    assert freshly("other").post(f"/account/identities/{joined.pk}/leave").status_code == 302
    assert SocialAccount.objects.exists()
    client.post(f"/account/identities/{joined.pk}/leave")
    assert not SocialAccount.objects.exists()


def test_the_only_way_in_is_not_left(provider, come):
    provider.person("ann")
    client = come("ann").client
    answer = client.post(f"/account/identities/{SocialAccount.objects.get().pk}/leave")
    answer.client = client
    assert "your only way to sign in" in shown(answer)
    assert SocialAccount.objects.exists()


def test_long_after_signing_in_nothing_is_joined(provider, client_as):
    client = client_as("user")
    answer = client.post("/account/provider")
    answer.client = client
    assert "sign in again to change this" in shown(answer)


def test_next_never_leaves_this_host(provider, come):
    provider.person("ann")
    assert come("ann", next="https://elsewhere.example/")["Location"] == "/jobs/"


def test_made_up_answers_do_not_fill_the_trail(provider, monkeypatch):
    monkeypatch.setattr(sign_in, "PER_ADDRESS", 3)
    for _ in range(5):
        assert Client().get("/sign-in/provider/callback?state=x&code=y")["Location"] == "/sign-in/"
    assert AuditEvent.objects.filter(action="person.sign_in_refused").count() == 3
    Client(REMOTE_ADDR="10.0.0.9").get("/sign-in/provider/callback?state=x&code=y")
    assert AuditEvent.objects.filter(action="person.sign_in_refused").count() == 4


def test_the_way_to_the_provider_begins_with_a_form_of_ours(provider):
    assert Client(enforce_csrf_checks=True).post("/sign-in/provider").status_code == 403
    page = Client().post("/sign-in/provider")
    assert "form-action 'self'" in page["Content-Security-Policy"]
    assert 'http-equiv="refresh"' in markup(page)


def test_without_a_provider_there_is_no_button_and_no_address(people):
    assert "Sign in with" not in markup(Client().get("/sign-in/"))
    assert Client().post("/sign-in/provider").status_code == 404
    assert Client().get("/sign-in/provider/callback").status_code == 404


def test_passwords_can_be_switched_off(provider, come, portal_settings, people):
    portal_settings(local_passwords=False)
    page = markup(Client().get("/sign-in/"))
    assert "Sign in with Campus" in page
    assert "Password" not in page
    answer = Client().post("/sign-in/", {"username": "user", "password": PASSWORD})
    assert answer.status_code == 200
    assert "Nobody signs in with a password here." in markup(answer)
    assert not AuditEvent.objects.filter(action="person.sign_in").exists()


def test_without_passwords_an_invitation_has_none(provider, come, portal_settings, client_as):
    portal_settings(local_passwords=False)
    form = {"username": "ada", "role": "manager", "email": "ada@example.org"}
    page = markup(client_as("administrator").post("/people/invite", form))
    assert "comes by single sign-on" in page
    assert "first password" not in page
    assert not User.objects.get(username="ada").has_usable_password()
    provider.person("ada")
    assert come("ada").client.get("/account/").context["user"].role == "manager"


def test_who_has_no_password_changes_none(provider, come):
    provider.person("ann")
    client = come("ann").client
    assert 'id="password"' not in markup(client.get("/account/"))
    fields = {"old_password": "x", "new_password1": "quite-another-9", "new_password2": "quite-another-9"}
    assert client.post("/account/password", fields).status_code == 403


def test_the_settings_page_asks_the_provider_and_says_what_it_answers(provider, client_as):
    client = client_as("administrator")
    assert "Try the provider" in markup(client.get("/settings/"))
    said = markup(client.post("/settings/try-provider", follow=True))
    assert f"answers as {provider.issuer} and shows 1 key" in said
    assert "http://testserver/sign-in/provider/callback" in said
    provider.describe = lambda about: about | {"issuer": "https://evil.example"}
    assert "cannot be used" in markup(client.post("/settings/try-provider", follow=True))


def test_a_role_given_by_hand_lasts_until_the_next_sign_in(provider, come, portal_settings):
    portal_settings(oidc_roles={"*": "user"})
    provider.person("ann", groups=[])
    come("ann")
    set_role(User.objects.get(username="ann"), "operator")
    come("ann")
    assert User.objects.get(username="ann").role == "user"
