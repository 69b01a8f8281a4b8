"""Announcements that a person has put away, remembered in the browser until they change.

A cookie and no table: what is put away is no fact about jobs, and it is gone with the announcement.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from scheduling.maintenance.models import PageAnnouncement

_REMEMBERED = timedelta(days=365)
_BETWEEN, _MOST = "-", 200


def still_shown(request: HttpRequest, rows: Iterable[PageAnnouncement]) -> list[PageAnnouncement]:
    """Those that this person has not put away as they are now."""
    marks = _marks(request)
    return [row for row in rows if _mark(row) not in marks]


def put_away(request: HttpRequest, answer: HttpResponse, row: PageAnnouncement, shown: Iterable[int]) -> None:
    """Remember it with the answer; of the others only those that are `shown`, by their keys."""
    kept = [mark for mark in _marks(request) if mark.partition(".")[0] in {str(pk) for pk in shown}]
    marks = sorted({*kept, _mark(row)})[-_MOST:]
    answer.set_cookie(
        _name(request),
        _BETWEEN.join(marks),
        max_age=_REMEMBERED,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _name(request: HttpRequest) -> str:
    return f"put-away-{request.user.pk or 0}"


def _marks(request: HttpRequest) -> set[str]:
    return set(request.COOKIES.get(_name(request), "").split(_BETWEEN)) - {""}


def _mark(row: PageAnnouncement) -> str:
    """Another one when what it says, or how it looks, changes."""
    text = hashlib.sha256(f"{row.level} {row.text}".encode()).hexdigest()
    return f"{row.pk}.{text[:12]}"
