"""Asking sources: one that fails is noted and holds up no other, and no two workers ask the same one at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from gridportal.base.errors import BackendError, InputError
from monitoring import tasks
from monitoring.history.core.samples import Collected, Sample
from monitoring.history.selectors import series
from monitoring.telemetry import selectors
from monitoring.telemetry.models import Source
from monitoring.telemetry.services import polling, reach, readings, sources
from monitoring.telemetry.services import sources as telemetry_sources

pytestmark = pytest.mark.django_db(transaction=True)


class Fake:
    """A source of one sample, or of an error."""

    def __init__(self, name: str, value: float = 0.5) -> None:
        self.name, self.kind, self.value, self.asked = name, "fake", value, 0
        self.error: Exception | None = None

    def collect(self, now: float) -> Collected:
        self.asked += 1
        if self.error:
            raise self.error
        return Collected((Sample(self.name, "cpu", now, self.value),), cost_bytes=100, lag=0.25)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> tuple[Fake, Fake]:
    first, second = Fake("first"), Fake("second")
    monkeypatch.setattr(sources, "MAKERS", [lambda _: first, lambda _: second, lambda _: None])
    return first, second


def known(name: str) -> Any:
    return next(source for source in selectors.sources("grid") if source.name == name)


def test_each_source_is_asked_and_what_it_says_is_kept(two: tuple[Fake, Fake]) -> None:
    tasks.poll_sources()
    tasks.poll_sources()
    assert {subject for subject, _ in series.live("grid")} == {"first", "second"}
    row = known("first")
    assert (row.samples, row.cost_bytes, row.total_bytes, row.lag, row.kind) == (2, 100, 200, 0.25, "fake")
    assert (row.stale, row.error) == (False, "")
    assert row.age < 60


def test_one_that_fails_is_stale_with_age_and_reason_and_its_last_value_stays(two: tuple[Fake, Fake]) -> None:
    polling.poll("grid")
    two[0].error = BackendError("The agents do not answer.")
    assert polling.poll("grid") == 1
    row = known("first")
    assert (row.stale, row.error) == (True, "The agents do not answer.")
    assert row.age is not None
    assert series.live("grid")[("first", "cpu")].value == 0.5
    assert not known("second").stale
    two[0].error = None
    polling.poll("grid")
    assert (known("first").stale, known("first").error) == (False, "")


def test_one_that_never_answered_has_no_age(two: tuple[Fake, Fake]) -> None:
    two[0].error = BackendError("Nobody is there.")
    polling.poll("grid")
    assert (known("first").age, known("first").stale) == (None, True)
    assert ("first", "cpu") not in series.live("grid")


def test_one_that_is_silent_for_three_polls_is_stale_without_an_error(two: tuple[Fake, Fake]) -> None:
    polling.poll("grid")
    Source.objects.update(last_ok=timezone.now() - timedelta(seconds=3 * settings.PORTAL.collect_every + 1))
    assert known("first").stale


def test_a_source_that_somebody_asks_is_left_alone_until_that_lease_runs_out(two: tuple[Fake, Fake]) -> None:
    polling.poll("grid")
    Source.objects.filter(name="first").update(polling_until=timezone.now() + timedelta(seconds=60))
    polling.poll("grid")
    assert (two[0].asked, two[1].asked) == (1, 2)
    Source.objects.filter(name="first").update(polling_until=timezone.now() - timedelta(seconds=1))
    polling.poll("grid")
    assert (two[0].asked, two[1].asked) == (2, 3)
    assert not Source.objects.exclude(polling_until=None).exists()


def test_an_error_in_a_source_itself_gives_its_lease_back(two: tuple[Fake, Fake]) -> None:
    two[0].error = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        polling.poll("grid")
    assert not Source.objects.exclude(polling_until=None).exists()


def test_old_news_neither_clear_an_error_nor_turn_back_the_time(two: tuple[Fake, Fake]) -> None:
    polling.poll("grid")
    two[0].error = BackendError("The agents do not answer.")
    polling.poll("grid")
    before = known("first").last_ok
    old = timezone.now().timestamp() - 3600
    readings.record_readings("grid", "first", [Sample("first", "cpu", old, 0.1)])
    assert (known("first").last_ok, known("first").error) == (before, "The agents do not answer.")


def test_sources_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAKERS", [lambda _: Fake("same")] * 2)
    with pytest.raises(InputError, match="sources of different names"):
        telemetry_sources.sources_of("grid")


def test_the_grid_s_own_word_of_its_nodes_is_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    from monitoring.telemetry.adapters.grid import GridTelemetry
    from tests.fake_grid import FakeGrid

    monkeypatch.setattr(reach, "telemetry", lambda cluster="grid": GridTelemetry(FakeGrid()))
    polling.poll("grid")
    assert series.live("grid")[("n1", "cpu")].source == "grid"


def test_history_is_kept_in_order_by_its_own_task() -> None:
    now = timezone.now().timestamp()
    for turn in range(40):
        readings.record_readings("grid", "test", [Sample("n1", "cpu", now - turn, 0.5)])
    tasks.keep_history()
    from monitoring.history.models import Block, Frame

    assert (Frame.objects.count(), Block.objects.filter(tier=0).exists()) == (0, True)


def saying(name: str, *said: Any, **more: Any) -> Any:
    """A maker of a source that says these (subject, metric, value) of now."""
    source = Fake(name)
    source.collect = lambda now: Collected(tuple(Sample(s, m, now, v) for s, m, v in said), **more)  # type: ignore[method-assign]
    return lambda _: source


@pytest.mark.parametrize(
    "said",
    [("a\nb", "cpu", 0.1), ("", "cpu", 0.1), ("x" * 500, "cpu", 0.1), ("n1", "m" * 50, 0.1), ("\ud800", "cpu", 0.1)],
)
def test_names_that_cannot_be_kept_are_told_and_cost_no_other_sample(
    monkeypatch: pytest.MonkeyPatch, said: Any
) -> None:
    monkeypatch.setattr(sources, "MAKERS", [saying("bad", said, ("n1", "load", 0.2)), lambda _: Fake("good")])
    assert polling.poll("grid") == 2
    assert set(series.live("grid")) == {("n1", "load"), ("good", "cpu")}
    assert known("bad").error == "1 samples have names that are empty, too long or not printable"
    assert not known("good").error


def test_a_fault_of_ours_in_one_source_costs_nothing_of_the_others(two: tuple[Fake, Fake]) -> None:
    two[0].error = OverflowError("too large")
    with pytest.raises(OverflowError):
        polling.poll("grid")
    assert set(series.live("grid")) == {("second", "cpu")}
    assert known("first").error == "What it says could not be kept (OverflowError)."


def test_what_was_told_by_a_clock_that_was_set_back_gives_way(two: tuple[Fake, Fake], monkeypatch: Any) -> None:
    def shifted(days: int, value: float) -> None:
        for each in two:
            each.collect = lambda now: Collected((Sample("n1", "cpu", now + days * 86400, value),))  # type: ignore[method-assign]
        monkeypatch.setattr(timezone, "now", lambda: began + timedelta(days=days))
        polling.poll("grid")

    real, began = timezone.now, timezone.now()
    shifted(2, 0.1)
    Source.objects.update(polling_until=timezone.now())  # and who asked then was killed
    shifted(0, 0.7)
    monkeypatch.setattr(timezone, "now", real)
    assert series.live("grid")["n1", "cpu"].value == 0.7
    assert 0 <= known("first").age < 60
    kept = series.history("grid", "n1", "cpu", began - timedelta(hours=1), real())
    assert set(kept.value) == {0.7}  # one sample, or one of each source where these were asked in two milliseconds


def test_a_source_that_makes_up_names_grows_no_more_than_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitoring.telemetry.services.readings.MOST_SERIES", 3)
    known_one = ("n1", "cpu", 0.5)
    monkeypatch.setattr(sources, "MAKERS", [saying("bad", known_one)])
    polling.poll("grid")
    made_up = [(f"x{number}", "cpu", 0.1) for number in range(9)]
    monkeypatch.setattr(sources, "MAKERS", [saying("bad", known_one, *made_up), saying("good", ("n2", "cpu", 0.5))])
    polling.poll("grid")
    assert {subject for subject, _ in series.live("grid")} == {"n1", "n2"}
    with pytest.raises(InputError, match="accepted is at most 3 of one cluster"):
        readings.record_readings("grid", "bad", [Sample(name, "cpu", 1000.0, 0.1) for name, _, _ in made_up])
