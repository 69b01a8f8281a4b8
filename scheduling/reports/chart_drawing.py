"""The chart of a section on a page of a PDF: lines, rectangles and texts, drawn as such. reportlab's own charts take
ten times as long, for each of their parts is looked over as a shape of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scheduling.reports.core.axis_ticks import every, ticks
from scheduling.reports.report_section import Chart

HEIGHT = 150
_INK, _SOFT, _GRID, _NOW, _BEFORE = "#1f2328", "#545d68", "#e1e5ea", "#2b6cb0", "#9aa5b1"
_FONT, _SIZE = "Report", 7
#: So many labels of a line's times stand side by side.
_MOST_LABELS = 8
#: More bars than these have their labels aslant.
_MOST_UPRIGHT = 6
_LONGEST = 16
#: The width of a letter, in points.
_LETTER = 5
_ASLANT = 20  # degrees
_GAP = 0.35  # of the room of a bar


class _Frame(NamedTuple):
    """Where the chart's axes lie, in points, and which value is at their top."""

    left: float
    bottom: float
    width: float
    height: float
    top: float

    def up(self, value: float) -> float:
        """How high a value stands."""
        return self.bottom + self.height * value / self.top


def drawing(chart: Chart, width: float) -> Any:
    """Bars or lines with their axes, `width` points wide, as a part of reportlab's document."""
    from reportlab.platypus import Flowable

    class Drawn(Flowable):  # type: ignore[misc]  # reportlab has no types
        """Asked for its size, then drawn."""

        def wrap(self, *_room: float) -> tuple[float, float]:
            """Its size."""
            return width, HEIGHT

        def draw(self) -> None:
            """On the page, with the lower left corner at 0, 0."""
            draw(self.canv, chart, width)

    return Drawn()


def draw(canvas: Any, chart: Chart, width: float) -> None:
    """The chart on a canvas of reportlab."""
    canvas.setFont(_FONT, _SIZE)
    canvas.setFillColor(_colour(_SOFT))
    canvas.drawString(0, HEIGHT - 10, _legend(chart))
    top = max(*chart.values, *chart.before, 0.0) * 1.05 or 1.0
    frame = _Frame(46, 34, width - 56, HEIGHT - 54, top)
    _grid(canvas, frame, ticks(top, is_whole=chart.is_count))
    if chart.is_line:
        _lines(canvas, chart, frame)
    else:
        _bars(canvas, chart, frame)


def _legend(chart: Chart) -> str:
    return f"{chart.label}; grey: the time before" if chart.before else chart.label


def _grid(canvas: Any, frame: _Frame, values: Sequence[float]) -> None:
    canvas.setLineWidth(0.4)
    canvas.setStrokeColor(_colour(_GRID))
    canvas.setFillColor(_colour(_INK))
    for value in values:
        at = frame.up(value)
        canvas.line(frame.left, at, frame.left + frame.width, at)
        canvas.drawRightString(frame.left - 5, at - 2.5, f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}")
    canvas.setStrokeColor(_colour(_SOFT))
    canvas.line(frame.left, frame.bottom, frame.left + frame.width, frame.bottom)
    canvas.line(frame.left, frame.bottom, frame.left, frame.bottom + frame.height)


def _lines(canvas: Any, chart: Chart, frame: _Frame) -> None:
    room = frame.width / max(1, len(chart.names))
    for values, colour in ((chart.before, _BEFORE), (chart.values, _NOW)):
        points = [(frame.left + room * (at + 0.5), frame.up(value)) for at, value in enumerate(values)]
        canvas.setStrokeColor(_colour(colour))
        canvas.setFillColor(_colour(colour))
        canvas.setLineWidth(1.2)
        if len(points) == 1:
            canvas.circle(*points[0], 2, stroke=0, fill=1)
        elif points:
            _line(canvas, points)
    canvas.setFillColor(_colour(_INK))
    step, shown = every(len(chart.names), _MOST_LABELS), chart.short_names
    for at in range(0, len(shown), step):
        canvas.drawCentredString(frame.left + room * (at + 0.5), frame.bottom - 12, shown[at])


def _line(canvas: Any, points: list[tuple[float, float]]) -> None:
    path = canvas.beginPath()
    path.moveTo(*points[0])
    for point in points[1:]:
        path.lineTo(*point)
    canvas.drawPath(path)


def _bars(canvas: Any, chart: Chart, frame: _Frame) -> None:
    room = frame.width / max(1, len(chart.names))
    canvas.setFillColor(_colour(_NOW))
    for at, value in enumerate(chart.values):
        left, height = frame.left + room * (at + _GAP / 2), frame.up(value) - frame.bottom
        canvas.rect(left, frame.bottom, room * (1 - _GAP), height, stroke=0, fill=1)
    canvas.setFillColor(_colour(_INK))
    most = max(_LONGEST, int(room // _LETTER)) if len(chart.names) <= _MOST_UPRIGHT else _LONGEST
    for at, name in enumerate(chart.names):
        _label(canvas, _short(name, most), frame.left + room * (at + 0.5), frame.bottom - 10, len(chart.names))


def _label(canvas: Any, text: str, x: float, y: float, count: int) -> None:
    if count <= _MOST_UPRIGHT:
        canvas.drawCentredString(x, y, text)
        return
    canvas.saveState()
    canvas.translate(x, y + 2)
    canvas.rotate(_ASLANT)
    canvas.drawRightString(0, 0, text)
    canvas.restoreState()


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _colour(text: str) -> Any:
    from reportlab.lib import colors

    return colors.HexColor(text)
