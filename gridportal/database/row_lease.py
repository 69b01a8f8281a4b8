"""Leases of rows: who works on what a row stands for, until it says so or dies.

A lease is two columns of the row, NAME_until and NAME_holder. Each step is one conditional UPDATE, so that of many who
try one gets the row. A holder that was held up past the end of its lease may have lost it to another: what it then
does to the lease changes nothing.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from gridportal.base.lease import Lease

log = logging.getLogger(__name__)
#: Seconds for which the end of a block waits for a renewal that is under way; later it changes nothing any more.
_PATIENCE = 10.0


def of_workers() -> Lease:
    """How long a worker has what it works on."""
    return Lease(timedelta(seconds=settings.PORTAL.lease_seconds))


class RowLease:
    """The lease `name` of rows of `model`; `lease` says how long it lasts, asked each time."""

    def __init__(self, model: type[Model], name: str, lease: Callable[[], Lease] = of_workers) -> None:
        self._model, self._lease = model, lease
        self._until, self._holder = f"{name}_until", f"{name}_holder"
        #: The columns of a row that nobody leases.
        self.freed: dict[str, Any] = {self._until: None, self._holder: ""}

    def over(self, now: datetime) -> Q:
        """Rows that nobody leases at `now`, also those whose lease ended without a word (`Lease.is_over`)."""
        late = Q(**{f"{self._until}__lte": now}) | Q(**{f"{self._until}__gt": self._lease().latest(now)})
        return Q(**{self._until: None}) | late

    def is_over(self, until: datetime | None, now: datetime) -> bool:
        """The same of one row that was read."""
        return self._lease().is_over(until, now)

    def silent_since(self, until: datetime | None, now: datetime) -> datetime | None:
        """Since when the holder of a row that was read has not renewed its lease, where that is late."""
        return self._lease().silent_since(until, now)

    def acquire(self, rows: QuerySet[Any], holder: str = "", **fields: Any) -> str:
        """Lease those of `rows` that nobody leases, in one statement; their holder, or "" when none was to be had.

        `holder` is a new name unless told. `fields` are written along.
        """
        now, holder = timezone.now(), holder or uuid.uuid4().hex
        acquired = rows.filter(self.over(now)).update(**self._held(holder, now), **fields)
        return holder if acquired else ""

    def renew(self, holder: str, rows: QuerySet[Any] | None = None) -> bool:
        """Extend the lease of all rows of this holder, or of those of `rows`; False when it has none any more."""
        return bool(holder and self._of(holder, rows).update(**self._held(holder, timezone.now())))

    def release(self, holder: str, rows: QuerySet[Any] | None = None, **fields: Any) -> int:
        """End the lease of all rows of this holder, or of those of `rows`; how many it still had."""
        return self._of(holder, rows).update(**self.freed, **fields) if holder else 0

    @contextmanager
    def keep(self, holder: str) -> Iterator[None]:
        """Renew the lease of all rows of this holder until the block ends or the process dies.

        Who is killed stops renewing, so others acquire its rows one lease later; who measures a large network for
        minutes is not taken for dead.
        """
        done = threading.Event()
        keeper = threading.Thread(target=self._keep, args=(holder, done), name=f"lease-{holder}", daemon=True)
        keeper.start()
        try:
            yield
        finally:
            done.set()
            keeper.join(_PATIENCE)

    @contextmanager
    def hold(self, rows: QuerySet[Any]) -> Iterator[str]:
        """Acquire, keep while the block runs, and release: the holder, or "" where another has all of `rows`."""
        holder = self.acquire(rows)
        if not holder:
            yield ""
            return
        try:
            with self.keep(holder):
                yield holder
        finally:
            self.release(holder)

    def _held(self, holder: str, now: datetime) -> dict[str, Any]:
        return {self._until: self._lease().end(now), self._holder: holder}

    def _of(self, holder: str, rows: QuerySet[Any] | None) -> QuerySet[Any]:
        every = self._model._default_manager.all() if rows is None else rows
        return every.filter(**{self._holder: holder})

    def _keep(self, holder: str, done: threading.Event) -> None:
        try:
            while not done.wait(self._lease().renew_every):
                if not self._renewed(holder):
                    return
        finally:
            connection.close()

    def _renewed(self, holder: str) -> bool:
        """Whether it is worth trying again: a database that is away for a moment ends no lease."""
        try:
            return self.renew(holder)
        except DatabaseError as error:
            log.warning("the lease of %s could not be renewed: %s", holder, error)
            connection.close()
            return True
