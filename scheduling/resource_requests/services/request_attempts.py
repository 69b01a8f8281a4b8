"""Trying a resource request on the resources as they are: matched, mapped, and answered or left waiting."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.accounts.selectors import groups_of
from gridportal.base.errors import BackendError, GridPortalError, InputError
from gridportal.base.reasons import text_reason
from scheduling.jobs.services.advance import advance
from scheduling.matching.core.answer_documents import answer_document
from scheduling.matching.core.answers import MatchAnswer, StatusCode
from scheduling.matching.core.topology_ads import bandwidths_between
from scheduling.matching.match_messages import none_message
from scheduling.matching.services.limited_match import limited_match
from scheduling.matching.services.mapper_rests import asked_unless_resting
from scheduling.matching.services.mapping import with_shares
from scheduling.matching.services.match_texts import MatchQuestion
from scheduling.resource_requests.core.match_states import MatchState
from scheduling.resource_requests.models import MatchRequest
from scheduling.resource_requests.services import request_leases
from scheduling.resource_requests.services.resource_monitor import MONITOR, ResourcePool

log = logging.getLogger(__name__)
#: Seconds for the search; the explanation may take as long again.
SECONDS = 10.0


def answer_now(
    owner: User, text: str, pool: ResourcePool, *, explain: bool = True, field: str = "request"
) -> MatchAnswer:
    """The best set of a pool for a request, which sentences call by its field. Raises MatchTextError, and
    GridPortalError where it took too much."""
    question = MatchQuestion(
        text,
        pool.text,
        field,
        explain=explain,
        seconds=SECONDS,
        owner=owner.username,
        groups=groups_of(owner),
        names_candidates=True,
    )
    return with_shares(limited_match(question), partial(bandwidths_between, pool.network), asked_unless_resting)


def attempt(row: MatchRequest) -> bool:
    """Try a request that waits; whether it is over now. Another worker that has it is left to it."""
    if not request_leases.acquire(row):
        return False
    try:
        with request_leases.keep(row.lease_holder):
            return _attempt(row)
    finally:
        request_leases.release(row)


def keep_first(row: MatchRequest, answer: MatchAnswer, pool: ResourcePool) -> bool:
    """Take over what a request that was just written has come to already."""
    if not request_leases.acquire(row):
        return False
    try:
        return _keep(row, answer, pool)
    finally:
        request_leases.release(row)


def _attempt(row: MatchRequest) -> bool:
    try:
        pool = MONITOR.pool(row.cluster, forecast=row.forecast)
        if row.unmatched_on == pool.digest:
            return False
        answer = answer_now(row.owner, row.text, pool)
    except BackendError as error:  # the cluster was never reached, or its figures are away: it may come back
        return _unreachable(row, error)
    except (InputError, GridPortalError) as error:
        return advance(row, MatchState.FAILED, holder=row.lease_holder, reason=text_reason(str(error)))
    return _keep(row, answer, pool)


def _keep(row: MatchRequest, answer: MatchAnswer, pool: ResourcePool) -> bool:
    tried: Mapping[str, Any] = {
        "answer": answer_document(answer),
        "tried_at": timezone.now(),
        "tries": row.tries + 1,
        "unmatched_on": "" if answer.status is StatusCode.OK else pool.digest,
    }
    if answer.status is StatusCode.OK:
        return advance(row, MatchState.ANSWERED, holder=row.lease_holder, **tried)
    if row.lifetime is None:
        why = text_reason(none_message(answer))
        return advance(row, MatchState.UNMATCHED, holder=row.lease_holder, reason=why, **tried)
    waiting = MatchRequest.objects.filter(pk=row.pk, state=MatchState.WAITING, lease_holder=row.lease_holder)
    if waiting.update(**tried):
        for name, value in tried.items():
            setattr(row, name, value)
    return False


def _unreachable(row: MatchRequest, error: BackendError) -> bool:
    if row.lifetime is None:
        return advance(row, MatchState.FAILED, holder=row.lease_holder, reason=text_reason(str(error)))
    log.warning("%s waits: %s", row, error)
    MatchRequest.objects.filter(pk=row.pk, state=MatchState.WAITING).update(tried_at=timezone.now())
    return False
