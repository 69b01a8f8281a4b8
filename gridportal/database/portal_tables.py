"""The tables of a portal: made at once in an empty database, brought up to date in any other."""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import Migration, RunPython
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

#: The migrations whose code leaves something in an empty database: the roles, and indexes that no model has.
_LEAVE_SOMETHING = (("accounts", "0002_roles"), ("accounts", "0003_trail"), ("scheduling", "0010_lists"))


def bring_up_to_date() -> None:
    """Make or change all tables so that they are those of this version; a second call changes nothing.

    To run all migrations takes ten seconds of a processor, most of them for models as they once were. So an empty
    database gets what they would leave, and counts as migrated. One that has tables is migrated from where it is.
    """
    if not connection.introspection.table_names():
        _make_all()
    call_command("migrate", verbosity=0, interactive=False)


def _make_all() -> None:
    """All of it or nothing: whoever is killed leaves the database empty."""
    with connection.schema_editor() as editor:
        editor.create_model(MigrationRecorder(connection).Migration)
        executor = MigrationExecutor(connection)
        apps = executor.loader.project_state().apps
        for model in apps.get_models():
            if model._meta.can_migrate(connection):
                editor.create_model(model)
        executor.migrate(executor.loader.graph.leaf_nodes(), fake=True)
        for app, name in _LEAVE_SOMETHING:
            _run_code(executor.loader.get_migration(app, name), apps, editor)


def _run_code(migration: Migration, apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    for operation in migration.operations:
        if isinstance(operation, RunPython):
            operation.code(apps, editor)
