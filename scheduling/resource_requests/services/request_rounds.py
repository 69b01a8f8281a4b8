"""A pass over the requests that wait: those whose lifetime is over expire, the others are tried on new figures."""

from __future__ import annotations

from functools import partial

from django.utils import timezone

from gridportal.base.errors import BackendError
from gridportal.base.reasons import text_reason
from scheduling.jobs.services.advance import advance
from scheduling.matching.match_messages import expired_message
from scheduling.resource_requests import selectors
from scheduling.resource_requests.core.match_states import MatchState
from scheduling.resource_requests.models import MatchRequest
from scheduling.resource_requests.services import request_leases
from scheduling.resource_requests.services.request_attempts import attempt
from scheduling.resource_requests.services.resource_monitor import MONITOR
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.one_at_a_time import OneAtATime

_turns = OneAtATime()
#: So many requests are tried in one pass: each takes a process.
_MOST = 20


def advance_requests() -> int:
    """Whatever there is to do; how many requests are over now. A second call while one is at it leaves."""
    turn = _turns.begin("")
    if turn is None:
        return 0
    with turn:
        return expire_requests() + try_requests()


def expire_requests() -> int:
    """Let those expire whose lifetime is over; how many. One that a worker tries at this moment has the next pass."""
    now = timezone.now()
    rows = selectors.overdue(now).filter(request_leases.over(now))
    return sum(map(_expire, rows))


def try_requests() -> int:
    """Try those that nobody has, as far as the figures have changed since they found nothing; how many are over."""
    rows = selectors.waiting().filter(request_leases.over(timezone.now())).select_related("owner")
    due = [row for row in rows if _is_worth_trying(row)]
    return sum(bool(isolated(str(row), partial(attempt, row)).value) for row in due[:_MOST])


def follow_request(row: MatchRequest) -> bool:
    """Take one request on that waits, in whichever process asks; whether it still waits."""
    row.refresh_from_db()
    now = timezone.now()
    if row.is_final:
        return False
    if row.expires_at is not None and row.expires_at <= now:
        free = MatchRequest.objects.filter(pk=row.pk).filter(request_leases.over(now)).exists()
        return not (free and _expire(row))
    return not (_is_worth_trying(row) and attempt(row))


def _expire(row: MatchRequest) -> bool:
    return advance(row, MatchState.EXPIRED, reason=text_reason(expired_message(row.match_answer)))


def _is_worth_trying(row: MatchRequest) -> bool:
    if not row.unmatched_on:
        return True
    try:
        return MONITOR.pool(row.cluster, forecast=row.forecast).digest != row.unmatched_on
    except BackendError:
        return False
