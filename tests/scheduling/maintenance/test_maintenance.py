"""Placements respect what is planned; pages and REST of maintenance and announcements."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from gridportal.base.moment_text import moment_text
from monitoring.clusters.models import Cluster, Node
from scheduling.maintenance.models import MaintenanceWindow, PageAnnouncement
from scheduling.messages import message
from scheduling.placing.selectors.occupancy import occupancy
from scheduling.placing.services.choosing import _closed


@pytest.fixture
def cluster(db: None) -> Cluster:
    made = Cluster.objects.create(name="grid", topology="three", measured_at=timezone.now())
    for place in (1, 2, 3):
        Node.objects.create(cluster=made, name=f"n{place}", position=place)
    return made


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def later(hours: float) -> datetime:
    return timezone.now() + timedelta(hours=hours)


def field(hours: float) -> str:
    return f"{later(hours):%Y-%m-%dT%H:%M}"


def window(cluster: Cluster, begin: float, end: float, *nodes: str, why: str = "new disks") -> MaintenanceWindow:
    return MaintenanceWindow.objects.create(
        cluster=cluster, start=later(begin), end=later(end), nodes=list(nodes), why=why
    )


@pytest.mark.parametrize(("limit", "kept"), [(1800, []), (7200, ["n1", "n2"]), (None, ["n1", "n2"])])
def test_no_job_is_placed_where_its_limit_reaches_into_maintenance(
    cluster: Cluster, limit: int | None, kept: list[str]
) -> None:
    window(cluster, 1, 3, "n1", "n2")
    seen = occupancy("grid", time_limit=limit)
    assert sorted(seen.unfit) == kept
    said = message(_closed(seen)) if kept else ""
    assert not kept or "only a job that ends before can start" in said
    assert ("this one has no time limit: give it one" in said) is (limit is None)


def test_what_is_over_or_of_another_cluster_keeps_nothing(cluster: Cluster) -> None:
    window(cluster, -3, -1)
    window(Cluster.objects.create(name="other", topology="none"), -1, 1)
    assert occupancy("grid").unfit == {}
    window(cluster, -1, 1)
    assert sorted(occupancy("grid").unfit) == ["n1", "n2", "n3"]


def test_maintenance_is_planned_on_the_page_and_every_page_tells_of_it(client_as: Any, cluster: Cluster) -> None:
    client = client_as("operator")
    form = {"cluster": cluster.pk, "nodes": "n1, n3", "start": field(1), "end": field(3), "why": "new disks"}
    assert "is planned" in words(client.post("/maintenance/windows", form, follow=True))
    row = MaintenanceWindow.objects.get()
    assert (row.nodes, row.created_by, row.phase) == (["n1", "n3"], "operator", "planned")
    page = words(client_as("user").get("/jobs/"))
    assert "of n1 and n3 of grid from" in page
    assert "Plan it" not in words(client_as("user").get("/maintenance/"))
    client.post(f"/maintenance/windows/{row.pk}/end")
    assert not MaintenanceWindow.objects.exists()
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"maintenance.plan", "maintenance.end"} <= actions


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("nodes", "n9", "Enter names of compute nodes of grid"),
        ("start", "", "required"),
        ("start", "2199-01-01T00:00", "Enter a time from"),
        ("start", "1971-01-01T00:00", "Enter a time from"),
        ("start", "9999-01-01T00:00", "Enter a date and time from 1970 to 2199"),
    ],
)
def test_a_wrong_value_is_told_beside_its_field(
    client_as: Any, cluster: Cluster, name: str, value: str, sentence: str
) -> None:
    form = {"cluster": cluster.pk, "nodes": "n1", "start": field(1), "end": field(3), "why": ""}
    answer = client_as("operator").post("/maintenance/windows", form | {name: value})
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert not MaintenanceWindow.objects.exists()


def test_an_end_before_the_start_is_told_with_the_start(client_as: Any, cluster: Cluster) -> None:
    form = {"cluster": cluster.pk, "nodes": "n1", "start": field(2), "end": field(1), "why": ""}
    start = datetime.fromisoformat(form["start"]).replace(tzinfo=UTC)
    answer = client_as("operator").post("/maintenance/windows", form)
    assert (answer.status_code, MaintenanceWindow.objects.exists()) == (422, False)
    assert f"Enter a time after {moment_text(start, timezone.now())}." in words(answer)


def test_all_that_is_wrong_is_told_at_once_with_the_nodes_of_the_cluster(client_as: Any, cluster: Cluster) -> None:
    form = {"cluster": cluster.pk, "nodes": "n9 n1 n8", "start": field(3), "end": field(1), "why": ""}
    said = words(client_as("operator").post("/maintenance/windows", form))
    assert "Enter names of compute nodes of grid (n1, n2, n3), or nothing for all of them; grid has no n9, n8." in said
    assert "Enter a time after" in said
    assert "Names, such as n1 n2 of grid. Empty: all nodes." in said


def test_nodes_of_a_cluster_that_has_not_answered_are_not_taken(client_as: Any, cluster: Cluster) -> None:
    cluster.nodes.all().delete()
    form = {"cluster": cluster.pk, "nodes": "n9", "start": field(1), "end": field(3), "why": ""}
    said = words(client_as("operator").post("/maintenance/windows", form))
    assert "Enter nothing, which means all nodes, until the nodes of grid are known; grid has no n9." in said


def test_what_never_began_is_taken_back(client_as: Any, cluster: Cluster) -> None:
    row = window(cluster, 1, 2)
    said = words(client_as("operator").post(f"/maintenance/windows/{row.pk}/end", follow=True))
    assert "is taken back." in said
    assert "has ended." not in said


def test_the_same_twice_is_refused_and_an_overlap_on_the_same_nodes_is_told(client_as: Any, cluster: Cluster) -> None:
    client = client_as("operator")
    form = {"cluster": cluster.pk, "nodes": "n1 n3", "start": field(1), "end": field(3), "why": ""}
    client.post("/maintenance/windows", form)
    again = client.post("/maintenance/windows", form | {"nodes": "n3 n1"})
    assert "Enter another time or other nodes: this is planned already by operator." in words(again)
    apart = words(client.post("/maintenance/windows", form | {"nodes": "n2"}, follow=True))
    later_on = words(client.post("/maintenance/windows", form | {"start": field(3), "end": field(4)}, follow=True))
    assert "It overlaps" not in apart + later_on
    page = words(client.post("/maintenance/windows", form | {"nodes": "n3", "end": field(4)}, follow=True))
    assert "It overlaps the maintenance of n1, n3 from" in page
    assert "planned by operator." in page
    sent = {"cluster": "grid", "start": later(1).isoformat(), "end": later(2).isoformat()}
    made = client.post("/api/maintenance-windows", sent, content_type="application/json").json()
    assert len(made["overlaps"]) == 3


def test_what_is_under_way_ends_now_and_stays_in_the_list(client_as: Any, cluster: Cluster) -> None:
    row = window(cluster, -1, 1)
    client_as("operator").post(f"/maintenance/windows/{row.pk}/end")
    row.refresh_from_db()
    assert row.phase == "over"
    assert occupancy("grid").unfit == {}


def test_an_announcement_is_on_every_page_from_and_to(client_as: Any, cluster: Cluster) -> None:
    client = client_as("administrator")
    text = "The library <b> closes."
    client.post(
        "/maintenance/announcements", {"say-text": text, "say-level": "warning", "say-start": "", "say-end": ""}
    )
    row = PageAnnouncement.objects.get()
    shown = "The library &lt;b&gt; closes."
    assert shown in words(client_as("user").get("/applications/"))
    assert shown not in words(client_as("anonymous").get("/sign-in/"))
    PageAnnouncement.objects.update(start=later(1))
    assert shown not in words(client_as("user").get("/applications/"))
    PageAnnouncement.objects.update(start=later(-1))
    client.post(f"/maintenance/announcements/{row.pk}/end")
    assert shown not in words(client_as("user").get("/applications/"))


@pytest.mark.parametrize("year", [1971, 2190, 9999])
@pytest.mark.parametrize("name", ["start", "end"])
def test_an_announcement_has_no_time_that_nobody_lives_in(
    client_as: Any, cluster: Cluster, name: str, year: int
) -> None:
    client, at = client_as("administrator"), f"{year}-01-01T00:00"
    form = {"say-text": "Hello.", "say-level": "note", "say-start": "", "say-end": "", f"say-{name}": at}
    answer = client.post("/maintenance/announcements", form)
    assert (answer.status_code, [*answer.context["announcement_form"].errors]) == (422, [name])
    sent = {"text": "Hello.", name: f"{at}Z"}
    refused = client.post("/api/announcements", sent, content_type="application/json")
    assert (refused.status_code, [*refused.json()]) == (400, [name])
    assert f"{year}-01-01" in refused.json()[name][0]
    assert not PageAnnouncement.objects.exists()


def test_a_person_puts_an_announcement_away_until_it_changes(client_as: Any, cluster: Cluster) -> None:
    row = PageAnnouncement.objects.create(text="The library closes.", level="note")
    another = PageAnnouncement.objects.create(text="The cafe opens.", level="note")
    client, others = client_as("user"), client_as("other")
    assert client.post(f"/maintenance/announcements/{row.pk}/put-away").status_code == 302
    page = words(client.get("/applications/"))
    assert (row.text in page, another.text in page) == (False, True)
    assert row.text in words(others.get("/applications/"))
    client.post(f"/maintenance/announcements/{another.pk}/put-away", headers={"HX-Request": "true"})
    assert another.text not in words(client.get("/applications/"))
    assert row.text not in words(client.get("/applications/")), "the first one is still put away"
    PageAnnouncement.objects.filter(pk=row.pk).update(text="The library closes at noon.")
    assert "closes at noon" in words(client.get("/applications/"))


def test_the_banner_names_the_nodes(client_as: Any, cluster: Cluster) -> None:
    window(cluster, 1, 2)
    MaintenanceWindow.objects.update(nodes=["n1", "n2"])
    assert "of n1 and n2 of grid" in words(client_as("user").get("/applications/"))
    MaintenanceWindow.objects.update(nodes=[])
    assert "of all nodes of grid" in words(client_as("user").get("/applications/"))


def test_maintenance_and_announcements_over_rest(client_as: Any, cluster: Cluster) -> None:
    client = client_as("administrator")
    sent = {"cluster": "grid", "nodes": ["n2"], "start": later(1).isoformat(), "end": later(2).isoformat()}
    made = client.post("/api/maintenance-windows", sent, content_type="application/json")
    assert (made.status_code, made.json()["phase"], made.json()["nodes"]) == (201, "planned", ["n2"])
    refused = client.post("/api/maintenance-windows", sent | {"end": sent["start"]}, content_type="application/json")
    assert (refused.status_code, list(refused.json())) == (400, ["end"])
    assert client.get("/api/maintenance-windows").json()["count"] == 1
    assert client.delete(f"/api/maintenance-windows/{made.json()['id']}").status_code == 204
    said = client.post("/api/announcements", {"text": "Hello."}, content_type="application/json").json()
    assert (said["level"], said["end"]) == ("note", None)
    assert client.delete(f"/api/announcements/{said['id']}").status_code == 204
    assert client.get("/api/announcements").json()["count"] == 0
