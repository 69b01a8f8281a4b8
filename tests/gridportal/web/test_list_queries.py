"""Lists of people, groups, projects, alerts, maintenance and audit: as many queries for many rows as for few."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from monitoring.clusters.models import Cluster
from scheduling.alerts.models import Alert, AlertRule
from scheduling.jobs.project_models import Project
from scheduling.maintenance.models import MaintenanceWindow, PageAnnouncement

ADDRESSES = (
    *("/people/", "/groups/", "/groups/{group}/", "/projects/", "/projects/all/", "/alerts/?show=all", "/audit/"),
    *("/maintenance/", "/api/people", "/api/groups", "/api/projects", "/api/alerts", "/api/alert-rules"),
    *("/api/maintenance-windows", "/api/announcements"),
)


@pytest.fixture
def everybody(db: None) -> Group:
    """A group and a project that all are in, and a cluster."""
    Cluster.objects.create(name="grid", topology="two")
    Project.objects.create(name="all")
    return Group.objects.create(name="all")


def add(everybody: Group, numbers: range) -> None:
    """One row of each kind for each number."""
    cluster, now = Cluster.objects.get(), timezone.now()
    for number in numbers:
        person = User.objects.create_user(f"person{number}")
        person.groups.add(everybody, Group.objects.create(name=f"group{number}"))
        for project in (Project.objects.get(name="all"), Project.objects.create(name=f"project{number}")):
            project.members.add(person)
        rule = AlertRule.objects.create(
            name=f"rule {number}", cluster=cluster, metric="link_use", subject="n1>n2", level=0.5, clear=0.5
        )
        Alert.objects.create(
            rule=rule, subject="n1>n2", state="ended", since=now, fired_at=now, ended_at=now, value=0.9
        )
        MaintenanceWindow.objects.create(
            cluster=cluster, nodes=["n1"], start=now, end=now + timedelta(hours=number + 1), created_by="operator"
        )
        PageAnnouncement.objects.create(text=f"Announcement {number}")
        audit(person, "alert_rule.make", rule, name=rule.name)


def queries(client: Any, address: str) -> int:
    """How many one look takes, after one that fills what is kept between requests."""
    assert client.get(address).status_code == 200
    with CaptureQueriesContext(connection) as seen:
        client.get(address)
    return len(seen)


@pytest.mark.parametrize("address", ADDRESSES)
def test_more_rows_take_no_more_queries(client_as: Any, everybody: Group, address: str) -> None:
    client, there = client_as("administrator"), address.format(group=everybody.pk)
    add(everybody, range(2))
    few = queries(client, there)
    add(everybody, range(2, 12))
    assert queries(client, there) <= few
