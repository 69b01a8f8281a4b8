"""Whether the portal has all it needs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from gridportal.base.run_directory import Fault, RunFileError
from gridportal.serve.views import healthz, ready
from monitoring.clusters.models import Cluster
from scheduling.runs.services import isolation

pytestmark = pytest.mark.django_db


@pytest.fixture
def beat(monkeypatch):
    """A beat that answers; the one thing that a test cannot have for itself."""
    monkeypatch.setattr(ready, "_beat_said", None)
    monkeypatch.setattr(ready, "ill", lambda *_, **__: None)


@pytest.fixture
def heard():
    return Cluster.objects.create(name="grid", loads_at=timezone.now() - timedelta(seconds=5))


def test_a_portal_with_everything_is_ready_and_says_how_old_its_figures_are(beat, heard):
    answer = Client().get("/readyz")
    said = answer.json()
    assert answer.status_code == 200
    assert (said["ok"], said["database"], said["broker"], said["migrations"], said["beat"]) == (True, *["ok"] * 4)
    assert said["clusters"]["grid"].startswith("ok, ")


@pytest.mark.parametrize("part", ["database", "broker"])
def test_a_part_that_does_not_answer_is_named(monkeypatch, beat, heard, part):
    monkeypatch.setattr(healthz, f"_{part}", lambda: False)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()[part] == f"The {part} does not answer."


def test_a_migration_that_is_not_applied_is_named(beat, heard):
    MigrationRecorder.Migration.objects.filter(app="monitoring").order_by("-name").first().delete()
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert "monitoring.0" in answer.json()["migrations"]
    assert "gridportal prepare" in answer.json()["migrations"]


def test_without_beat_it_is_not_ready(monkeypatch, heard):
    monkeypatch.setattr(ready, "_beat_said", None)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert "did not answer" in answer.json()["beat"]


def test_a_cluster_of_which_nothing_was_heard_is_told_with_its_age_and_reason(beat, heard):
    heard.loads_at, heard.error = timezone.now() - timedelta(hours=1), "The Grid is down."
    heard.save()
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["clusters"]["grid"].startswith("Nothing was heard of it for 36")
    assert answer.json()["clusters"]["grid"].endswith(": The Grid is down.")
    heard.delete()
    assert Client().get("/readyz").json()["clusters"]["grid"] == "Nothing was ever heard of it."


def test_strangers_learn_no_names_or_reasons(beat, heard):
    answer = Client(REMOTE_ADDR="192.0.2.7").get("/readyz")
    assert answer.json() == dict.fromkeys(("ok", "database", "broker", "migrations", "beat"), True)


def test_a_poll_that_fails_is_told_with_its_cluster_time_and_cause(beat, heard):
    heard.poll_failed_at, heard.poll_error = timezone.now(), "The Grid is down."
    heard.save()
    assert Client().get("/readyz").status_code == 200  # a backend that is being restarted
    heard.poll_failed_at -= timedelta(minutes=1)
    heard.save()
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    since = f"{heard.poll_failed_at:%Y-%m-%d %H:%M:%S} UTC"
    assert answer.json()["clusters"]["grid"] == f"Its runs cannot be followed since {since}: The Grid is down."
    text = Client().get("/metrics").content.decode()
    assert float(text.split('gridportal_poll_failed_seconds{cluster="grid"} ')[1].split()[0]) >= 60


def test_a_run_that_cannot_be_followed_is_told_and_the_portal_is_ready(beat, heard, make_job, people):
    run = make_job(people["user"], "running").runs.get()
    isolation.note(run, RunFileError("progress.jsonl", Fault.SPECIAL))
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    said = answer.json()["runs"][f"job {run.job_id}"]
    assert said.endswith("UTC: progress.jsonl is a pipe, socket or device, not a plain file.")
    assert 'gridportal_runs_unread{cluster="grid",fault="special"} 1.0' in Client().get("/metrics").content.decode()
    isolation.note(run, None)
    assert Client().get("/readyz").json()["runs"] == {}
