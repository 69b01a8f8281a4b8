"""Rules against the values of a cluster: links, agents, jobs and recorded series; who is told, and when not."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services.readings import record_readings
from scheduling import tasks
from scheduling.alerts.models import Alert, AlertRule
from scheduling.alerts.services import changing_rules, judging_rules
from scheduling.jobs.models import Job
from scheduling.notices import notice_messages
from scheduling.notices.models import Notice

START = timezone.now().replace(microsecond=0)


@pytest.fixture
def cluster(db: None) -> Cluster:
    """Two nodes and a link each way, the first with 90 % in use."""
    made = Cluster.objects.create(name="grid", topology="two", directed=True, measured_at=START)
    one, two = (Node.objects.create(cluster=made, name=f"n{at}", position=at) for at in (1, 2))
    Link.objects.create(cluster=made, source=one, target=two, capacity=1e8, bandwidth=1e7, measured_at=START)
    Link.objects.create(cluster=made, source=two, target=one, capacity=1e8, bandwidth=9e7, measured_at=START)
    record_readings("grid", "agent", [Sample("n1", "clock_offset", START.timestamp(), 0.0)])
    return made


@pytest.fixture
def at(monkeypatch: Any) -> Any:
    """at(seconds): judge all rules so many seconds after the start; the names of what fires then."""

    def judged(seconds: float) -> list[str]:
        monkeypatch.setattr(judging_rules.timezone, "now", lambda: START + timedelta(seconds=seconds))
        tasks.judge_alerts()
        return sorted(Alert.objects.filter(state="firing").values_list("subject", flat=True))

    return judged


def make_rule(cluster: Cluster, **fields: Any) -> AlertRule:
    given = {"name": "busy", "cluster": cluster, "metric": "link_use", "level": 0.8, "clear": 0.5, "hold": 60}
    return AlertRule.objects.create(**(given | fields))


def use(cluster: Cluster, share: float, moment: datetime | None = None) -> None:
    cluster.links.filter(source__name="n1").update(bandwidth=1e8 * (1 - share), measured_at=moment or timezone.now())


def test_a_busy_link_fires_after_its_time_and_ends_behind_the_other_level(people: Any, cluster: Any, at: Any) -> None:
    make_rule(cluster)
    assert at(0) == []
    assert at(59) == []
    assert at(60) == ["n1>n2"]
    use(cluster, 0.6)
    assert at(70) == ["n1>n2"], "between the levels nothing changes"
    use(cluster, 0.4)
    assert at(80) == []
    alert = Alert.objects.get()
    assert (alert.state, alert.since, alert.ended_at is None) == ("ended", START, False)
    first, last = Notice.objects.filter(person=people["operator"]).order_by("pk")
    assert notice_messages.title(first) == "Alert busy"
    assert notice_messages.text(first) == "Use of the link n1>n2 is 90 %, above 80 % for 1 min."
    assert notice_messages.text(last) == "Use of the link n1>n2 is 40 % again."
    assert notice_messages.address(first) == alert.rule.get_absolute_url()
    assert not Notice.objects.filter(person__in=[people["user"], people["manager"]]).exists()


def test_a_muted_rule_records_and_tells_when_the_time_is_over(people: Any, cluster: Any, at: Any) -> None:
    make_rule(cluster, hold=0, muted_until=START + timedelta(seconds=100))
    assert at(10) == ["n1>n2"]
    assert not Notice.objects.exists()
    at(100)
    assert Notice.objects.filter(person=people["operator"], kind="alert").count() == 1
    at(110)
    assert Notice.objects.filter(person=people["operator"]).count() == 1, "once for each alert"


def test_an_agent_that_is_silent_fires(people: Any, cluster: Any, at: Any) -> None:
    make_rule(cluster, metric="silence", level=120, clear=60, hold=0)
    assert at(120) == []
    assert at(121) == ["n1"], "n2 never had an agent"
    record_readings("grid", "agent", [Sample("n1", "clock_offset", START.timestamp() + 130, 0.0)])
    assert at(131) == []


def test_the_longest_wait_of_a_job_fires(people: Any, cluster: Any, make_job: Any, at: Any) -> None:
    make_rule(cluster, metric="waiting", level=3600, clear=3600, hold=0)
    job = make_job(people["user"], "queued")
    Job.objects.filter(pk=job.pk).update(created_at=START)
    assert at(3600) == []
    assert at(3601) == ["a job"]
    Job.objects.filter(pk=job.pk).delete()
    assert at(3610) == []


def test_any_recorded_series_of_one_subject_is_watched(people: Any, cluster: Any, at: Any) -> None:
    record_readings("grid", "agent", [Sample(name, "cpu", START.timestamp(), 0.05) for name in ("n1", "n2")])
    make_rule(cluster, metric="cpu", above=False, level=0.1, clear=0.2, hold=0, subject="n2")
    assert at(1) == ["n2"]


def test_a_rule_on_nodes_is_silent_about_the_parts_that_jobs_take(people: Any, cluster: Any, at: Any) -> None:
    subjects = ("n1", "n2@job-7-run-1-0badcafe")
    record_readings("grid", "agent", [Sample(name, "load", START.timestamp(), 4.0) for name in subjects])
    rule = make_rule(cluster, metric="load", level=1, clear=1, hold=0)
    Alert.objects.create(rule=rule, subject=subjects[1], since=START, fired_at=START, value=4.0)
    assert at(1) == ["n1"]


def test_a_figure_that_is_old_fires_nothing(people: Any, cluster: Any, at: Any) -> None:
    use(cluster, 0.9, START - timedelta(days=1))
    make_rule(cluster, hold=0)
    assert at(0) == []


def test_one_notice_tells_of_many(people: Any, cluster: Any, at: Any) -> None:
    make_rule(cluster, level=0.05, clear=0.01, hold=0)
    assert at(0) == ["n1>n2", "n2>n1"]
    (notice,) = Notice.objects.filter(person=people["operator"])
    assert notice_messages.text(notice).endswith("The same holds for 1 more.")


def test_switching_a_rule_off_ends_what_it_found(people: Any, cluster: Any, at: Any) -> None:
    rule = make_rule(cluster, hold=0)
    at(0)
    changing_rules.change_rule(people["operator"], rule.pk, {"enabled": False})
    assert Alert.objects.get().state == "ended"
    assert at(10) == []


def test_all_rules_of_a_cluster_cost_the_same_readings(
    people: Any, cluster: Any, at: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(10):
        make_rule(cluster, name=f"rule {number}", level=0.95, clear=0.9)
    with django_assert_max_num_queries(10 * 8 + 10):
        at(0)
    assert not Alert.objects.exists()
