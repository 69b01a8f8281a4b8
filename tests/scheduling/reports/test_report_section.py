"""Tables of reports: sorted by any column, searched, with what is not known at the end."""

from __future__ import annotations

from scheduling.reports.report_section import Cell, Head, Section

HEADS = (Head("name", "Name"), Head("jobs", "Jobs", Cell.NUMBER), Head("wait", "Waiting", Cell.SECONDS))
TABLE = Section("people", "By user", "", HEADS, (("ann", 3, 60.0), ("Bob", 12, None), ("carl", 7, 3.5)))


def names(section: Section) -> list[str]:
    return [row[0] for row in section.values]


def test_a_table_sorts_by_each_column_both_ways() -> None:
    assert names(TABLE.arranged("people:jobs", "")) == ["ann", "carl", "Bob"]
    assert names(TABLE.arranged("-people:jobs", "")) == ["Bob", "carl", "ann"]
    assert names(TABLE.arranged("people:name", "")) == ["ann", "Bob", "carl"]
    assert names(TABLE.arranged("people:wait", "")) == ["carl", "ann", "Bob"]
    assert names(TABLE.arranged("-people:wait", "")) == ["ann", "carl", "Bob"]


def test_an_order_of_another_table_or_of_no_column_changes_nothing() -> None:
    for sort in ("groups:jobs", "people:nonsense", "", "-", ":"):
        assert TABLE.arranged(sort, "").values == TABLE.values


def test_a_search_leaves_the_rows_with_all_words() -> None:
    assert names(TABLE.arranged("", "A")) == ["ann", "carl"]
    found = TABLE.arranged("", "zoe")
    assert (found.values, found.is_filtered) == ((), True)


def test_values_are_told_for_people() -> None:
    assert TABLE.rows[0] == ("ann", "3", "1 min")
    assert TABLE.rows[1][2] == "—"
