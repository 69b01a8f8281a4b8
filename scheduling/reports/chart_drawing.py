"""The chart of a section as a drawing of a PDF."""

from __future__ import annotations

from typing import Any

from scheduling.reports.report_section import Chart

HEIGHT = 150
_INK, _SOFT, _NOW, _BEFORE = "#1f2328", "#545d68", "#2b6cb0", "#9aa5b1"
_FONT, _SIZE = "Report", 7
#: So many labels of a line's days stand side by side.
_MOST_LABELS = 8
_LONGEST = 16


def drawing(chart: Chart, width: float) -> Any:
    """Bars or lines with their axes, `width` points wide."""
    from reportlab.graphics.shapes import Drawing, String

    made = Drawing(width, HEIGHT)
    made.add(String(0, HEIGHT - 10, _legend(chart), fontName=_FONT, fontSize=_SIZE, fillColor=_colour(_SOFT)))
    made.add(_lines(chart, width) if chart.is_line else _bars(chart, width))
    return made


def _legend(chart: Chart) -> str:
    return f"{chart.label}; grey: the time before" if chart.before else chart.label


def _lines(chart: Chart, width: float) -> Any:
    from reportlab.graphics.charts.linecharts import HorizontalLineChart

    made = HorizontalLineChart()
    _place(made, chart, width)
    made.data = [chart.values, chart.before] if chart.before else [chart.values]
    for at, colour in enumerate((_NOW, _BEFORE)[: len(made.data)]):
        made.lines[at].strokeColor, made.lines[at].strokeWidth = _colour(colour), 1.2
    step = -(-len(chart.names) // _MOST_LABELS)
    made.categoryAxis.categoryNames = [name if at % step == 0 else "" for at, name in enumerate(chart.names)]
    made.categoryAxis.tickDown = 0
    return made


def _bars(chart: Chart, width: float) -> Any:
    from reportlab.graphics.charts.barcharts import VerticalBarChart

    made = VerticalBarChart()
    _place(made, chart, width)
    made.data = [chart.values]
    made.bars[0].fillColor, made.bars[0].strokeColor = _colour(_NOW), None
    made.groupSpacing, made.barWidth = 6, 10
    made.categoryAxis.categoryNames = [
        name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in chart.names
    ]
    made.categoryAxis.labels.angle, made.categoryAxis.labels.boxAnchor = (
        (20, "ne") if len(chart.names) > 6 else (0, "n")
    )
    return made


def _place(made: Any, chart: Chart, width: float) -> None:
    made.x, made.y, made.width, made.height = 46, 34, width - 56, HEIGHT - 54
    made.valueAxis.valueMin = 0
    made.valueAxis.valueMax = max(*chart.values, *chart.before, 0.0) * 1.05 or 1.0
    made.valueAxis.gridStrokeColor, made.valueAxis.visibleGrid = _colour("#e1e5ea"), 1
    made.valueAxis.labelTextFormat = lambda value: f"{value:,.4g}"
    for axis in (made.valueAxis, made.categoryAxis):
        axis.labels.fontName, axis.labels.fontSize, axis.labels.fillColor = _FONT, _SIZE, _colour(_INK)
        axis.strokeColor = _colour(_SOFT)


def _colour(text: str) -> Any:
    from reportlab.lib import colors

    return colors.HexColor(text)
