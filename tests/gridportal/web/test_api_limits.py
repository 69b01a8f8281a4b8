"""What lists of the API are asked for beside their filters: a part, and for some an order."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.django_db

_LISTS = ("/api/jobs", "/api/people", "/api/alerts", "/api/audit", "/api/tokens", "/api/notices", "/api/groups")


@pytest.mark.parametrize("address", _LISTS)
@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("limit", "-1", "limit is -1; accepted is a whole number from 1."),
        ("limit", "0", "limit is 0; accepted is a whole number from 1."),
        ("limit", "many", "limit is 'many'; accepted is a whole number from 1."),
        ("offset", "-1", "offset is -1; accepted is a whole number from 0."),
        ("sort", "nope", "sort is 'nope'; accepted is nothing: "),
        ("ordering", "nope", "ordering is 'nope'; accepted is "),
    ],
)
def test_what_a_list_cannot_do_is_refused(client_as: Any, address: str, name: str, value: str, accepted: str) -> None:
    answer = client_as("administrator").get(f"{address}?{name}={value}")
    assert (answer.status_code, [*answer.json()]) == (400, [name])
    assert answer.json()[name][0].startswith(accepted)


@pytest.mark.parametrize("address", _LISTS)
def test_a_part_of_a_list_is_answered(client_as: Any, address: str) -> None:
    client = client_as("administrator")
    for asked in ("limit=1&offset=0", "limit=&offset=", f"limit=100000&offset={10**20}"):
        assert client.get(f"{address}?{asked}").status_code == 200, asked


def test_the_description_says_the_bounds(client_as: Any) -> None:
    described = client_as("user").get("/api/schema?format=json").json()
    bounds = {
        each["name"]: each["schema"].get("minimum") for each in described["paths"]["/api/jobs"]["get"]["parameters"]
    }
    assert (bounds["limit"], bounds["offset"]) == (1, 0)
