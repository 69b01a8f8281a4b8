"""Two people have the same form open: whoever saves second is told what the first one changed, and decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group
from django.utils import timezone

from gridportal.accounts.models import User
from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services.readings import record_readings
from scheduling.alerts.models import AlertRule
from scheduling.alerts.services import changing_rules
from scheduling.jobs.models import Application
from scheduling.jobs.project_models import Project
from scheduling.jobs.services.own_programs import ProgramRequest, save_program
from scheduling.jobs.services.registering import register_application
from scheduling.matching.models import ResourceAd, SavedRequest
from scheduling.notices.models import NoticeSettings
from scheduling.projects import budget_services
from scheduling.projects.models import Budget
from scheduling.reports.models import ReportSchedule
from scheduling.reports.schedule_services import save_schedule
from scheduling.rescheduling.models import ReschedulingPolicy
from tests.scheduling.resource_requests.pool_rows import THREE, TWO
from tests.sent_forms import filled_form

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Form:
    """A form: where it is shown and sent, its field that two people change, and how its value is read."""

    page: str
    action: str
    field: str
    first: Any
    second: Any
    kept: Callable[[], Any]
    label: str
    more: Any = None
    person: str = "administrator"

    def filled(self, page: Any) -> dict[str, list[str]]:
        """What a browser would send of it."""
        own_address = self.action == self.page.partition("?")[0]
        return filled_form(page, "shown_version", "" if own_address else self.action) | (self.more or {})


def project(people: Any) -> Form:
    Project.objects.create(name="ocean", description="Waves.")
    page = "/projects/ocean/edit"
    return Form(page, page, "description", "Tides.", "Wind.", lambda: Project.objects.get().description, "What it is")


def budget(people: Any) -> Form:
    made = Project.objects.create(name="ocean")
    values = {"node_hours": 5.0, "begins": date(2026, 1, 1), "ends": date(2026, 2, 1), "warn_at": 80}
    row = budget_services.make_budget(people["manager"], made, values | {"when_used": "warn"}, "a grant")
    page = f"/projects/ocean/budgets/{row.pk}/edit"
    more = {"reason": "another grant"}
    return Form(page, page, "warn_at", "70", "60", lambda: str(Budget.objects.get().warn_at), "Warn at, %", more)


def application(people: Any) -> Form:
    Application.objects.create(slug="ep", name="EP", command=["true"])
    page = "/applications/ep/edit"
    return Form(page, page, "description", "A", "B", lambda: Application.objects.get().description, "Description")


def own_program(people: Any) -> Form:
    made = save_program(people["user"], ProgramRequest("Heat", kind="batch", content=b"#!/bin/sh\ntrue\n"))
    page = f"/applications/{made.slug}/own"

    def read() -> Any:
        return Application.objects.get().description

    return Form(page, page, "description", "A", "B", read, "Description", person="user")


def own_program_as_json(people: Any) -> Form:
    form = own_program(people)

    def kept() -> str:
        return document(form.kept())

    page = f"{form.page}?as=json"
    return Form(page, form.page, "document", document("A"), document("B"), kept, "Description", person="user")


def document(description: str) -> str:
    return json.dumps({"description": description})


def alert_rule(people: Any) -> Form:
    cluster = Cluster.objects.create(name="grid", topology="two", directed=True, measured_at=timezone.now())
    one, two = (Node.objects.create(cluster=cluster, name=f"n{at}", position=at) for at in (1, 2))
    Link.objects.create(cluster=cluster, source=one, target=two, capacity=1e8, bandwidth=1e7)
    record_readings("grid", "probes", [Sample("n1>n2", "bandwidth", timezone.now().timestamp(), 1e7)])
    values = {"name": "busy", "cluster": cluster, "metric": "link_use", "level": 0.8, "clear": 0.7, "above": True}
    rule = changing_rules.make_rule(people["operator"], values)
    page = rule.get_absolute_url()
    return Form(page, page, "name", "first", "second", lambda: AlertRule.objects.get().name, "Name")


def schedule(people: Any) -> Form:
    row = save_schedule(people["manager"], None, name="weekly", every="week", tabs=["people"], people=["user"])
    page = f"/reports/by-mail/{row.pk}/edit"
    return Form(page, page, "name", "first", "second", lambda: ReportSchedule.objects.get().name, "Name")


def notices(people: Any) -> Form:
    page = "/notices/settings"

    def kept() -> Any:
        return NoticeSettings.objects.get().email_address

    return Form(page, page, "email_address", "a@example.org", "b@example.org", kept, "E-mail address")


def policy(people: Any) -> Form:
    cluster = next(iter(settings.CLUSTERS))

    def kept() -> Any:
        return str(ReschedulingPolicy.objects.get().most_per_hour)

    address = f"/migrations/rules/{cluster}"
    return Form("/migrations/?show=rules", address, "most_per_hour", "7", "8", kept, "Moves in an hour, at most")


def group_name(people: Any) -> Form:
    row = Group.objects.create(name="lab")

    def kept() -> Any:
        return Group.objects.get(pk=row.pk).name

    return Form(f"/groups/{row.pk}/", f"/groups/{row.pk}/name", "name", "first", "second", kept, "Name")


def group_role(people: Any) -> Form:
    row = Group.objects.create(name="lab")

    def kept() -> Any:
        return Group.objects.get(pk=row.pk).given.role

    return Form(f"/groups/{row.pk}/", f"/groups/{row.pk}/role", "role", "operator", "manager", kept, "Role")


def group_permissions(people: Any) -> Form:
    row = Group.objects.create(name="lab")

    def kept() -> Any:
        return list(row.permissions.values_list("codename", flat=True))

    address = f"/groups/{row.pk}/permissions"
    first, second = ["view_moves"], ["change_move_policy"]
    return Form(f"/groups/{row.pk}/", address, "permission", first, second, kept, "Permissions")


def role(people: Any) -> Form:
    pk = people["other"].pk

    def kept() -> Any:
        return User.objects.get(pk=pk).role

    return Form("/people/", f"/people/{pk}/role", "role", "operator", "manager", kept, "Role")


def resource_ad(people: Any) -> Form:
    cluster, texts = next(iter(settings.CLUSTERS)), ("[ speed = 1 ]", "[ speed = 2 ]")

    def kept() -> Any:
        return ResourceAd.objects.get().text

    return Form("/requests/?show=ads", f"/requests/ads/{cluster}", "text", *texts, kept, "Ad")


def saved_request(people: Any) -> Form:
    texts, more = (TWO, THREE), {"keep": "1", "name": "pair"}

    def kept() -> Any:
        return SavedRequest.objects.get().text

    return Form("/requests/new", "/requests/new", "text", *texts, kept, "Request", more)


def person_in_the_administration(people: Any) -> Form:
    pk = people["other"].pk
    page, more = f"/admin/accounts/user/{pk}/change/", {"_continue": "1"}

    def kept() -> Any:
        return User.objects.get(pk=pk).first_name

    return Form(page, page, "first_name", "Ann", "Bob", kept, "First name", more)


FORMS = [project, budget, application, own_program, own_program_as_json, alert_rule, schedule, notices, policy]
FORMS += [group_name, group_role, group_permissions, role, resource_ad, saved_request]
FORMS += [person_in_the_administration]


@pytest.mark.parametrize("make", FORMS, ids=lambda each: each.__name__)
def test_the_second_save_of_two_is_asked_about_with_its_input_kept(make: Any, client_as: Any, people: Any) -> None:
    form: Form = make(people)
    client = client_as(form.person)
    sent = form.filled(client.get(form.page))
    first = client.post(form.action, sent | {form.field: form.first})
    assert first.status_code == 302, first.content.decode()
    second = client.post(form.action, sent | {form.field: form.second})
    page = " ".join(second.content.decode().split())
    assert second.status_code == 409, page
    assert f"You changed “{form.label}" in page
    assert "Nothing of yours is saved yet." in page
    assert form.kept() == form.first
    again = form.filled(second)
    assert again[form.field] == (form.second if isinstance(form.second, list) else [form.second])
    assert client.post(form.action, again).status_code == 302
    assert form.kept() == form.second


@pytest.mark.parametrize("make", FORMS, ids=lambda each: each.__name__)
def test_a_form_that_does_not_say_what_it_showed_is_saved(make: Any, client_as: Any, people: Any) -> None:
    form: Form = make(people)
    client = client_as(form.person)
    sent = form.filled(client.get(form.page))
    del sent["shown_version"]
    client.post(form.action, sent | {form.field: form.first})
    sent["version"] = ["2"]  # of budgets, which had one before
    assert client.post(form.action, sent | {form.field: form.second}).status_code == 302
    assert form.kept() == form.second


def test_it_names_who_changed_what_and_shows_the_new_value(client_as: Any, people: Any) -> None:
    form = project(people)
    people["administrator"].__class__.objects.filter(pk=people["other"].pk).update(is_superuser=True)
    mine, theirs = client_as("administrator"), client_as("other")
    sent = filled_form(mine.get(form.page), "shown_version")
    theirs.post(form.page, {"name": "ocean", "description": "Waves & wind.", "members": "user"})
    page = " ".join(mine.post(form.page, sent | {"description": "Mine."}).content.decode().split())
    assert "other changed “What it is for” and “Members” at " in page
    assert "What it is for is now: Waves &amp; wind." in page
    assert "Members is now: user" in page


def test_a_form_with_an_error_still_knows_what_it_showed(client_as: Any, people: Any) -> None:
    form, client = project(people), client_as("administrator")
    sent = form.filled(client.get(form.page)) | {"name": "two words", "description": "Second."}
    wrong = client.post(form.page, sent)
    assert wrong.status_code == 422
    client.post(form.page, {"name": "ocean", "description": "First."})
    again = form.filled(wrong) | {"name": ["ocean"]}
    assert client.post(form.page, again).status_code == 409
    assert Project.objects.get().description == "First."


def test_the_ad_of_another_node_is_no_conflict(client_as: Any, people: Any) -> None:
    form, client = resource_ad(people), client_as("administrator")
    sent = form.filled(client.get(form.page))
    values = {"cluster": form.action.rpartition("/")[2], "node": "n1", "text": "[ speed = 9 ]"}
    ResourceAd.objects.create(**values, changed_by="other", changed_at=timezone.now())
    assert client.post(form.action, sent | {"text": form.first}).status_code == 302
    answer = client.post(form.action, sent | {"text": form.second, "node": "n1"})
    assert "other changed “Ad” at " in " ".join(answer.content.decode().split())
    assert answer.status_code == 409
    assert ResourceAd.objects.get(node="n1").text == "[ speed = 9 ]"


def test_a_saved_application_keeps_what_others_changed_besides() -> None:
    read_before = Application.objects.create(slug="ep", name="EP", command=["true"], description="A")
    register_application("ann", {"name": "EP 2"}, Application.objects.get())
    register_application("bob", {"description": "B"}, read_before)
    kept = Application.objects.get()
    assert (kept.name, kept.description) == ("EP 2", "B")
    assert kept.updated_at > kept.created_at
