"""Whether the portal has all it needs to do its work: what a load balancer asks before it sends anybody."""

from __future__ import annotations

import logging
import time
from datetime import datetime

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from gridportal.accounts.views import health
from gridportal.accounts.views.metrics import trusted
from gridportal.serve.health import ill
from monitoring.models import Cluster
from monitoring.selectors import configured, sources

log = logging.getLogger(__name__)
_BEAT_PATIENCE = 1.0
_BEAT_MEMORY = 5.0  # seconds: each question goes to every worker by the broker
_SHORTEST_AGE = 60.0
_beat_said: tuple[float, str] | None = None


@require_safe
@never_cache
@login_not_required
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when every part is well, else 503. Each part is "ok" or a sentence; strangers get true or false for it.

    Of the clusters one that works is enough: the portal can still place jobs there, and says on its pages what it
    knows of the others and how old that is.
    """
    parts = _parts()
    ages = _clusters() if parts["database"] == parts["migrations"] == "ok" else {}
    ok = all(said == "ok" for said in parts.values()) and any(said == "ok" for said in ages.values())
    if not trusted(request):
        known = {name: said == "ok" for name, said in parts.items()}
        return JsonResponse({"ok": ok, **known}, status=200 if ok else 503)
    clusters = {name: said if said != "ok" else f"ok, {_age(name):.0f} s old" for name, said in ages.items()}
    return JsonResponse({"ok": ok, **parts, "clusters": clusters}, status=200 if ok else 503)


def _parts() -> dict[str, str]:
    database = health._database()
    broker = health._broker()
    return {
        "database": "ok" if database else "The database does not answer.",
        "broker": "ok" if broker else "The broker does not answer.",
        "migrations": _migrations() if database else "Unknown while the database does not answer.",
        "beat": _beat() if broker else "Unknown while the broker does not answer.",
    }


def _migrations() -> str:
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        log.exception("The migrations cannot be read.")
        return "The table of migrations cannot be read."
    if not waiting:
        return "ok"
    first = f"{waiting[0][0].app_label}.{waiting[0][0].name}"
    return f"{len(waiting)} migrations are not applied, the first is {first}: run gridportal prepare."


def _beat() -> str:
    global _beat_said
    if _beat_said is None or time.monotonic() - _beat_said[0] > _BEAT_MEMORY:
        _beat_said = time.monotonic(), ill("beat", timeout=_BEAT_PATIENCE) or "ok"
    return _beat_said[1]


def _clusters() -> dict[str, str]:
    """For each cluster that is set up "ok", or since when nothing was heard of it and why."""
    limit = max(_SHORTEST_AGE, 3 * settings.KNOBS.measure_every, 3 * settings.KNOBS.collect_every)
    return {name: _cluster(name, limit) for name in configured()}


def _cluster(name: str, limit: float) -> str:
    age = _age(name)
    if age is not None and age <= limit:
        return "ok"
    row = Cluster.objects.filter(name=name).first()
    why = f": {row.error}" if row and row.error else "."
    if age is None:
        return f"Nothing was ever heard of it{why}"
    return f"Nothing was heard of it for {age:.0f} s{why}"


def _age(name: str) -> float | None:
    row = Cluster.objects.filter(name=name).first()
    heard: list[datetime] = [at for at in (row.loads_at, row.measured_at) if at] if row else []
    ages = [(timezone.now() - max(heard)).total_seconds()] if heard else []
    return min(ages + [source.age for source in sources(name) if source.age is not None], default=None)
