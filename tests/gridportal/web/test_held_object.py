"""Two people change different fields of one row over REST at once: both changes stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gridportal.accounts import saved_views
from gridportal.base.held_row import hold
from scheduling.jobs.models import Application
from scheduling.jobs.project_models import Project
from scheduling.jobs.services.own_programs import ProgramRequest, save_program
from scheduling.reports.schedule_services import save_schedule

pytestmark = pytest.mark.django_db
Made = tuple[str, Any]


def project(people: Any) -> Made:
    return "/api/projects/ocean", Project.objects.create(name="ocean", description="Waves.")


def application(people: Any) -> Made:
    made = Application.objects.create(slug="swim", name="Swim", command=["true"])
    return "/api/applications/swim", made


def report(people: Any) -> Made:
    made = save_schedule(people["manager"], None, name="weekly", every="week", tabs=["people"], people=["user"])
    return f"/api/report-schedules/{made.pk}", made


def own_program(people: Any) -> Made:
    made = save_program(people["user"], ProgramRequest("Swim", path="/opt/swim"))
    return f"/api/own-programs/{made.slug}", made


def view(people: Any) -> Made:
    made = saved_views.save_view(people["user"], "jobs", "mine", "state=failed")
    return f"/api/saved-views/{made.pk}", made


@pytest.mark.parametrize(
    ("make", "person", "sent", "theirs"),
    [
        (project, "administrator", {"members": ["user"]}, {"description": "Tides."}),
        (application, "administrator", {"name": "Float"}, {"description": "Tides."}),
        (report, "manager", {"people": ["manager"]}, {"name": "monthly"}),
        (own_program, "user", {"name": "Float"}, {"description": "Tides."}),
        (view, "user", {"name": "ours"}, {"query": "state=running"}),
    ],
)
def test_what_the_other_one_saved_stays(
    make: Callable[[Any], Made],
    person: str,
    sent: dict[str, Any],
    theirs: dict[str, Any],
    people: Any,
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who waits for the row gets it as soon as the other one has saved."""
    address, row = make(people)
    waited: list[Any] = []

    def wait(held: Any, *given: Any, **more: Any) -> None:
        hold(held, *given, **more)
        if not waited:
            waited.append(held)
            type(row).objects.filter(pk=row.pk).update(**theirs)

    for place in ("gridportal.web.held_object", "gridportal.accounts.saved_views"):
        monkeypatch.setattr(f"{place}.hold", wait)
    client.force_login(people[person])
    answer = client.patch(address, sent, content_type="application/json")
    assert answer.status_code == 200, answer.content
    assert waited, "the row is held"
    shown = client.get(address).json()
    assert {name: shown[name] for name in sent | theirs} == sent | theirs


def test_a_row_that_is_gone_is_told(people: Any, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    address, row = project(people)

    def removed(held: Any, *given: Any, **more: Any) -> None:
        Project.objects.filter(pk=row.pk).delete()
        hold(held, *given, **more)

    monkeypatch.setattr("gridportal.web.held_object.hold", removed)
    client.force_login(people["administrator"])
    answer = client.patch(address, {"description": "Tides."}, content_type="application/json")
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "The project was removed a moment ago. Nothing was changed.",
    )
