"""Leases of rows, with clusters that are measured: one holder at a time, whoever dies, wakes up or sets the clock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import override_settings
from django.utils import timezone

from gridportal.base.lease import Lease
from gridportal.database import row_lease
from gridportal.database.row_lease import RowLease
from monitoring.clusters.models import Cluster

LASTING = timedelta(seconds=30)
lease = RowLease(Cluster, "measuring", lambda: Lease(LASTING))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """What time it is, for leases."""
    now = [timezone.now()]
    monkeypatch.setattr(row_lease.timezone, "now", lambda: now[0])
    return now


@pytest.fixture
def rows(db: None) -> Any:
    """Three clusters."""
    Cluster.objects.bulk_create(Cluster(name=f"c{number}") for number in range(3))
    return Cluster.objects.all()


def test_of_two_one_acquires_it_and_the_other_after_it_was_released(rows: Any) -> None:
    mine = lease.acquire(rows)
    assert mine
    assert lease.acquire(rows) == ""
    assert lease.release(mine) == 3
    assert lease.acquire(rows)


def test_all_are_acquired_by_one_statement_with_what_is_written_along(
    rows: Any, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        mine = lease.acquire(rows, topology="ring")
    assert set(rows.values_list("measuring_holder", "topology")) == {(mine, "ring")}


def test_who_acquires_some_leaves_those_of_another_to_it(rows: Any) -> None:
    first = lease.acquire(rows.filter(name="c0"))
    second = lease.acquire(rows)
    holders = dict(rows.values_list("name", "measuring_holder"))
    assert holders == {"c0": first, "c1": second, "c2": second}


def test_the_lease_of_a_dead_holder_ends(rows: Any, clock: list[datetime]) -> None:
    lease.acquire(rows)
    clock[0] += LASTING - timedelta(seconds=1)
    assert lease.acquire(rows) == ""
    clock[0] += timedelta(seconds=1)
    assert lease.acquire(rows)


def test_a_holder_that_wakes_up_late_changes_nothing_of_the_next_ones_lease(rows: Any, clock: list[datetime]) -> None:
    late = lease.acquire(rows)
    clock[0] += 2 * LASTING
    other = lease.acquire(rows)
    before = list(rows.values_list("measuring_until", "measuring_holder"))
    assert not lease.renew(late)
    assert lease.release(late) == 0
    assert list(rows.values_list("measuring_until", "measuring_holder")) == before
    assert lease.renew(other)


def test_nobody_holds_what_an_empty_name_holds(rows: Any) -> None:
    assert not lease.renew("")
    assert lease.release("") == 0


def test_a_lease_of_before_the_clock_was_set_back_is_over(rows: Any, clock: list[datetime]) -> None:
    clock[0] += timedelta(hours=1)
    lease.acquire(rows)
    clock[0] -= timedelta(hours=1)
    assert lease.is_over(rows[0].measuring_until, clock[0])
    assert lease.acquire(rows)


def test_one_that_a_clock_a_little_ahead_has_set_is_not(rows: Any, clock: list[datetime]) -> None:
    clock[0] += timedelta(seconds=20)
    lease.acquire(rows)
    clock[0] -= timedelta(seconds=20)
    assert lease.acquire(rows) == ""


def test_another_leaves_it_to_the_holder_until_its_block_ends(rows: Any) -> None:
    with lease.hold(rows) as mine:
        with lease.hold(rows) as other:
            assert other == ""
        assert set(rows.values_list("measuring_holder", flat=True)) == {mine}
    assert lease.acquire(rows)


def test_a_block_that_fails_releases(rows: Any) -> None:
    with pytest.raises(ZeroDivisionError), lease.hold(rows):
        raise ZeroDivisionError
    assert set(rows.values_list("measuring_until", "measuring_holder")) == {(None, "")}


class Renewals:
    """Counts them, and fails those that it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fail, self._done, self._renew = 0, threading.Semaphore(0), lease.renew
        monkeypatch.setattr(lease, "renew", self.renew)

    def renew(self, holder: str) -> bool:
        try:
            if self.fail:
                self.fail -= 1
                raise OperationalError("the database is starting up")
            return self._renew(holder)
        finally:
            self._done.release()

    def wait(self) -> None:
        assert self._done.acquire(timeout=60)

    def wait_for_a_later_end(self, row: Cluster) -> None:
        before = row.measuring_until
        while row.measuring_until == before:
            self.wait()
            row.refresh_from_db()


@pytest.fixture
def renewals(transactional_db: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Renewals]:
    """Of a lease that is to be renewed every tenth of a second."""
    monkeypatch.setattr(lease, "_lease", row_lease.of_workers)
    with override_settings(PORTAL=settings.PORTAL.model_copy(update={"lease_seconds": 0.3})):
        yield Renewals(monkeypatch)


def test_who_takes_longer_than_a_lease_keeps_it(rows: Any, renewals: Renewals) -> None:
    with lease.hold(rows) as mine:
        renewals.wait_for_a_later_end(rows.first())
        assert set(rows.values_list("measuring_holder", flat=True)) == {mine}


def test_a_database_that_is_away_for_a_moment_ends_no_renewals(rows: Any, renewals: Renewals) -> None:
    renewals.fail = 2
    with lease.hold(rows):
        renewals.wait_for_a_later_end(rows.first())
        assert renewals.fail == 0


def test_who_has_lost_it_stops_renewing(rows: Any, renewals: Renewals) -> None:
    with lease.hold(rows) as mine:
        Cluster.objects.update(measuring_holder="another")
        renewals.wait()
        keeper = next((thread for thread in threading.enumerate() if thread.name == f"lease-{mine}"), None)
        if keeper is not None:
            keeper.join(60)
            assert not keeper.is_alive()
    assert set(rows.values_list("measuring_holder", flat=True)) == {"another"}
