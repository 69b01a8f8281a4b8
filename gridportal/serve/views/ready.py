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

from gridportal.database import portal_tables
from gridportal.serve import parts
from gridportal.serve.health import ill
from gridportal.serve.views import following, healthz
from gridportal.serve.views.metrics import trusted
from gridportal.web import request_wait
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import configured
from monitoring.telemetry.selectors import sources

log = logging.getLogger(__name__)
_BEAT_PATIENCE = 1.0
_BEAT_MEMORY = 5.0  # seconds: each question goes to every worker by the broker
_SHORTEST_AGE = 60.0
_LONG_WAIT = 1.0  # seconds that a request waits for a thread, from which on it is told
_beat_said: tuple[float, str] | None = None


@require_safe
@never_cache
@login_not_required
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when every part is well, else 503. Each part is "ok" or a sentence; strangers get true or false for it.

    A cluster whose runs could not be followed for a while does not work; single runs that cannot be are named beside.
    Of the clusters one that works is enough: the portal can still place jobs there, and says on its pages what it
    knows of the others and how old that is.
    """
    state_of = _parts()
    ages = _clusters() if state_of["database"] == state_of["migrations"] == "ok" else {}
    ok = all(state == "ok" for state in state_of.values()) and any(state == "ok" for state in ages.values())
    if not trusted(request):
        is_ok = {name: state == "ok" for name, state in state_of.items()}
        return JsonResponse({"ok": ok, **is_ok}, status=200 if ok else 503)
    clusters = {name: state if state != "ok" else f"ok, {_age(name):.0f} s old" for name, state in ages.items()}
    runs = following.runs() if ages else {}
    answer = {"ok": ok, **state_of, "clusters": clusters, "runs": runs, "slow": _slow()}
    return JsonResponse(answer, status=200 if ok else 503)


def _parts() -> dict[str, str]:
    database = healthz._database()
    broker = healthz._broker()
    return {
        "database": "ok" if database else "The database does not answer.",
        "broker": "ok" if broker else "The broker does not answer.",
        "migrations": _migrations() if database else "Unknown while the database does not answer.",
        "beat": _beat() if broker else "Unknown while the broker does not answer.",
        **_processes(),
    }


def _processes() -> dict[str, str]:
    """What the supervisor says of its processes; nothing where another program starts them, as in containers."""
    parts_read = parts.read(settings.PORTAL.home)
    if parts_read is None:
        return {}
    return {"processes": " ".join(part.sentence for part in parts_read if part.is_down) or "ok"}


def _slow() -> list[str]:
    """What is slow: it does its work, so the portal is ready all the same."""
    slow = [part.sentence for part in parts.read(settings.PORTAL.home) or () if part.state is parts.State.SLOW]
    waited = request_wait.longest(time.monotonic())
    if waited >= _LONG_WAIT:
        slow.append(f"A request waited {waited:.0f} s for a thread of the web server within the last minute.")
    return slow


def _migrations() -> str:
    try:
        if portal_tables.has_every_migration():
            return "ok"
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
    limit = max(_SHORTEST_AGE, 3 * settings.PORTAL.measure_every, 3 * settings.PORTAL.collect_every)
    return {name: _cluster(name, limit) for name in configured()}


def _cluster(name: str, limit: float) -> str:
    age = _age(name)
    row = Cluster.objects.filter(name=name).first()
    if age is not None and age <= limit:
        return (following.poll(row) if row else "") or "ok"
    why = f": {row.error}" if row and row.error else "."
    if age is None:
        return f"Nothing was ever heard of it{why}"
    return f"Nothing was heard of it for {age:.0f} s{why}"


def _age(name: str) -> float | None:
    row = Cluster.objects.filter(name=name).first()
    heard: list[datetime] = [at for at in (row.loads_at, row.measured_at) if at] if row else []
    ages = [(timezone.now() - max(heard)).total_seconds()] if heard else []
    return min(ages + [source.age for source in sources(name) if source.age is not None], default=None)
