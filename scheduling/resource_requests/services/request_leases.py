"""A worker's lease of resource requests."""

from __future__ import annotations

from gridportal.database.row_lease import RowLease
from scheduling.resource_requests.models import MatchRequest

_lease = RowLease(MatchRequest, "lease")
over, keep = _lease.over, _lease.keep


def acquire(row: MatchRequest) -> bool:
    """Lease one that nobody leases, in the state that it is known to be in."""
    holder = _lease.acquire(MatchRequest.objects.filter(pk=row.pk, state=row.state))
    row.lease_holder = holder
    return bool(holder)


def release(row: MatchRequest) -> None:
    """End it."""
    _lease.release(row.lease_holder)
    row.lease_holder = ""
