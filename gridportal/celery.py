"""The Celery application and its schedule, which is code and not rows."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gridportal.settings")

app = Celery("gridportal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["monitoring", "scheduling"])


@app.on_after_configure.connect
def schedule(sender: Celery, **_: object) -> None:
    """What beat starts, and how often; a tick that finds nothing to do is one cheap query."""
    from django.conf import settings

    knobs = settings.KNOBS
    sender.conf.beat_schedule = {
        "poll-runs": {
            "task": "scheduling.tasks.poll_runs",
            "schedule": knobs.poll_every,
            "options": {"expires": max(2.0, knobs.poll_every)},
        },
        "advance-jobs": {
            "task": "scheduling.tasks.advance_jobs",
            "schedule": 5.0,
            "options": {"expires": 5.0},
        },
        "build-skeletons": {
            "task": "scheduling.tasks.build_skeletons",
            "schedule": 10.0,
            "options": {"expires": 10.0},
        },
        "tend-experiments": {
            "task": "scheduling.tasks.tend_experiments",
            "schedule": 5.0,
            "options": {"expires": 5.0},
        },
        "measure-network": {
            "task": "monitoring.tasks.measure_network",
            "schedule": 10.0,
            "options": {"expires": 10.0},
        },
        "keep-history": {
            "task": "monitoring.tasks.keep_history",
            "schedule": 60.0,
            "options": {"expires": 60.0},
        },
        "poll-sources": {
            "task": "monitoring.tasks.poll_sources",
            "schedule": knobs.collect_every,
            "options": {"expires": knobs.collect_every},
        },
    }
