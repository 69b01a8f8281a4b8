"""The Celery application and its schedule, which is code and not rows."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import ParamSpec, cast

from celery import Celery, shared_task
from celery.contrib.django.task import DjangoTask
from celery.schedules import schedule as interval
from django.db import transaction
from kombu.exceptions import OperationalError

from gridportal.web import task_requests  # noqa: F401 (connects its signals)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gridportal.settings")
# Django's checks are for who changes the portal. A worker would import every page for them, and tell nobody what they
# found.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

log = logging.getLogger(__name__)


Asked = ParamSpec("Asked")


class Task(DjangoTask[Asked, None]):
    """A task that doors send when what they wrote is committed."""

    def delay_on_commit(self, *args: Asked.args, **kwargs: Asked.kwargs) -> None:  # type: ignore[override]  # Celery's has no result
        """Send it then."""
        transaction.on_commit(lambda: self.send(*args, **kwargs))

    def send(self, *args: Asked.args, **kwargs: Asked.kwargs) -> None:
        """Send it. A broker that does not answer makes no failure of what is written down by now: beat starts the same
        work every few seconds, and finds it."""
        try:
            self.delay(*args, **kwargs)
        except OperationalError as error:
            log.warning("%s could not be sent; beat starts it later: %s", self.name, error)


def task(name: str) -> Callable[[Callable[Asked, None]], Task[Asked]]:
    """Celery's `shared_task`, which does not tell that our application makes a Task of it."""
    return cast("Callable[[Callable[Asked, None]], Task[Asked]]", shared_task(name=name))


app = Celery("gridportal", task_cls=Task)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["gridportal.accounts", "monitoring", "scheduling", "gridportal.experiments"])
_begun_at, _begun = datetime.now(UTC), time.monotonic()


def steady_now() -> datetime:
    """The time by a clock that nobody sets: when this process began, and the seconds since.

    Beat counts from when a task was last sent. By the wall clock, one that is set back by an hour would keep every
    task from being sent for an hour.
    """
    return _begun_at + timedelta(seconds=time.monotonic() - _begun)


def every(seconds: float) -> interval:
    """A schedule with so many seconds between two tasks, whatever the wall clock does."""
    return interval(timedelta(seconds=seconds), nowfun=steady_now)


@app.on_after_configure.connect
def schedule(sender: Celery, **_: object) -> None:
    """What beat starts, and how often; a tick that finds nothing to do is one cheap query."""
    from django.conf import settings

    portal = settings.PORTAL
    sender.conf.beat_schedule = {
        "poll-runs": {
            "task": "scheduling.tasks.poll_runs",
            "schedule": every(portal.poll_every),
            "options": {"expires": max(2.0, portal.poll_every)},
        },
        "judge-contracts": {
            "task": "scheduling.tasks.judge_contracts",
            "schedule": every(2 * portal.poll_every),
            "options": {"expires": max(2.0, 2 * portal.poll_every)},
        },
        "advance-jobs": {
            "task": "scheduling.tasks.advance_jobs",
            "schedule": every(5.0),
            "options": {"expires": 5.0},
        },
        "build-skeletons": {
            "task": "scheduling.tasks.build_skeletons",
            "schedule": every(10.0),
            "options": {"expires": 10.0},
        },
        "reschedule": {
            "task": "scheduling.tasks.reschedule",
            "schedule": every(5.0),
            "options": {"expires": 5.0},
        },
        "match-requests": {
            "task": "scheduling.tasks.match_requests",
            "schedule": every(3.0),
            "options": {"expires": 3.0},
        },
        "send-notices": {
            "task": "scheduling.tasks.send_notices",
            "schedule": every(3.0),
            "options": {"expires": 3.0},
        },
        "judge-alerts": {
            "task": "scheduling.tasks.judge_alerts",
            "schedule": every(10.0),
            "options": {"expires": 10.0},
        },
        "forget-notices": {
            "task": "scheduling.tasks.forget_notices",
            "schedule": every(3600.0),
            "options": {"expires": 3600.0},
        },
        "forget-decisions": {
            "task": "scheduling.tasks.forget_decisions",
            "schedule": every(3600.0),
            "options": {"expires": 3600.0},
        },
        "forget-inputs": {
            "task": "scheduling.tasks.forget_inputs",
            "schedule": every(3600.0),
            "options": {"expires": 3600.0},
        },
        "forget-sessions": {
            "task": "accounts.tasks.forget_sessions",
            "schedule": every(3600.0),
            "options": {"expires": 3600.0},
        },
        "tend-experiments": {
            "task": "experiments.tasks.tend_experiments",
            "schedule": every(5.0),
            "options": {"expires": 5.0},
        },
        "sweep-depots": {
            "task": "scheduling.tasks.sweep_depots",
            "schedule": every(300.0),
            "options": {"expires": 300.0},
        },
        "tend-use": {
            "task": "scheduling.tasks.tend_use",
            "schedule": every(300.0),
            "options": {"expires": 300.0},
        },
        "free-checkpoints": {
            "task": "scheduling.tasks.free_checkpoints",
            "schedule": every(60.0),
            "options": {"expires": 60.0},
        },
        "look-into-depots": {
            "task": "scheduling.tasks.look_into_depots",
            "schedule": every(60.0),
            "options": {"expires": 60.0},
        },
        "measure-network": {
            "task": "monitoring.tasks.measure_network",
            "schedule": every(10.0),
            "options": {"expires": 10.0},
        },
        "keep-history": {
            "task": "monitoring.tasks.keep_history",
            "schedule": every(60.0),
            "options": {"expires": 60.0},
        },
        "poll-sources": {
            "task": "monitoring.tasks.poll_sources",
            "schedule": every(portal.collect_every),
            "options": {"expires": portal.collect_every},
        },
    }
