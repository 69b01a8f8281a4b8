"""A range whose From is after its To: one sentence beside the field, and what was typed stays."""

from __future__ import annotations

import re

import pytest

from tests.markup import markup

WRONG = "2026-03-02 12:00:00 UTC is after To. Enter a time before 2026-03-01 12:00:00 UTC."


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/reports/people/", "start"),
        ("/reports/skeletons/", "start"),
        ("/jobs/", "start"),
        ("/audit/", "since"),
    ],
)
def test_it_is_said_beside_the_field(client_as, address, name):
    page = markup(client_as("manager").get(address, {name: "2026-03-02T12:00", "until": "2026-03-01T12:00"}))
    assert page.count(WRONG) == 1
    field = page[page.index(f'name="{name}"') :]
    assert 'value="2026-03-02T12:00"' in field[: field.index(">")]
    assert re.search(rf'id="id_{name}_error">\s*<li>{WRONG}</li>', field)


def test_a_report_says_that_it_is_of_another_time(client_as):
    asked = {"start": "2026-03-02T12:00", "until": "2026-03-01T12:00"}
    sentence = "It is not the time that was asked for: see From and To."
    client = client_as("manager")
    assert sentence in markup(client.get("/reports/people/", asked))
    assert sentence not in markup(client.get("/reports/people/", {"start": "2026-03-01T12:00"}))
