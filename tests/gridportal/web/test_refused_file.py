"""A file of what nobody asked for is refused with the page's sentence; one that can be made still comes."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.django_db
BACKWARDS = "start=2026-03-02&until=2026-03-01"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/jobs.csv?state=nope", "State: There is no state 'nope'."),
        ("/jobs.csv?start=abc", "From: 'abc' is no date and time."),
        (f"/jobs.csv?{BACKWARDS}", "From: 2026-03-02 00:00:00 UTC is after To."),
        ("/audit.csv?start=abc", "filter is 'start'; accepted is one of"),
        ("/audit.csv?since=abc", "From, UTC: 'abc' is no date and time."),
        ("/reports/use.csv?state=nope", "State: There is no state 'nope'."),
        ("/reports/people/people.csv?start=9999-01-01", "From: '9999-01-01' is no date and time."),
        (f"/reports/people/people.csv?{BACKWARDS}", "is after To"),
        ("/reports/report.pdf?tab=nope", "tab is 'nope'; accepted is one of people"),
        ("/reports/report.pdf?until=abc", "To: 'abc' is no date and time."),
    ],
)
def test_what_cannot_be_read_is_told(client_as: Any, address: str, said: str) -> None:
    answer = client_as("manager").get(address)
    assert (answer.status_code, answer["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert said in answer.content.decode()


@pytest.mark.parametrize(
    "address",
    [
        "/jobs.csv?state=failed&q=&sort=-submitted&column=name&view=all&page=2",
        "/audit.csv?action=job&page=2&view=all&sort=",
        "/reports/use.csv?since=7d",
        "/reports/report.pdf?tab=people&since=365d",
    ],
)
def test_what_can_be_made_comes(client_as: Any, address: str) -> None:
    answer = client_as("manager").get(address)
    assert answer.status_code == 200
    assert "attachment" in answer["Content-Disposition"]
