"""The index of the API leads to every address that can be opened without a name or number."""

from __future__ import annotations

import re

import pytest
from django.urls import get_resolver

pytestmark = pytest.mark.django_db
#: Actions, and a question that needs more than its address; they are in the documentation.
_ACTIONS = {"notices/read", "notices/test", "measure", "match-requests/check", "jobs/compare", "jobs/many"}


def addresses() -> set[str]:
    """Of all patterns below /api/ that name no object."""
    found = set()
    for pattern in get_resolver("gridportal.api_urls").url_patterns:
        text = str(pattern.pattern).removeprefix("^").removesuffix("$").removesuffix("\\Z")
        if not re.search(r"[<(]", text):
            found.add(text)
    return found


def test_every_collection_is_in_the_index(client_as):
    index = client_as("administrator").get("/api").json()
    listed = {address.partition("/api/")[2] for address in index.values()}
    assert addresses() - listed - _ACTIONS == set()
    assert {"people", "sweeps", "own-programs", "migrations", "projects", "budgets", "notices", "alerts"} <= listed


def test_what_the_index_lists_is_there(client_as):
    client = client_as("administrator")
    for word, address in client.get("/api").json().items():
        answer = client.get(address)
        assert b"There is nothing at" not in answer.content, (word, address)
