"""Nobody learns which numbers exist: of a row that a person may not see every address says what it says of none.

What a person may see, but not change, is refused with 403; what a role may not do at all, before a row is looked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from tests.markup import markup
from tests.test_permissions_matrix import ROLES, TABLE, ask, world

__all__ = ["world"]
#: A number that no row has.
_NONE = 987_654_321
#: Pages that everybody sees, and few may send.
_EVERYBODYS = frozenset({"alert-rule"})


def _asked(role: str) -> Iterator[tuple[str, str, int]]:
    """Addresses of numbered rows that this role is not given, by the table: name, method and status. Only `other` sees
    nothing of these rows; the rest of the roles may see what they may not change."""
    for (name, method), row in TABLE.items():
        status = int(row.split()[ROLES.index(role)])
        if status == 404 or (status == 403 and role == "other" and name not in _EVERYBODYS):
            yield name, method, status


@pytest.mark.parametrize("role", ROLES[1:])
def test_what_a_person_may_not_see_is_answered_as_what_there_is_not(
    client_as: Any, world: dict[str, list[Any]], role: str
) -> None:
    client, told = client_as(role), list[str]()
    for name, method, status in _asked(role):
        arguments = world.get(name, [])
        if not arguments or not isinstance(arguments[0], int):
            continue
        answer = ask(client, name, method, reverse(name, args=[_NONE, *arguments[1:]]))
        if answer.status_code != status:
            told.append(f"{method} {name}: {status} where there is one, {answer.status_code} where there is none")
    assert not told, "\n".join(told)


def test_the_page_of_what_is_hidden_has_the_words_of_what_is_not_there(client_as: Any, world: dict[str, Any]) -> None:
    client, number = client_as("other"), world["job"][0]
    hidden, missing = (
        markup(client.get(f"/jobs/{pk}/")).partition("<main")[2].replace(f"job {pk} ", "job N ")
        for pk in (number, _NONE)
    )
    assert "There is no job N that you can see" in hidden
    assert hidden == missing
