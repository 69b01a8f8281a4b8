"""The sentence above the ratios of a move names one report or several, never a phase in the wrong number."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from scheduling.contracts.core.limits import Limits
from scheduling.contracts.models import ContractCall
from scheduling.contracts.selectors.contract_stories import JudgedReport
from scheduling.rescheduling.charts import ratio_chart
from scheduling.rescheduling.charts.ratio_chart import finding

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def said(*ratios: float, average: float | None = None) -> str:
    """Of reports that took so many times as long as promised; the limit is 1.5."""
    story: Any = SimpleNamespace(main_phase="qr_steps", given=SimpleNamespace(upper=1.5))
    rows: Any = [SimpleNamespace(place=at, seconds=ratio, promised=1.0) for at, ratio in enumerate(ratios, 1)]
    return finding(story, rows, average)


@pytest.mark.parametrize(
    ("ratios", "sentence"),
    [
        ((13.2,), "Report 1 of qr steps took 13.2 times as long as promised."),
        ((1.0, 2.0, 3.1), "Reports 2 to 3 of qr steps each took 2.0 to 3.1 times as long as promised."),
        ((4.0, 4.0), "Reports 1 to 2 of qr steps each took 4.0 times as long as promised."),
        ((4.0, 1.25), "The last report of qr steps took 1.25 times as long as promised."),
    ],
)
def test_reports_are_counted(ratios: tuple[float, ...], sentence: str) -> None:
    assert said(*ratios) == sentence


def overdue_story(*, after: float | None, promised: float = 2.0, phase: str = "qr_steps") -> Any:
    """A call ten seconds after AT, from a silence of 30 s; `after`: when the report came, seconds after AT."""
    call = ContractCall(pk=7, at=AT + timedelta(seconds=10), phase=phase, promised=promised, seconds=30.0, average=4.25)
    times = [0.0, *([after] if after is not None else [])]
    rows = [JudgedReport(place, AT.timestamp() + at, 2.0, 2.0, 1.0) for place, at in enumerate(times, 8)]
    given = Limits(lower=0.7, upper=2.0)
    return SimpleNamespace(
        main_phase="qr_steps", given=given, calls=(call,), overdue=frozenset({7}), adjustments=(), reports=tuple(rows)
    )


@pytest.mark.parametrize("with_reports", [True, False])
def test_an_overdue_report_that_called_stands_in_text_and_chart(with_reports: bool) -> None:
    story, until = overdue_story(after=None), AT + timedelta(seconds=11)
    rows = list(story.reports) if with_reports else []
    place = 9 if with_reports else 1
    assert finding(story, rows, 1.0, until) == (
        f"Report {place} of qr steps was overdue: 30.0 s had passed without it, 15.0 times as long as promised; "
        "the average over all phases was 4.25 with it."
    )
    figure = ratio_chart.figure(story, rows, until)
    assert figure is not None
    mark = figure["data"][-1]
    assert (mark["name"], mark["x"], mark["y"]) == (ratio_chart.OVERDUE, [place], [15.0])
    assert [words for _, _, words in ratio_chart.legend(story, rows, until)] == [
        each["name"] for each in figure["data"]
    ]


def test_a_report_that_came_late_is_told_as_it_came() -> None:
    story, until = overdue_story(after=20.0), AT + timedelta(seconds=30)
    assert "overdue" not in finding(story, story.reports, 1.0, until)
    assert ratio_chart.figure(story, story.reports, until)["data"][-1]["x"] == [9]


def test_a_silence_after_the_weighing_is_not_its_cause() -> None:
    story, until = overdue_story(after=None), AT + timedelta(seconds=5)
    assert finding(story, [], None, until) == (
        "The run had reported nothing yet that could be compared with its contract."
    )
    assert ratio_chart.figure(story, [], until) is None


def test_the_average_is_told() -> None:
    assert said(2.0, average=1.5) == (
        "Report 1 of qr steps took 2.0 times as long as promised; the average over all phases was 1.50."
    )
