"""Text, table and chart of a decision tell the average that the contract itself counts."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from scheduling.contracts.charts import contract_chart
from scheduling.contracts.core.first_reports import FIRST_REPORTS
from scheduling.contracts.models import Contract
from scheduling.contracts.selectors.contract_stories import story_of
from scheduling.contracts.services.tending import tend_contracts
from scheduling.rescheduling.charts import ratio_chart
from scheduling.runs.models import Run
from scheduling.runs.services.reading_progress import ingest
from tests.scheduling.contracts.reported import end, report


def judged(run: Run) -> Contract:
    ingest(run)
    tend_contracts()
    return Contract.objects.get(run=run)


def test_the_line_of_the_chart_ends_at_the_average_of_all_phases(make_run: Any) -> None:
    before = make_run()
    report(before, 4.0, 4.0, phase="read_in", of=2)
    report(before, *[1.0] * 10, of=10, first=3)
    end(before)
    run = make_run()
    report(run, 2.0, phase="read_in", of=2)
    report(run, *[1.5] * 6, of=10, first=3)
    contract = judged(run)
    story = story_of(contract)
    rows = ratio_chart.reports_until(story, timezone.now())
    figure = ratio_chart.figure(story, rows, timezone.now())
    assert figure is not None
    line = next(each for each in figure["data"] if each["name"] == ratio_chart.AVERAGE)
    assert story.average is not None
    assert line["y"][-1] == pytest.approx(story.average, abs=1e-4)
    assert rows[-1].seconds / rows[-1].promised > story.average + 0.1


def test_reports_that_made_the_promise_are_not_held_against_it(make_run: Any) -> None:
    run = make_run()
    report(run, *[1.0] * 8)
    contract = judged(run)
    assert contract.prediction is not None
    assert contract.prediction.model == FIRST_REPORTS
    story = story_of(contract)
    assert ratio_chart.reports_until(story, timezone.now()) == []
    assert contract_chart.finding(story).startswith("The promise was made of its first reports;")
    report(run, 3.0, first=9)
    story = story_of(judged(run))
    (row,) = ratio_chart.reports_until(story, timezone.now())
    assert row.average == story.average == pytest.approx(3.0)
