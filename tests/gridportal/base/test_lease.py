"""When a lease is over: by its end, and by a clock that was set back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.lease import Lease

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
seconds = st.floats(0.1, 1e5).map(lambda count: timedelta(seconds=count))
leases = st.builds(Lease, seconds, seconds)


@given(leases, seconds)
def test_nobody_waits_longer_than_for_two_leases_whatever_the_clock_did(lease: Lease, back: timedelta) -> None:
    until = lease.end(NOON)
    now = NOON - back
    waited = timedelta() if lease.is_over(until, now) else until - now
    assert waited <= 2 * max(lease.lasting, lease.pause)


@given(leases, st.floats(0, 0.999))
def test_it_is_never_over_early_for_who_renews_it_in_time(lease: Lease, part: float) -> None:
    assert not lease.is_over(lease.end(NOON), NOON + part * lease.lasting)
    assert lease.renew_every < lease.lasting.total_seconds() / 2


@given(leases)
def test_an_end_of_a_clock_a_little_ahead_counts(lease: Lease) -> None:
    assert not lease.is_over(lease.end(NOON + lease.lasting / 2), NOON)


def test_what_nobody_has_is_over() -> None:
    assert Lease(timedelta(seconds=1)).is_over(None, NOON)


@given(leases, st.floats(0, 1))
def test_who_renews_in_time_is_never_said_to_be_silent_and_who_does_not_is_before_it_is_over(
    lease: Lease, part: float
) -> None:
    until = lease.end(NOON)
    assert lease.silent_since(until, NOON + part * timedelta(seconds=lease.renew_every)) is None
    assert lease.silent_since(until, until) == NOON
    assert lease.silent_since(None, NOON) is None
