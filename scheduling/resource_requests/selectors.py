"""Reading resource requests: who sees which, and those that wait."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from gridportal.accounts.models import User
from scheduling.resource_requests.core.match_states import MatchState
from scheduling.resource_requests.models import MatchRequest

#: What the tabs of the list show.
TABS: dict[str, tuple[MatchState, ...]] = {
    "waiting": (MatchState.WAITING,),
    "answered": (MatchState.ANSWERED,),
    "over": (MatchState.UNMATCHED, MatchState.EXPIRED, MatchState.CANCELLED, MatchState.FAILED),
}


def requests_visible_to(user: User) -> QuerySet[MatchRequest]:
    """A person's own; everybody's for who oversees the portal. The newest first."""
    rows = MatchRequest.objects.select_related("owner")
    return rows if user.has_perm("scheduling.view_all_jobs") else rows.filter(owner=user)


def in_tab(user: User, tab: str) -> QuerySet[MatchRequest]:
    """Those of one tab; all for another name."""
    rows = requests_visible_to(user)
    return rows.filter(state__in=[state.value for state in TABS[tab]]) if tab in TABS else rows


def waiting() -> QuerySet[MatchRequest]:
    """Those that wait, the one that was not tried for longest first."""
    return MatchRequest.objects.filter(state=MatchState.WAITING).order_by("tried_at", "pk")


def overdue(now: datetime) -> QuerySet[MatchRequest]:
    """Those that wait though their lifetime is over."""
    return MatchRequest.objects.filter(state=MatchState.WAITING, expires_at__lte=now)
