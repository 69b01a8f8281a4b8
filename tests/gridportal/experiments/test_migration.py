"""Experiments became an app of their own: the rows that are there stay, and so do permissions that somebody has."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

BEFORE = [("scheduling", "0018_reasons_as_values"), ("experiments", None)]
AFTER = [("scheduling", "0019_experiments_leave"), ("experiments", "0001_initial")]
pytestmark = pytest.mark.django_db(transaction=True)


def migrated(targets):
    """The models of that state, with the database brought there."""
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    nodes = [target for target in targets if target[1]]
    return MigrationExecutor(connection).loader.project_state(nodes).apps


@pytest.fixture
def before(earlier):
    """The tables as they were before experiments were an app."""
    earlier(*BEFORE[0])
    return migrated(BEFORE)


def test_rows_of_before_are_there_with_all_they_hold_and_new_ones_follow(before):
    person = before.get_model("accounts", "User").objects.create(username="ada")
    made = before.get_model("scheduling", "Experiment").objects.create(
        name="slowdown", seed=7, folder="/kept", state="done", result={"runs": 3}, done=3, of=3, started_by=person
    )

    Experiment = migrated(AFTER).get_model("experiments", "Experiment")  # noqa: N806
    row = Experiment.objects.get()
    after = Experiment.objects.create(name="slowdown", seed=8, folder="/new")

    assert (row.pk, row.name, row.seed, row.folder, row.state) == (made.pk, "slowdown", 7, "/kept", "done")
    assert (row.result, row.started_by_id, row.created_at) == ({"runs": 3}, person.pk, made.created_at)
    assert after.pk > row.pk
    assert "scheduling_experiment" in connection.introspection.table_names()
    assert "experiments_experiment" not in connection.introspection.table_names()

    back = migrated(BEFORE).get_model("scheduling", "Experiment")
    assert set(back.objects.values_list("seed", flat=True)) == {7, 8}


def test_a_permission_that_a_group_has_stays_the_same_one(before):
    before.get_model("contenttypes", "ContentType").objects.filter(model="experiment").delete()
    kind = before.get_model("contenttypes", "ContentType").objects.create(app_label="scheduling", model="experiment")
    permission = before.get_model("auth", "Permission").objects.create(
        codename="change_experiment", name="Can change experiment", content_type=kind
    )
    before.get_model("auth", "Group").objects.create(name="curators").permissions.add(permission)

    after = migrated(AFTER)
    (kept,) = after.get_model("auth", "Group").objects.get(name="curators").permissions.all()

    assert (kept.pk, kept.content_type_id, kept.content_type.app_label) == (permission.pk, kind.pk, "experiments")
    assert (
        not after.get_model("contenttypes", "ContentType")
        .objects.filter(app_label="scheduling", model="experiment")
        .exists()
    )
