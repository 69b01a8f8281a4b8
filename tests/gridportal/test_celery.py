"""Beat's schedule, and tasks that are sent when something is committed."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from celery.beat import Scheduler
from kombu.exceptions import OperationalError

from gridportal import celery
from scheduling import tasks

_BEAT = """
import logging, sys
from gridportal.celery_beat import app
app.loader.init_worker()
app.finalize()
writes = logging.getLogger().handlers != []
print(writes, "django.contrib.auth.models" in sys.modules, "scheduling.tasks" in sys.modules)
"""


class Beat(Scheduler):
    """A scheduler that sends nothing, but keeps the names of what it would send."""

    def setup_schedule(self):
        self.sent = []
        self.update_from_dict(self.app.conf.beat_schedule)

    def apply_entry(self, entry, producer=None):
        self.sent.append(entry.name)

    def all_due(self) -> set[str]:
        """What it sends now."""
        self.sent = []
        for _ in range(2 * len(self.schedule)):
            self.tick()
        return set(self.sent)


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_set_keeps_no_task_from_being_sent(monkeypatch, hours):
    steady, wall = [100.0], [datetime(2026, 11, 22, tzinfo=UTC)]
    monkeypatch.setattr(celery, "time", SimpleNamespace(monotonic=lambda: steady[0]))
    monkeypatch.setattr(celery.app, "now", lambda: wall[0])
    beat = Beat(celery.app)
    every_task = set(beat.schedule)
    beat.all_due()
    for _ in range(2):
        steady[0] += 3600  # longer than any task waits
        wall[0] += timedelta(hours=hours)
        assert beat.all_due() == every_task
    assert beat.all_due() == set()


def test_what_beat_sends_is_what_workers_know():
    celery.app.loader.import_default_modules()
    assert {entry["task"] for entry in celery.app.conf.beat_schedule.values()} <= set(celery.app.tasks)


@pytest.mark.timeout(120)
def test_beat_itself_writes_logs_and_imports_no_task_and_no_model():
    done = subprocess.run([sys.executable, "-c", _BEAT], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "True False False\n"


@pytest.mark.django_db
def test_a_broker_that_does_not_answer_makes_no_failure_of_what_is_written_down(
    monkeypatch, caplog, django_capture_on_commit_callbacks
):
    def refuse(*_):
        raise OperationalError("Error 111 connecting to broker.sock. Connection refused.")

    monkeypatch.setattr(tasks.cancel_run, "delay", refuse)
    with django_capture_on_commit_callbacks(execute=True) as sent:
        tasks.cancel_run.delay_on_commit(7)
    assert len(sent) == 1
    assert "scheduling.tasks.cancel_run could not be sent; beat starts it later" in caplog.text
