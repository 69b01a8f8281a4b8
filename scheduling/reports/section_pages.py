"""Tables of a report in parts: `?page=people:2` is the second part of the table `people`; all others show the first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.core.paginator import Page, Paginator

from scheduling.reports.report_section import MOST_ROWS, Section


def section_page(section: Section, asked: str) -> Page[Any]:
    """The part of a table that an address asks for; the first or the last where there is none of that number."""
    table, _, number = asked.partition(":")
    return Paginator(section.values, MOST_ROWS).get_page(number if table == section.key else 1)


def on_page(section: Section, page: Page[Any]) -> Section:
    """The section with the rows of this part alone."""
    return replace(section, values=tuple(page.object_list))
