"""Why a skeleton could not be built was a sentence: it is a value now, and is told in the very same words."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.models import Application
from scheduling.messages import message
from scheduling.skeletons.models import Skeleton
from tests.scheduling.placing.trial_grid import keep_skeleton

MIGRATION: Any = importlib.import_module("scheduling.migrations.0024_problems_as_values")
OLD = {
    "Building it failed with KeyError; the portal's log says more.": Code.SKELETON_BUILD_FAILED,
    'EP sends no messages, so it has no "communication skeleton".': Code.PLAIN_TEXT,
    "": Code.NONE,
}


def kept() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT problem FROM scheduling_skeleton ORDER BY id")
        return [row[0] for row in cursor.fetchall()]


@pytest.mark.django_db(transaction=True)
def test_old_problems_become_values_and_go_back(application: Application) -> None:
    for sentence in OLD:
        row = keep_skeleton(application)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE scheduling_skeleton SET problem = %s WHERE id = %s", [sentence, row.pk])
    apps = MigrationExecutor(connection).loader.project_state(MIGRATION.Migration.dependencies).apps
    with connection.schema_editor() as editor:
        MIGRATION.to_values(apps, editor)
    found = [row.problem for row in Skeleton.objects.order_by("pk")]
    assert [reason.code for reason in found] == list(OLD.values())
    assert [message(reason) for reason in found] == list(OLD)
    assert kept() == [reason.dump() for reason in found]
    with connection.schema_editor() as editor:
        MIGRATION.to_sentences(apps, editor)
    assert kept() == list(OLD)


def test_a_code_of_the_migration_has_the_facts_that_it_has_now() -> None:
    for sentence, code in OLD.items():
        if sentence:
            assert Reason.read(MIGRATION.reason(sentence)).code is code
