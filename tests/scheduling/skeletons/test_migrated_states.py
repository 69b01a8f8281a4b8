"""A run of a skeleton that no backend is known to have was `running`; it is `prepared`, and goes back."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from scheduling.placing.models import Placement
from scheduling.skeletons.models import SkeletonRun
from tests.scheduling.placing.trial_grid import keep_skeleton

MIGRATION: Any = importlib.import_module("scheduling.migrations.0029_skeletons_are_prepared")
#: What a run was, by its state and the backend's name for it, and what it is.
STATES = {
    ("planned", ""): "planned",
    ("running", ""): "prepared",
    ("running", "77"): "running",
    ("stopping", ""): "stopping",
    ("done", "78"): "done",
}


def states() -> list[str]:
    return list(SkeletonRun.objects.order_by("pk").values_list("state", flat=True))


@pytest.mark.django_db(transaction=True)
def test_what_no_backend_has_is_prepared_and_goes_back(people: Any, make_job: Any, application: Any) -> None:
    job, skeleton = make_job(people["user"], "trial"), keep_skeleton(application)
    placement = Placement.objects.create(
        job=job, method="pattern", nodes=["n1"], objective={}, candidates=[], seconds=0
    )
    for place, (state, name) in enumerate(STATES):
        SkeletonRun.objects.create(
            job=job,
            placement=placement,
            skeleton=skeleton,
            candidate=place,
            nodes=["n1"],
            key=f"try-{place}",
            state=state,
            backend_id=name,
        )
    apps = MigrationExecutor(connection).loader.project_state(MIGRATION.Migration.dependencies).apps
    with connection.schema_editor() as editor:
        MIGRATION.to_prepared(apps, editor)
    assert states() == list(STATES.values())
    with connection.schema_editor() as editor:
        MIGRATION.to_running(apps, editor)
    assert states() == [state for state, _ in STATES]
