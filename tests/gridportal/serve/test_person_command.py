"""`gridportal person`: who may be made, and what is refused."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from typer.testing import CliRunner

from gridportal.accounts.models import AuditEvent, User
from gridportal.base.errors import InputError
from gridportal.serve import person_command as person

PASSWORD = "correct-horse-battery"


@pytest.fixture(autouse=True)
def on_the_test_database(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person, "database", nullcontext)
    monkeypatch.setenv("GRIDPORTAL_NEW_PASSWORD", PASSWORD)


def run(*words: str, typed: str = "") -> str:
    result = CliRunner().invoke(person.app, list(words), input=typed, catch_exceptions=True)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_the_first_administrator_is_made_and_noted() -> None:
    assert json.loads(run("create", "ada", "--role", "administrator", "--json")) == {
        "name": "ada",
        "role": "administrator",
    }
    ada = User.objects.get(username="ada")
    assert ada.is_superuser
    assert ada.check_password(PASSWORD)
    assert AuditEvent.objects.filter(action="person.create", actor_name="command line").exists()


def test_the_password_is_asked_for_twice_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRIDPORTAL_NEW_PASSWORD")
    said = run("create", "bob", typed=f"{PASSWORD}\n{PASSWORD}\n")
    assert PASSWORD not in said
    assert User.objects.get(username="bob").check_password(PASSWORD)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["create", "ada", "--role", "king"], "--role"),
        (["create", "a b"], "username"),
        (["role", "nobody", "user"], "name"),
    ],
)
def test_what_cannot_be_is_refused_by_field(words: list[str], field: str) -> None:
    with pytest.raises(InputError) as refused:
        run(*words)
    assert refused.value.field == field


def test_a_weak_password_is_refused_without_repeating_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIDPORTAL_NEW_PASSWORD", "12345678")
    with pytest.raises(InputError) as refused:
        run("create", "eve")
    assert "12345678" not in str(refused.value)
    assert not User.objects.exists()


def test_a_role_is_changed_and_listed() -> None:
    run("create", "ada")
    assert "ada is operator now." in run("role", "ada", "operator")
    assert json.loads(run("list", "--json"))["people"][0]["role"] == "operator"


def works(text: str) -> bool:
    return Client(headers={"Authorization": f"Bearer {text}"}).get("/api/me").status_code == 200


def test_a_token_for_scripts_is_printed_once_and_listed_without_its_text() -> None:
    run("create", "ada")
    text = run("token", "ada", "--expires", "7", "--name", "nightly").strip()
    assert works(text)
    made = json.loads(run("token", "ada", "--json"))
    assert works(made["token"])
    assert (made["name"], made["expires"] > made["made"]) == ("command line", True)
    listed = run("tokens", "ada")
    assert text not in listed
    assert text[:8] in listed
    assert [token["name"] for token in json.loads(run("tokens", "ada", "--json"))["tokens"]] == [
        "command line",
        "nightly",
    ]


def test_a_script_gets_the_bare_token_and_a_person_its_end() -> None:
    run("create", "ada")
    result = CliRunner().invoke(person.app, ["token", "ada", "--expires", "7"])
    assert result.stdout.split() == [result.stdout.strip()]
    assert "It expires at " in result.stderr
    assert result.stdout.strip() not in result.stderr


def test_who_names_no_token_may_make_another() -> None:
    run("create", "ada")
    texts = [run("token", "ada").strip() for _ in range(3)]
    assert all(map(works, texts))
    names = [made["name"] for made in json.loads(run("tokens", "ada", "--json"))["tokens"]]
    assert sorted(names) == ["command line", "command line 2", "command line 3"]


def test_a_token_without_end_is_refused_in_the_words_of_the_setting(settings, monkeypatch) -> None:
    run("create", "ada")
    with pytest.raises(InputError, match=r"a whole number from 1 to 365 \(GRIDPORTAL_TOKEN_DAYS\)"):
        run("token", "ada", "--expires", "0")
    monkeypatch.setattr(settings.PORTAL, "token_days", 0)
    result = CliRunner().invoke(person.app, ["token", "ada", "--expires", "0"])
    assert "It does not expire." in result.stderr
    help_text = " ".join(CliRunner().invoke(person.app, ["token", "--help"]).stdout.split())
    assert "GRIDPORTAL_TOKEN_DAYS is 0" in help_text


def test_tokens_are_revoked_by_name_by_beginning_and_all() -> None:
    run("create", "ada")
    texts = [run("token", "ada", "--name", name).strip() for name in ("one", "two", "three", "four")]
    assert "Revoked 1 of ada's tokens." in run("revoke", "ada", "one")
    run("revoke", "ada", texts[1][:8])
    assert [works(text) for text in texts] == [False, False, True, True]
    assert json.loads(run("revoke", "ada", "--all", "--json")) == {"name": "ada", "revoked": 2}
    assert AuditEvent.objects.filter(action="token.revoke", actor_name="command line").count() == 4


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["token", "ada", "--expires", "366"], "--expires"),
        (["token", "ada", "--expires", "0"], "--expires"),
        (["token", "ada", "--name", ""], "--name"),
        (["token", "nobody"], "name"),
        (["revoke", "ada", "none"], "token"),
        (["tokens", "nobody"], "name"),
        (["off", "nobody"], "name"),
    ],
)
def test_what_no_token_can_be_is_refused_by_field(words: list[str], field: str) -> None:
    run("create", "ada")
    with pytest.raises(InputError) as refused:
        run(*words)
    assert refused.value.field == field


def test_a_new_password_revokes_the_tokens_unless_they_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    run("create", "ada")
    text = run("token", "ada").strip()
    monkeypatch.setenv("GRIDPORTAL_NEW_PASSWORD", "quite-another-9")
    run("password", "ada", "--keep-tokens")
    assert works(text)
    assert "1 API tokens are revoked" in run("password", "ada")
    assert not works(text)
    assert User.objects.get(username="ada").check_password("quite-another-9")


def test_a_person_is_switched_off_and_on() -> None:
    run("create", "ada")
    text = run("token", "ada").strip()
    assert "ada is switched off." in run("off", "ada")
    assert not User.objects.get(username="ada").is_active
    run("on", "ada")
    assert User.objects.get(username="ada").is_active
    assert not works(text)


def test_a_lost_second_factor_is_taken_away() -> None:
    run("create", "ada", "--role", "administrator")
    ada = User.objects.get(username="ada")
    Authenticator.objects.create(user=ada, type=Authenticator.Type.TOTP, data={"secret": "x"})
    assert run("factor", "ada") == "ada has a second factor.\n"
    assert run("factor", "ada", "--remove") == "ada has no second factor any more.\n"
    assert json.loads(run("factor", "ada", "--remove", "--json")) == {
        "name": "ada",
        "second_factor": False,
        "removed": False,
    }
    assert AuditEvent.objects.get(action="person.second_factor_removed").actor_name == "command line"
