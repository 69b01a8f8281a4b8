"""The bar of a job's states: of a job that was moved each start takes the time that it took."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.models import JobEvent
from scheduling.pages.charts.timeline import timeline

BEGAN = datetime(2026, 11, 26, 20, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def stays(started: float, *steps: tuple[str, float]) -> list[tuple[str, float]]:
    """The states with their seconds, ten seconds after the last step."""
    pairs = itertools.pairwise([("queued", 0.0), *steps])
    events = [JobEvent(from_state=a, to_state=b, at=at(second)) for (a, _), (b, second) in pairs]
    return [(step.state, step.seconds) for step in timeline(events, at(steps[-1][1] + 10), at(started))]


def test_the_second_start_of_a_moved_job_keeps_its_seconds() -> None:
    steps = ("starting", 1.0), ("running", 3.0), ("moving", 20.0), ("starting", 22.0), ("running", 23.0)
    assert stays(2.0, *steps) == [
        ("starting", 1.0),
        ("running", 18.0),
        ("moving", 2.0),
        ("starting", 1.0),
        ("running", 10.0),
    ]


def test_of_a_job_that_began_anew_the_last_start_is_that_of_its_program() -> None:
    steps = ("starting", 1.0), ("running", 3.0), ("queued", 20.0), ("starting", 22.0), ("running", 25.0)
    assert stays(23.0, *steps)[-2:] == [("starting", 1.0), ("running", 12.0)]


def test_a_start_before_the_portal_heard_of_it_is_put_in_order() -> None:
    assert stays(0.5, ("starting", 1.0), ("running", 3.0)) == [("starting", 0.0), ("running", 12.0)]


def test_a_job_that_waits_for_a_choice_is_no_trial_any_more() -> None:
    awaits = Reason.of(Code.TRIAL_AWAITS, groups=3, until="2026-11-26T20:10:00+00:00")
    events = [
        JobEvent(from_state="placing", to_state="trial", at=at(0)),
        JobEvent(from_state="trial", to_state="trial", at=at(20), reason=awaits),
        JobEvent(from_state="trial", to_state="starting", at=at(80)),
    ]
    found = timeline(events, at(82))
    assert [(step.label, step.seconds) for step in found] == [
        ("trial", 20.0),
        ("waits for a choice", 60.0),
        ("starting", 2.0),
    ]
    assert timeline(events[:2], at(82))[-1].open
