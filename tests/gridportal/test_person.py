"""`gridportal person`: who may be made, and what is refused."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest
from typer.testing import CliRunner

from gridportal import person
from gridportal.accounts.models import AuditEvent, User
from gridportal.errors import InputError

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
