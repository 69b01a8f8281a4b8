"""Whether the portal can do its work: database and broker answer."""

from __future__ import annotations

import logging

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError

from gridportal.celery import app

log = logging.getLogger(__name__)


@require_safe
@never_cache
@login_not_required
def healthz(request: HttpRequest) -> JsonResponse:
    """200 and {"ok": true, ...} when both answer, else 503; no details for strangers, those go to the log."""
    found = {"database": _database(), "broker": _broker()}
    ok = all(found.values())
    return JsonResponse({"ok": ok, **found}, status=200 if ok else 503)


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except DatabaseError:
        log.exception("The database does not answer.")
        return False


def _broker() -> bool:
    from redis.exceptions import RedisError  # only who asks needs it, and it takes a tenth of a second to import

    try:
        with app.connection_for_write(connect_timeout=2) as link:
            link.ensure_connection(max_retries=1, interval_start=0, timeout=2)
            return True
    except (OSError, OperationalError, RedisError):
        log.exception("The broker does not answer.")
        return False
