"""What people do with resource requests: send and cancel."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import BackendError, ConflictError, InputError
from monitoring.clusters import selectors as clusters
from scheduling.jobs.services.advance import advance
from scheduling.matching.core.request_elements import placed_lifetime
from scheduling.matching.services.checked_texts import check_request, read_request
from scheduling.matching.services.matches_at_once import match_of
from scheduling.resource_requests.core.match_states import MatchState
from scheduling.resource_requests.models import MatchEvent, MatchRequest
from scheduling.resource_requests.services.request_attempts import answer_now, keep_first
from scheduling.resource_requests.services.resource_monitor import MONITOR

log = logging.getLogger(__name__)
#: Requests of one person that may wait at a time.
MOST_WAITING = 100
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class NewRequest:
    """A request as somebody sends it. cluster: "" for the first; lifetime: seconds, None: as the ad says, else it is
    answered at once; forecast: by forecasts in place of the last measurements."""

    text: str
    cluster: str = ""
    lifetime: int | None = None
    forecast: bool = False
    name: str = ""


def send_request(owner: User, sent: NewRequest) -> MatchRequest:
    """Try a request and write it down: what is synchronous is over then, anything else answered or waiting.

    Raises InputError for a text that is no request, with its place, for a cluster or a lifetime that cannot be, and
    while too many of this person wait; for a synchronous one also BackendError while nothing is known of the cluster;
    BusyError while two texts of this person are being matched.
    """
    lifetime = placed_lifetime(sent.text, read_request(sent.text).ad, sent.lifetime, "request")
    cluster = clusters.setting(sent.cluster or clusters.default_cluster()).name
    name = _name(sent.name)
    if lifetime is not None:
        waiting = MatchRequest.objects.filter(owner=owner, state=MatchState.WAITING).count()
        if waiting >= MOST_WAITING:
            raise InputError("lifetime", lifetime, f"nothing while {waiting} of your requests wait; cancel some")
    try:
        pool = MONITOR.pool(cluster, forecast=sent.forecast)
    except BackendError:
        if lifetime is None:
            raise
        check_request(sent.text)
        return _written(owner, sent, cluster, lifetime, name)
    with match_of(owner.pk):
        found = answer_now(owner, sent.text, pool)
    row = _written(owner, sent, cluster, lifetime, name)
    keep_first(row, found, pool)
    return row


def cancel_request(actor: User, row: MatchRequest) -> MatchRequest:
    """End the wait of a request. Raises ConflictError when it is over already."""
    with transaction.atomic():
        if not advance(row, MatchState.CANCELLED, expected=[MatchState.WAITING], event={"actor": actor.username}):
            row.refresh_from_db()
            raise ConflictError(f"Request {row.pk} is {row.state} already. Nothing was changed.")
        audit(actor, "match_request.cancel", row)
    return row


@transaction.atomic
def _written(owner: User, sent: NewRequest, cluster: str, lifetime: int | None, name: str) -> MatchRequest:
    now = timezone.now()
    row = MatchRequest.objects.create(
        owner=owner,
        name=name,
        cluster=cluster,
        text=sent.text,
        forecast=sent.forecast,
        lifetime=lifetime,
        created_at=now,
        expires_at=None if lifetime is None else now + timedelta(seconds=lifetime),
    )
    MatchEvent.objects.create(request=row, to_state=MatchState.WAITING.value, actor=owner.username)
    audit(owner, "match_request.send", row, cluster=cluster, lifetime=lifetime)
    log.info("%s: sent by %s to %s", row, owner, cluster)
    return row


def _name(given: str) -> str:
    name = " ".join(given.split())
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise InputError("name", name[:40], f"at most {_LONGEST_NAME} printable characters")
    return name
