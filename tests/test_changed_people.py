"""Every address by every method for people whose standing changed: switched off, given another role while signed in,
with a token that expired or was revoked; and for things of people of every role. Beside test_permissions_matrix.py,
whose table says what each role gets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from gridportal.accounts import wrong_tokens
from gridportal.accounts.models import ApiToken
from gridportal.accounts.services import create_token, set_role, switch
from scheduling.contracts.models import Contract
from tests.conftest import ROLES as PEOPLE
from tests.test_permissions_matrix import METHODS, NAMES, ROLES, TABLE, ask, of_job, refusals, world

__all__ = ["world"]

API = [name for name in NAMES if name.startswith("api-")]
#: What the role of one who owns nothing here gets: the table's columns, where `other` is a plain user.
COLUMN = {"user": "other", "operator": "operator", "manager": "manager", "administrator": "administrator"}
#: Those with the fewest and the most rights, and one between them; `make test-slow` has the others.
SOME = ("anonymous", "user", "administrator")
#: More rights and fewer; `make test-slow` has the changes to roles between.
CHANGES = [
    *(("other", "administrator"), ("operator", "user")),
    *(pytest.param(*each, marks=pytest.mark.slow) for each in (("other", "operator"), ("operator", "manager"))),
]


@pytest.fixture(autouse=True)
def no_throttle(monkeypatch):
    """How many wrong tokens are too many is tried elsewhere."""
    monkeypatch.setattr(wrong_tokens, "LIMIT", 10**9)


def methods(name: str) -> list[str]:
    """Those that have a row for this address, and one that has none and is refused: that all others are, too, each role
    is tried with in the other file."""
    rows = [method for method in METHODS if (name, method) in TABLE]
    return rows + [method for method in METHODS if method not in rows][:1]


def told_apart(one: str, other: str) -> list[str]:
    """The addresses that do not answer both columns in the same way: at others nobody sees a new role."""
    differ = {
        name for (name, _), row in TABLE.items() if len({row.split()[ROLES.index(each)] for each in (one, other)}) > 1
    }
    return sorted(differ)


def expected(name: str, method: str, column: str) -> set[int]:
    """The answers that the table allows `column`; a method without a row is refused."""
    if row := TABLE.get((name, method)):
        return {int(row.split()[ROLES.index(column)])}
    return refusals(name, method, column)


def one_method(name: str) -> list[str]:
    """The first of them: who is nobody is refused before the method matters."""
    return methods(name)[:1]


def wrong(
    client: Client, name: str, args: list[Any], column: str, asked: Callable[[str], list[str]] = methods
) -> Iterator[str]:
    """Where `client` is not answered as `column` is; a new session (a new password, signing out) is not kept."""
    address, cookies = reverse(name, args=args), client.cookies.output(header="", sep=";")
    for method in asked(name):
        client.cookies.load(cookies)
        code = ask(client, name, method, address).status_code
        if code not in expected(name, method, column):
            yield f"{method} {address}: {code}, not {expected(name, method, column)}"


def wrong_everywhere(
    client: Client,
    names: Iterable[str],
    world: dict[str, list[Any]],
    column: str,
    asked: Callable[[str], list[str]] = methods,
) -> list[str]:
    """The same of all these addresses."""
    return [line for name in names for line in wrong(client, name, world.get(name, []), column, asked)]


@pytest.mark.parametrize("asked", [one_method, pytest.param(methods, marks=pytest.mark.slow)])
def test_who_is_switched_off_while_signed_in_is_a_stranger_from_then_on(client_as, people, world, asked):
    client = client_as("administrator")
    assert client.get("/account/").status_code == 200
    switch(people["administrator"], False)
    assert not wrong_everywhere(client, NAMES, world, "anonymous", asked)


@pytest.mark.parametrize(("person", "role"), CHANGES)
def test_a_new_role_counts_from_the_next_request_on(client_as, people, world, person, role):
    client = client_as(person)
    assert client.get("/account/").status_code == 200
    set_role(people[person], role)
    names = told_apart(COLUMN.get(person, person), COLUMN[role])
    assert len(names) > 5
    assert not wrong_everywhere(client, names, world, COLUMN[role])


@pytest.mark.parametrize("role", [pytest.param(r, marks=[] if r in SOME else [pytest.mark.slow]) for r in PEOPLE])
def test_a_token_opens_what_its_person_may_and_no_more(people, world, role):
    _, text = create_token(people[role], "as the person")
    found = wrong_everywhere(Client(headers={"Authorization": f"Bearer {text}"}), API, world, role)
    assert found == ["POST /api/tokens: 403, not {201}"]


@pytest.mark.parametrize(
    ("why", "each"),
    [("expired", 10), ("revoked", 0), ("switched off", 0), pytest.param("expired", 1, marks=pytest.mark.slow)],
)
def test_a_token_that_is_none_any_more_opens_nothing(people, world, why, each):
    """It is judged before the method: each address is asked by two, and each tenth by all (`each`)."""
    token, text = create_token(people["administrator"], "of before")
    client = Client(headers={"Authorization": f"Bearer {text}"})
    assert client.get("/api/me").status_code == 200
    if why == "expired":
        ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    elif why == "revoked":
        token.delete()
    else:
        people["administrator"].is_active = False
        people["administrator"].save()
    every = (*METHODS, "HEAD", "OPTIONS")
    for place, name in enumerate(API):
        address = reverse(name, args=world.get(name, []))
        for method in every if each and place % each == 0 else ("GET", "DELETE"):
            answer = client.generic(method, address)
            assert answer.status_code == 401, f"{method} {address}: {answer.status_code}"
            assert answer["WWW-Authenticate"] == 'Bearer realm="GridPortal"'


@pytest.mark.parametrize("owner", ["other", *(pytest.param(name, marks=pytest.mark.slow) for name in PEOPLE[2:])])
def test_what_belongs_to_one_is_opened_to_others_by_role_alone(client_as, people, make_job, owner):
    token, job = create_token(people[owner], "theirs")[0], make_job(people[owner], "running")
    Contract.objects.create(run=job.runs.get())
    theirs = {**of_job(job.pk), "account-token-revoke": [token.pk], "api-token": [token.pk]}
    found = []
    for role in sorted(set(PEOPLE) - {owner}):
        client, column = client_as(role), "other" if role == "user" else role
        for name, args in theirs.items():
            address = reverse(name, args=args)
            for method in methods(name):
                code = ask(client, name, method, address).status_code
                if code not in expected(name, method, column):
                    found.append(f"{method} {address} as {role}: {code}, not {expected(name, method, column)}")
    assert not found


@pytest.mark.parametrize("owner", [None, "user", *(pytest.param(name, marks=pytest.mark.slow) for name in PEOPLE[2:])])
def test_who_started_an_experiment_has_no_rights_of_his_own(client_as, people, world, owner):
    from gridportal.experiments.models import Experiment

    Experiment.objects.update(started_by=people.get(owner))
    names = [name for name in NAMES if name.startswith(("experiment-", "api-experiment-"))]
    for role in ("user", "operator", "manager", "administrator"):
        assert not wrong_everywhere(client_as(role), names, world, role), role


@pytest.mark.parametrize("role", [pytest.param(r, marks=[] if r in SOME[:2] else [pytest.mark.slow]) for r in ROLES])
def test_head_and_options_give_no_more_than_get(client_as, world, role):
    client = client_as(role)
    cookies = client.cookies.output(header="", sep=";")
    for name in NAMES:
        address = reverse(name, args=world.get(name, []))
        client.cookies.load(cookies)  # what a request changes about the session is not kept
        with transaction.atomic():
            head, options = client.head(address), client.options(address)
            transaction.set_rollback(True)
        assert b"".join(head) == b""
        assert head.status_code in expected(name, "GET", role) | {405}, f"HEAD {address}: {head.status_code}"
        stranger = role == "anonymous" and name not in PUBLIC
        allowed = {302, 401, 405} if stranger else {200, 302, 403, 404, 405}
        assert options.status_code in allowed, f"OPTIONS {address}: {options.status_code}"
        if options.status_code == 200 and options["Content-Type"] == "application/json":
            assert set(options.json()) <= {"name", "description", "renders", "parses", "actions"}


#: What everybody may ask, signed in or not.
PUBLIC = ("sign-in", "sign-out")
