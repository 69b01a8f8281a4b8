"""A node is kept exactly when the time of a job and the time of maintenance have a moment in common."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from scheduling.maintenance.core.planned_times import PlannedTime, kept_nodes

START = datetime(2030, 5, 3, 12, tzinfo=UTC)
MINUTES = st.integers(0, 30)
LENGTHS = st.integers(1, 30)


def minutes(count: int) -> datetime:
    return START + timedelta(minutes=count)


@given(MINUTES, LENGTHS, MINUTES, st.one_of(st.none(), LENGTHS))
def test_it_is_what_counting_minutes_says(begin: int, length: int, now: int, limit: int | None) -> None:
    planned = PlannedTime(minutes(begin), minutes(begin + length), frozenset({"n1"}), "")
    meets = any(begin <= minute < begin + length for minute in range(now, now + (limit or 100)))
    kept = kept_nodes([planned], ["n1", "n2"], minutes(now), None if limit is None else 60.0 * limit)
    assert set(kept) == ({"n1"} if meets else set())


def test_without_nodes_it_is_for_all_and_the_sentence_says_until_when() -> None:
    planned = PlannedTime(minutes(0), minutes(60), frozenset(), "new disks")
    assert kept_nodes([planned], ["n1", "n2"], minutes(1), 1) == dict.fromkeys(
        ["n1", "n2"], "It is maintained until 13:00 UTC on 3 May (new disks)."
    )
