"""The tables of a portal: made at once in an empty database, brought up to date in any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.contrib.auth import get_permission_codename
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import Migration, RunPython
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

#: The migrations whose code leaves something in an empty database: the roles, and indexes that no model has.
_LEAVE_SOMETHING = (("accounts", "0002_roles"), ("accounts", "0003_trail"), ("scheduling", "0010_lists"))
#: Without which nobody can tell whether anything is left to be done.
_TABLES_OF_ALL = frozenset({"django_migrations", "django_content_type", "auth_permission"})


def bring_up_to_date() -> None:
    """Make or change all tables so that they are those of this version; a second call changes nothing.

    To run all migrations takes ten seconds of a processor, most of them for models as they once were. So an empty
    database gets what they would leave, and counts as migrated. One that has tables is migrated from where it is; to
    find out that nothing is left to be done, no migration is read.
    """
    tables = connection.introspection.table_names()
    if not tables:
        _make_all()
        emit_post_migrate_signal(verbosity=0, interactive=False, db=connection.alias)  # who hears it adds permissions
    elif not (set(tables) >= _TABLES_OF_ALL and has_every_migration() and _has_every_permission()):
        call_command("migrate", verbosity=0, interactive=False)


def has_every_migration() -> bool:
    """Whether all of which there is a file were applied. No migration is read for that. Raises DatabaseError."""
    applied = MigrationRecorder(connection).applied_migrations()
    files = ((app.label, file) for app in apps.get_app_configs() for file in Path(app.path, "migrations").glob("*.py"))
    return all((label, file.stem) in applied for label, file in files if not file.stem.startswith("_"))


def _has_every_permission() -> bool:
    """They are made after the last migration, by whoever lives that long."""
    permission: Any = apps.get_model("auth", "Permission")
    names = permission.objects.values_list("content_type__app_label", "content_type__model", "codename")
    return set(_permissions()) <= set(names)


def _permissions() -> Iterator[tuple[str, str, str]]:
    for model in apps.get_models():
        options = model._meta
        usual = (get_permission_codename(action, options) for action in options.default_permissions)
        for name in (*usual, *(name for name, _ in options.permissions)):
            yield options.app_label, str(options.model_name), name


def _make_all() -> None:
    """All of it or nothing: whoever is killed leaves the database empty."""
    with connection.schema_editor() as editor:
        editor.create_model(MigrationRecorder(connection).Migration)
        executor = MigrationExecutor(connection)
        left = executor.loader.project_state().apps
        for model in left.get_models():
            if model._meta.can_migrate(connection):
                editor.create_model(model)
        executor.migrate(executor.loader.graph.leaf_nodes(), fake=True)
        for app, name in _LEAVE_SOMETHING:
            _run_code(executor.loader.get_migration(app, name), left, editor)


def _run_code(migration: Migration, models: Any, editor: BaseDatabaseSchemaEditor) -> None:
    for operation in migration.operations:
        if isinstance(operation, RunPython):
            operation.code(models, editor)
