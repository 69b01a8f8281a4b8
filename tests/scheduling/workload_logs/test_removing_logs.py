"""A log that was read is removed again: all that it brought goes, and nothing that something else uses."""

from __future__ import annotations

import json
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from typer.testing import CliRunner

from gridportal.accounts.models import AuditEvent, User
from gridportal.base.errors import InputError
from gridportal.cli import app
from scheduling import tasks
from scheduling.jobs.dependency_models import JobDependency
from scheduling.jobs.models import Application, Job
from scheduling.pages.views import workload_logs_page
from scheduling.placing.models import Placement
from scheduling.runs.models import Run
from scheduling.usage.models import DailyUse, PeriodUse, PersonUse
from scheduling.usage.services.counting_use import count_use, is_complete
from scheduling.workload_logs.models import LoggedCluster
from scheduling.workload_logs.selectors import logs_with_jobs
from scheduling.workload_logs.services import removing_logs
from scheduling.workload_logs.services.reading_logs import read_log
from scheduling.workload_logs.services.removing_logs import ask_removal, finish_removals, remove_log
from tests.markup import markup
from tests.scheduling.workload_logs.test_reading_logs import HEAD, JOBS

pytestmark = pytest.mark.django_db
TIME = "?start=2026-01-01T00:00&until=2026-02-01T00:00"


def test_a_log_goes_with_all_that_it_brought_and_nothing_else(people: dict[str, Any], make_job: Any) -> None:
    mine = make_job(people["user"], "succeeded")
    for name in ("old", "older"):
        read_log(HEAD + JOBS, name)
    count_use()
    follower = make_job(people["user"], "waiting")
    JobDependency.objects.create(job=follower, on=Job.objects.filter(cluster="old").first())
    User.objects.filter(username="old-u2").update(is_active=True)  # somebody switched this account on
    Group.objects.get(name="old-g1").user_set.add(people["other"])

    ask_removal(people["administrator"], "old")
    found = remove_log("old")

    assert (found.jobs, found.people, found.applications) == (3, 1, 2)
    assert set(Job.objects.values_list("cluster", flat=True)) == {"grid", "older"}
    assert Run.objects.count() == Placement.objects.count() == 2 + Run.objects.filter(job=mine).count()
    for model in (DailyUse, PeriodUse, PersonUse):
        assert not model.objects.filter(cluster="old").exists()
        assert model.objects.filter(cluster="older").exists()
    assert is_complete()
    names = set(User.objects.filter(username__startswith="old").values_list("username", flat=True))
    assert names == {"old-u2", "older-u1", "older-u2"}
    assert set(Group.objects.filter(name__startswith="old").values_list("name", flat=True)) == {"old-g1", "older-g1"}
    assert not Application.objects.filter(slug__startswith="old-").exists()
    assert list(LoggedCluster.objects.values_list("name", flat=True)) == ["older"]
    events = AuditEvent.objects.filter(action__startswith="workload.").order_by("pk")
    assert [(each.action, each.actor_name) for each in events] == [
        ("workload.remove", "administrator"),
        ("workload.removed", "portal"),
    ]


def test_a_removal_that_was_broken_off_goes_on_and_nothing_is_read_meanwhile(
    people: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_log(HEAD + JOBS, "old")
    monkeypatch.setattr(removing_logs, "BATCH", 1)
    ask_removal(people["administrator"], "old")
    with monkeypatch.context() as broken:
        broken.setattr(removing_logs, "forget_cluster", lambda name: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            remove_log("old")
    assert not Job.objects.exists()
    with pytest.raises(InputError, match="not being removed"):
        read_log(HEAD + JOBS, "old")
    finish_removals()
    assert not LoggedCluster.objects.exists()
    assert read_log(HEAD + JOBS, "old").jobs == 3


def test_only_logs_are_removed_and_only_when_asked(people: dict[str, Any], make_job: Any) -> None:
    make_job(people["user"], "succeeded")
    read_log(HEAD + JOBS, "old")
    with pytest.raises(InputError, match=r"a log that was read \(old\)"):
        ask_removal(people["administrator"], "grid")
    assert remove_log("old").jobs == remove_log("grid").jobs == 0
    assert Job.objects.count() == 4


def test_the_page_says_what_goes_and_a_worker_removes_it(client_as: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read_log(HEAD + JOBS, "old")
    asked: list[str] = []
    monkeypatch.setattr(tasks.remove_log, "delay_on_commit", asked.append)
    client = client_as("administrator")
    assert "Remove old with 3 jobs" in markup(client.get("/reports/logs/old/remove"))
    page = markup(client.post("/reports/logs/old/remove", follow=True))
    assert asked == ["old"]
    assert "Log old</a> is being removed." in page
    assert "being removed" in markup(client.get("/reports/logs/"))
    tasks.remove_log("old")
    assert "No log was read" in markup(client.get("/reports/logs/"))
    assert client.get("/reports/logs/old/remove").status_code == 404


def test_a_log_of_many_jobs_is_counted_with_marks(client_as: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read_log(HEAD + JOBS, "old")
    rows = list(logs_with_jobs())
    for row in rows:
        row.jobs = 30015
    monkeypatch.setattr(workload_logs_page, "logs_with_jobs", lambda: rows)
    assert ">30,015</td>" in markup(client_as("administrator").get("/reports/logs/"))


def test_the_command_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduling.workload_logs.commands.workload.database", nullcontext)
    read_log(HEAD + JOBS, "old")
    refused = CliRunner().invoke(app, ["workload", "remove", "old"], input="n\n")
    assert refused.exit_code == 1
    assert "Remove 3 jobs of the log old?" in refused.output
    assert Job.objects.count() == 3
    done = CliRunner().invoke(app, ["workload", "remove", "old", "--yes", "--json"])
    assert json.loads(done.stdout) == {"jobs": 3, "people": 2, "groups": 1, "applications": 2}


def test_programs_of_logs_flood_no_filter_and_no_list(client_as: Any, application: Any) -> None:
    read_log(HEAD + JOBS, "old")
    client = client_as("manager")
    assert 'value="old-p1"' not in markup(client.get("/jobs/"))
    assert 'value="old-p1" selected' in markup(client.get("/jobs/?application=old-p1"))
    page = markup(client.get("/applications/"))
    assert "2 from logs that were read are hidden." in page
    assert "old-p1" not in page
    assert "old-p1" in markup(client.get("/applications/?logs=1"))


def test_programs_of_logs_are_listed_over_rest_where_somebody_asks(client_as: Any, application: Any) -> None:
    read_log(HEAD + JOBS, "old")
    client = client_as("user")

    def slugs(query: str = "") -> set[str]:
        return {each["slug"] for each in client.get(f"/api/applications{query}").json()["results"]}

    assert slugs() == {application.slug}
    assert slugs("?logs=true") == {application.slug, "old-p1", "old-program"}
    assert client.get("/api/applications/old-p1").status_code == 200
    refused = client.get("/api/applications?logs=perhaps")
    assert (refused.status_code, "logs" in refused.json()) == (400, True)


def test_people_of_logs_are_hidden_and_can_never_come_in(client_as: Any, people: Any) -> None:
    read_log(HEAD + JOBS, "old")
    assert set(User.objects.exclude(from_log="").values_list("username", "from_log")) == {
        ("old-u1", "old"),
        ("old-u2", "old"),
    }
    client = client_as("administrator")
    page = markup(client.get("/people/"))
    assert "2 people from logs that were read are hidden." in page
    assert "old-u1" not in page
    page = markup(client.get("/people/?logs=1&q=old"))
    assert "only in the log old" in page
    assert "Switch old-u1 on" not in page
    assert 'name="logs" value="1"' in page
    names = {each["username"] for each in client.get("/api/people").json()["results"]}
    assert names == set(people)
    of_log = next(each for each in client.get("/api/people?logs=true&q=u1").json()["results"])
    assert (of_log["username"], of_log["from_log"]) == ("old-u1", "old")
    refused = client.patch(f"/api/people/{of_log['id']}", {"is_active": True}, "application/json")
    assert refused.status_code == 409
    assert "a name in the log old" in refused.json()["detail"]
    assert not User.objects.get(username="old-u1").is_active


def test_a_log_is_removed_over_rest(client_as: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read_log(HEAD + JOBS, "old")
    asked: list[str] = []
    monkeypatch.setattr(tasks.remove_log, "delay_on_commit", asked.append)
    client = client_as("administrator")
    (log,) = client.get("/api/workload-logs").json()["results"]
    assert (log["name"], log["jobs"], log["removing_at"]) == ("old", 3, None)
    assert log["first"] < log["last"]
    answer = client.delete("/api/workload-logs/old")
    assert (answer.status_code, answer.json()["removing_at"] is None) == (202, False)
    assert asked == ["old"]
    tasks.remove_log("old")
    assert client.get("/api/workload-logs/old").status_code == 404
    assert client.delete("/api/workload-logs/old").status_code == 404
    assert client.get("/api/workload-logs").json()["results"] == []


def test_the_migration_marks_people_of_logs_alone(people: Any) -> None:
    read_log(HEAD + JOBS, "old")
    User.objects.update(from_log="")
    User.objects.create(username="old-uncle", is_active=False, password="!")
    import_module("scheduling.migrations.0066_people_of_logs").mark(apps, None)
    assert set(User.objects.filter(from_log="old").values_list("username", flat=True)) == {"old-u1", "old-u2"}
