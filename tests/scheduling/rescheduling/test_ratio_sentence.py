"""The sentence above the ratios of a move names one report or several, never a phase in the wrong number."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from scheduling.rescheduling.charts.ratio_chart import finding


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


def test_the_average_is_told() -> None:
    assert said(2.0, average=1.5) == (
        "Report 1 of qr steps took 2.0 times as long as promised; the average over all phases was 1.50."
    )
