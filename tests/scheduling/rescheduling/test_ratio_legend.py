"""The legend of the ratios that led to a weighing: text below the chart, which finds its lines itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from scheduling.contracts.core.limits import Limits
from scheduling.contracts.core.outlook import Standing
from scheduling.contracts.models import Contract, ContractCall
from scheduling.contracts.selectors.contract_stories import ContractStory, JudgedReport
from scheduling.rescheduling.charts import ratio_chart

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMITS = Limits(lower=0.7, upper=2.0)


def story(*calls: ContractCall) -> ContractStory:
    return ContractStory(
        contract=Contract(),
        promised=None,
        standing=Standing.SLOW,
        closed=False,
        given=LIMITS,
        limits=LIMITS,
        average=2.4,
        quiet=1.0,
        view=None,
        rows=(),
        main_phase="a step with a long name",
        reports=tuple(JudgedReport(place, AT.timestamp() + place, 1.0, 2.4, 2.4) for place in range(1, 9)),
        adjustments=(),
        calls=calls,
    )


@pytest.mark.parametrize("calls", [(), (ContractCall(at=AT + timedelta(seconds=5)),)])
def test_each_line_and_mark_has_its_words_below_the_chart(calls: tuple[ContractCall, ...]) -> None:
    shown, until = story(*calls), AT + timedelta(seconds=30)
    rows = ratio_chart.reports_until(shown, until)
    figure = ratio_chart.figure(shown, rows, until)
    assert figure is not None
    drawn = {(trace["name"], (trace.get("line") or trace["marker"])["color"]) for trace in figure["data"]}
    assert {(words, colour) for colour, _, words in ratio_chart.legend(shown, rows, until)} == drawn
    assert len(drawn) == 4 + len(calls)
    assert figure["layout"]["showlegend"] is False


@pytest.mark.parametrize(("seconds", "scale"), [(5.9, None), (19.0, "log")])
def test_a_report_far_above_the_limits_leaves_them_apart(seconds: float, scale: str | None) -> None:
    usual = story()
    rows = [*usual.reports, replace(usual.reports[-1], place=9, seconds=seconds)]
    figure = ratio_chart.figure(usual, rows, AT + timedelta(seconds=30))
    assert figure is not None
    axis = figure["layout"]["yaxis"]
    assert axis.get("type") == scale
    if scale:
        assert [axis["ticktext"][axis["tickvals"].index(tick)] for tick in (0.5, 2, 20)] == ["0.5", "2", "20"]


@pytest.mark.parametrize("calls", [(), (ContractCall(at=AT + timedelta(seconds=5)),)])
def test_one_report_has_whole_numbers_below_it_and_lines_over_the_whole_width(calls: tuple[ContractCall, ...]) -> None:
    usual = story(*calls)
    figure = ratio_chart.figure(usual, usual.reports[:1], AT + timedelta(seconds=30))
    assert figure is not None
    axis = figure["layout"]["xaxis"]
    assert axis["dtick"] == 1
    low, high = axis["range"]
    lines = [trace for trace in figure["data"] if trace["name"] in ("upper limit", "lower limit", ratio_chart.AVERAGE)]
    assert [trace["mode"] for trace in lines] == ["lines"] * 3
    assert all(min(trace["x"]) < low < 1 < high < max(trace["x"]) for trace in lines)
