"""The store: what was recorded is read again, once, in the right place and resolution, whatever order it came in."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.utils import timezone

from gridportal.base.errors import InputError
from monitoring.clusters.models import Cluster
from monitoring.history.core import tiers as spans
from monitoring.history.core.samples import Sample
from monitoring.history.models import Block, Frame, Page, Snapshot
from monitoring.history.selectors import series, store
from monitoring.history.services import compaction
from monitoring.telemetry.models import Source
from monitoring.telemetry.services import readings

pytestmark = pytest.mark.django_db
NOW = float(int(timezone.now().timestamp()))


def ago(seconds: float) -> datetime:
    return datetime.fromtimestamp(NOW - seconds, UTC)


def read(subject: str = "n1", metric: str = "cpu", *, since: float = 86_400, **options: Any) -> dict[float, float]:
    found = series.history("grid", subject, metric, ago(since), ago(-60), **({"resolution": "raw"} | options))
    return {round(at - NOW, 3): value for at, value in zip(found.at.tolist(), found.value.tolist(), strict=True)}


def record(*samples: tuple[float, float], subject: str = "n1", metric: str = "cpu", source: str = "test") -> int:
    return readings.record_readings("grid", source, [Sample(subject, metric, NOW + at, v) for at, v in samples])


def compact() -> int:
    return compaction.compact("grid", everything=True)


@pytest.fixture(params=["frames", "blocks"])
def settled(request: pytest.FixtureRequest) -> Any:
    """What is done before reading: nothing, or everything moved into blocks."""
    return compact if request.param == "blocks" else lambda: 0


def test_what_was_recorded_is_read_again(settled: Any) -> None:
    assert record((-30, 0.5), (-60, 0.25)) == 2
    settled()
    assert read() == {-60: 0.25, -30: 0.5}
    assert read(subject="n2") == {}


def test_doubles_are_not_new_and_of_one_moment_the_last_value_counts(settled: Any) -> None:
    assert record((-30, 0.5)) == 1
    settled()
    assert record((-30, 0.5)) == 0
    assert record((-30, 0.75), (-30, 0.625)) == 0
    settled()
    assert read() == {-30: 0.625}
    assert Source.objects.get(name="test").samples == 1


def test_late_and_unordered_samples_land_in_their_place_and_leave_the_newest_live(settled: Any) -> None:
    record((-10, 0.1))
    settled()
    assert record((-3600 * 9, 0.9), (-50, 0.5), (-3600 * 3, 0.3)) == 3
    assert record((-50, 0.5)) == 0
    settled()
    assert read() == {-3600 * 9: 0.9, -3600 * 3: 0.3, -50: 0.5, -10: 0.1}
    live = series.live("grid")[("n1", "cpu")]
    assert (live.value, live.at, live.source) == (0.1, NOW - 10, "test")


def test_any_order_with_any_compaction_in_between_gives_the_same_history() -> None:
    rng = random.Random(7)
    truth = {(s, -at): round(rng.random(), 3) for s in ("n1", "n2", "n20") for at in rng.sample(range(80_000), 40)}
    sent = [*truth, *rng.sample(list(truth), 60)]
    rng.shuffle(sent)
    new = 0
    while sent:
        some, sent = sent[:17], sent[17:]
        new += readings.record_readings("grid", "test", [Sample(s, "cpu", NOW + a, truth[s, a]) for s, a in some])
        if rng.random() < 0.4:
            compact()
    assert new == len(truth)
    for subject in ("n1", "n2", "n20"):
        assert read(subject) == {at: value for (s, at), value in sorted(truth.items()) if s == subject}


def test_values_that_cannot_be_are_dropped_and_the_others_kept() -> None:
    assert record((-1, float("nan")), (-2, float("inf")), (7200, 0.5), (-NOW - 5, 0.5), (-3, 0.5)) == 1
    assert read() == {-3: 0.5}


@pytest.mark.parametrize(("subject", "metric"), [("", "cpu"), ("n" * 171, "cpu"), ("n1", "a\nb"), ("n1", "m" * 31)])
def test_names_that_cannot_be_are_refused_and_nothing_is_kept(subject: str, metric: str) -> None:
    with pytest.raises(InputError):
        readings.record_readings("grid", "test", [Sample("n1", "cpu", NOW, 1.0), Sample(subject, metric, NOW, 1.0)])
    assert not Frame.objects.exists()


def test_a_series_without_a_sample_in_the_range_is_empty_beside_one_that_has_some(settled: Any) -> None:
    record((-9000, 0.5), subject="n1")
    record((-30, 0.5), subject="n2")
    settled()
    assert (read("n1", since=600), read("n2", since=600)) == ({}, {-30: 0.5})


def test_live_values_take_one_query(django_assert_num_queries: Any) -> None:
    record((-30, 0.5))
    store._directories.clear()
    for _ in range(2):
        with django_assert_num_queries(1):
            live = series.live("grid")
    assert dict(live)[("n1", "cpu")].value == 0.5
    assert ("n1", "load") not in live
    assert len(series.live("nowhere")) == 0


def test_a_history_takes_two_queries(django_assert_num_queries: Any) -> None:
    record(*((-at, 0.5) for at in range(0, 20_000, 30)))
    compact()
    read()
    with django_assert_num_queries(2):
        assert len(read()) == 667


def test_points_of_minutes_and_hours_have_their_extremes_before_and_after_rolling_up() -> None:
    rng = np.random.default_rng(1)
    start = (NOW // 86_400 - 40) * 86_400
    at, value = start + np.arange(0, 86_400, 20.0), rng.integers(0, 1000, 4320) / 1000
    readings.record_readings("grid", "test", [Sample("n1", "cpu", *pair) for pair in zip(at, value, strict=True)])
    span = (datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(start + 86_400, UTC))

    def points(resolution: str) -> Any:
        return series.history("grid", "n1", "cpu", *span, resolution=resolution)

    by_minute, by_hour = value.reshape(1440, 3), value.reshape(24, 180)
    for done in (lambda: 0, compact, lambda: compaction.age("grid", now=start + 86_400 * 4)):
        done()
        for resolution, true in (("minute", by_minute), ("hour", by_hour)):
            found = points(resolution)
            assert found.resolution == resolution
            assert np.allclose(found.value, true.mean(axis=1), rtol=6e-3)
            assert np.allclose(found.low, true.min(axis=1), rtol=6e-3)
            assert np.allclose(found.high, true.max(axis=1), rtol=6e-3)
    assert len(points("raw")) == 0
    compaction.age("grid", now=start + 86_400 * 16)
    assert len(points("minute")) == 0
    assert np.allclose(points("hour").value, by_hour.mean(axis=1), rtol=1.2e-2)
    assert {tier for (tier,) in Block.objects.values_list("tier")} == {spans.HOURS}
    compaction.age("grid", now=start + settings.PORTAL.keep_hours + 86_400 * 40)
    assert not Block.objects.exists()


def test_a_late_double_of_what_is_rolled_up_changes_nothing_and_a_gap_is_filled() -> None:
    record(*((-300_000 - at, 0.5) for at in range(0, 600, 30)))
    compact()
    compaction.age("grid", now=NOW)
    before = read(since=400_000, resolution="minute")
    assert record((-300_030, 0.9)) == 0
    assert record((-310_000, 0.9)) == 1
    compact()
    for _ in range(2):
        after = read(since=400_000, resolution="minute")
        assert {at: value for at, value in after.items() if at in before} == before
        assert len(after) == len(before) + 1
        compaction.age("grid", now=NOW)


@pytest.mark.parametrize(
    ("seconds", "resolution"),
    [(900, "raw"), (3600, "raw"), (86_400, "minute"), (7 * 86_400, "hour"), (30 * 86_400, "hour")],
)
def test_the_resolution_fits_the_range(seconds: float, resolution: str) -> None:
    record(*((-at * seconds / 50, 0.5) for at in range(50)))
    found = series.history("grid", "n1", "cpu", ago(seconds), ago(0))
    assert found.resolution == resolution
    assert 0 < len(found) <= 2000


def test_a_source_that_is_asked_often_is_answered_in_minutes() -> None:
    record(*((-at, 0.5) for at in range(0, 6000)))
    found = series.history("grid", "n1", "cpu", ago(6000), ago(0))
    assert (found.resolution, len(found) <= 102) == ("minute", True)


def test_another_resolution_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="resolution is 'day'; accepted is one of auto, raw, minute, hour"):
        read(resolution="day")


def test_age_is_that_of_the_newest_value_and_nothing_is_without_age() -> None:
    record((-100, 0.5))
    found = series.history("grid", "n1", "cpu", ago(200), ago(0))
    assert found.age == pytest.approx(timezone.now().timestamp() - NOW + 100, abs=1)
    assert series.history("grid", "n2", "cpu", ago(200), ago(0)).age is None


def test_frames_move_only_when_there_are_many() -> None:
    for number in range(compaction.MOST_FRAMES - 1):
        record((-number, 0.5))
    assert compaction.compact("grid") == 0
    record((-100, 0.5))
    assert compaction.compact("grid") == compaction.MOST_FRAMES
    record((-101, 0.5))
    Frame.objects.update(kept_at=timezone.now() - timedelta(hours=1))
    assert compaction.compact("grid") == 1


def test_many_pages_and_groups_keep_their_series_apart() -> None:
    names = [f"n{number}" for number in range(spans.PAGE // 2 + 300)]
    for metric, offset in (("cpu", 0.0), ("load", 1000.0)):
        readings.record_readings("grid", "test", [Sample(n, metric, NOW - 5, offset + i) for i, n in enumerate(names)])
    for _ in range(2):
        for place in (0, 17, spans.PAGE // 2 + 299):
            assert read(names[place]) == {-5: place}
            assert read(names[place], "load") == {-5: 1000 + place}
        compact()
    assert Page.objects.count() == 3
    assert len(series.live("grid")) == 2 * len(names)


class Killed(BaseException):
    """What a kill looks like from within."""


def test_a_compaction_that_is_killed_midway_loses_and_doubles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    record(*((-at, at / 100) for at in range(50)))
    before = read()

    def die(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(type(Frame.objects.all()), "delete", die)
        with pytest.raises(Killed):
            compact()
    assert (Frame.objects.count(), Block.objects.count()) == (1, 0)
    assert read() == before
    compact()
    assert (Frame.objects.count(), read()) == (0, before)


def test_clusters_share_nothing() -> None:
    record((-30, 0.5))
    readings.record_readings("hpc", "test", [Sample("n1", "cpu", NOW - 30, 0.75)])
    assert read() == {-30: 0.5}
    assert series.live("hpc")[("n1", "cpu")].value == 0.75
    Cluster.objects.get(name="hpc").delete()
    assert Snapshot.objects.count() == 1
