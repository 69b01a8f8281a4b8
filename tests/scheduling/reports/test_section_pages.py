"""Tables of reports in parts: the address names the table and the part."""

from __future__ import annotations

from typing import Any

import pytest

from scheduling.reports.report_section import MOST_ROWS, Head, Section
from scheduling.reports.section_pages import on_page, section_page
from tests.scheduling.rescheduling.test_pages import words

ROWS = 2 * MOST_ROWS + 3
TABLE = Section("people", "By user", "", (Head("name", "Name"),), tuple((f"p{at}",) for at in range(ROWS)))


@pytest.mark.parametrize(
    ("asked", "first", "count"),
    [
        ("", "p0", MOST_ROWS),
        ("people:2", f"p{MOST_ROWS}", MOST_ROWS),
        ("people:3", f"p{2 * MOST_ROWS}", 3),
        ("people:99", f"p{2 * MOST_ROWS}", 3),
        ("groups:2", "p0", MOST_ROWS),
        ("people:x", "p0", MOST_ROWS),
        ("2", "p0", MOST_ROWS),
    ],
)
def test_the_address_names_a_part_of_one_table(asked: str, first: str, count: int) -> None:
    shown = on_page(TABLE, section_page(TABLE, asked))
    assert (shown.values[0][0], len(shown.values), len(shown.cells)) == (first, count, count)


def test_a_page_leads_to_the_rest_of_a_long_table(client_as: Any, people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduling.reports.views.range_reports._sections", lambda *_: [TABLE])
    page = words(client_as("manager").get("/reports/people/?since=7d&sort=people:name"))
    assert 'aria-label="Pages of By user"' in page
    assert 'href="?since=7d&amp;sort=people%3Aname&amp;page=people%3A2#people">next</a>' in page
    assert "more rows" not in page
    second = words(client_as("manager").get("/reports/people/?since=7d&page=people:2"))
    assert f">p{MOST_ROWS}</td>" in second
    assert ">p0</td>" not in second
