"""What somebody removes while another changes it stays removed, and the other is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group

from gridportal.accounts import people_groups, saved_views
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError
from scheduling.reports import schedule_services
from scheduling.reports.models import ReportSchedule

pytestmark = pytest.mark.django_db
GONE = "was removed a moment ago. Nothing was changed."


@pytest.fixture
def ann() -> User:
    return User.objects.create_user("ann")


@pytest.mark.parametrize(
    "change",
    [
        lambda ann, group: people_groups.rename_group(ann, group, "other"),
        lambda ann, group: people_groups.add_members(ann, group, ["ann"]),
        lambda ann, group: people_groups.give_group_role(ann, group, "operator"),
        lambda ann, group: people_groups.give_permissions(ann, group, []),
        lambda ann, group: people_groups.drop_member(ann, group, ann),
        people_groups.remove_group,
    ],
)
def test_a_group_that_was_removed_stays_so(ann: User, change: Callable[[User, Group], Any]) -> None:
    group = people_groups.make_group(ann, "ocean")
    Group.objects.get(pk=group.pk).delete()
    with pytest.raises(ConflictError, match=f"The group ocean {GONE}"):
        change(ann, group)
    assert not Group.objects.filter(name__in=["ocean", "other"]).exists()


def test_a_report_that_was_removed_stays_so(ann: User) -> None:
    asked: dict[str, Any] = {"name": "weekly", "every": "week", "tabs": ["people"], "people": ["ann"]}
    made = schedule_services.save_schedule(ann, None, **asked)
    ReportSchedule.objects.get(pk=made.pk).delete()
    with pytest.raises(ConflictError, match=f"This report {GONE}"):
        schedule_services.save_schedule(ann, made, **asked)
    assert not ReportSchedule.objects.exists()


def test_a_view_that_was_removed_stays_so(ann: User) -> None:
    view = saved_views.save_view(ann, "jobs", "mine", "state=failed")
    view.__class__.objects.get(pk=view.pk).delete()
    with pytest.raises(ConflictError, match=f"The view mine {GONE}"):
        saved_views.change_view(view, name="other")
    assert not view.__class__.objects.exists()
