"""A report on paper: charts within their page, tables whose columns have the room that their cells need."""

from __future__ import annotations

from typing import Any

from scheduling.reports import chart_drawing, report_pdf
from scheduling.reports.charts import report_chart
from scheduling.reports.report_section import Cell, Chart, Head, Section

WIDTH = 500.0
HEADS = (Head("name", "Name"), *(Head(f"figure{at}", "Figure", Cell.NUMBER) for at in range(8)))


class Paper:
    """A canvas that keeps where texts stand; anything else is drawn into the air."""

    def __init__(self) -> None:
        self.texts: list[tuple[float, float, str]] = []

    def __getattr__(self, name: str) -> Any:
        if name in ("drawString", "drawCentredString", "drawRightString"):
            return lambda x, y, text: self.texts.append((x, y, text))
        return lambda *_args, **_more: self


def texts(chart: Chart) -> list[str]:
    paper = Paper()
    chart_drawing.draw(paper, chart, WIDTH)
    assert all(0 <= x <= WIDTH and 0 <= y <= chart_drawing.HEIGHT for x, y, _ in paper.texts)
    return [text for _, _, text in paper.texts]


def test_a_line_over_a_day_has_hours_at_its_axis_and_not_one_date() -> None:
    names = tuple(f"2026-11-27 {hour:02}:00" for hour in range(24))
    shown = texts(Chart("Node-hours in each hour", names, tuple(map(float, range(24))), is_line=True))
    assert [text for text in shown if ":" in text] == ["00:00", *(f"{hour:02}:00" for hour in range(3, 24, 3))]
    assert not any("2026" in text for text in shown)


def test_bars_have_their_names_and_a_time_before_its_legend() -> None:
    assert {"ann", "bob"} < set(texts(Chart("Node-hours", ("ann", "bob"), (3.0, 1.0))))
    shown = texts(Chart("Node-hours a day", ("2026-11-26", "2026-11-27"), (1.0, 2.0), (0.0, 1.0), is_line=True))
    assert "Node-hours a day; grey: the time before" in shown


def test_a_chart_of_nothing_is_drawn_too() -> None:
    assert "0" in texts(Chart("Jobs", ("one",), (0.0,)))


def test_what_counts_has_whole_numbers_at_its_axis() -> None:
    shown = texts(Chart("Decisions", ("verified", "declined"), (1.0, 2.0), is_count=True))
    assert [text for text in shown if text[0].isdigit()] == ["0", "1", "2"]
    axis = report_chart.figure(Chart("Decisions", ("verified",), (1.0,), is_count=True))["layout"]["yaxis"]
    assert axis["dtick"] == 1
    assert "dtick" not in report_chart.figure(Chart("Node-hours", ("ann",), (1.0,)))["layout"]["yaxis"]


def test_columns_fill_the_page_and_short_cells_are_not_broken() -> None:
    report_pdf._styles()
    row = ("somebody", *[12_345.67] * 8)
    section = Section("people", "By user", "", HEADS, (row,))
    widths = report_pdf._widths(section, section.shown, WIDTH)
    assert abs(sum(widths) - WIDTH) < 1e-6
    assert all(
        isinstance(report_pdf._cell("12,345.67", width - 8, report_pdf._styles()["right"]), str) for width in widths
    )
    long = Section("people", "By user", "", HEADS, (("a name of many words " * 20, *[1.0] * 8),))
    widths = report_pdf._widths(long, long.shown, WIDTH)
    assert abs(sum(widths) - WIDTH) < 1e-6
    assert min(widths) > 20
    assert report_pdf.pdf("Report", "a time", [section, long]).startswith(b"%PDF-")


def test_where_columns_are_many_texts_are_broken_between_words_alone() -> None:
    report_pdf._styles()
    heads = (Head("project", "Project"), Head("begins", "From"), *HEADS[1:7], Head("rule", "When used up"))
    row = ("project14", "2025-11-27", *[12_345.67] * 6, "People are told; jobs go on")
    section = Section("budgets", "Budgets", "", heads, (row,))
    widths = report_pdf._widths(section, section.shown, WIDTH)
    assert abs(sum(widths) - WIDTH) < 1e-6
    for text, width in zip(section.shown[0], widths, strict=True):
        assert report_pdf._width(max(text.split(), key=len), "Report") <= width - 8 + 0.01, text


def test_few_bars_have_their_whole_names() -> None:
    assert "avoided by trials" in texts(Chart("Hours", ("lost", "avoided by trials", "by moves"), (3.0, 1.0, 1.0)))
