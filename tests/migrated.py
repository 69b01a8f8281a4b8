"""What is made once for all processes of a run. First of all what a portal's home holds before its first start: a
database with every table and the catalogue, and the static files; and the empty database that tests begin with, also
for PostgreSQL, and as it was after some of the migrations. To run them all takes seconds of a processor, to copy what
they made takes none."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from gridportal.base import file_lock
from tests import kept_databases

_CHECKOUT = Path(__file__).parents[1]
_NAME = "gridportal.sqlite3"
_STATIC = "staticfiles"
_MAKE = "import django; django.setup(); from gridportal.database import portal_tables; portal_tables.bring_up_to_date()"
_MIGRATE = "from tests.migrated import migrate; migrate()"
#: The migrations whose databases are kept, for tests of those that follow.
KEPT = {
    ("experiments", "0001_initial"),
    ("monitoring", "0004_sources"),
    ("scheduling", "0018_reasons_as_values"),
    ("scheduling", "0020_decisions"),
    ("scheduling", "0023_use_by_state_and_method"),
    ("scheduling", "0024_problems_as_values"),
    ("scheduling", "0025_phase_totals"),
    ("scheduling", "0031_compared_trials"),
    ("scheduling", "0034_specifications"),
    ("scheduling", "0068_placements_tried"),
}
_PREPARE = "from gridportal.serve.prepare import prepare; prepare()"


def put_into(home: Path) -> None:
    """Give the portal at `home`, which has no database yet, this one (SQLite)."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copy2(_prepared() / _NAME, home / _NAME)


def put_static_files_into(home: Path) -> None:
    """Give the portal at `home` what it would gather and compress, for a browser."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copytree(_prepared() / _STATIC, home / _STATIC)


def put_into_memory(name: str) -> sqlite3.Connection:
    """Give the SQLite database of this name (a `file:` address) all tables, and no catalogue.

    One in memory lasts as long as the connection that is answered, or another, is open.
    """
    target = sqlite3.connect(name, uri=True, check_same_thread=False)
    put_now(target)
    return target


def put_now(target: sqlite3.Connection) -> None:
    """Give this open database all tables, empty, in place of what it has."""
    _copy(_empty() / _NAME, target)


def put_earlier(target: sqlite3.Connection, app: str, name: str) -> None:
    """Give this open database the tables as this migration (one of KEPT) left them, in place of what it has."""
    _copy(_by_migrations() / _kept(app, name), target)


def with_every_migration() -> Path:
    """An SQLite database to which all migrations were applied, one after the other."""
    return _by_migrations() / _NAME


def postgres_server(log: int = subprocess.DEVNULL) -> AbstractContextManager[str]:
    """The DATABASE_URL of a PostgreSQL of one's own with all tables and no rows."""
    from tests import servers  # who needs none of its own does not wait for what asks it

    def lay(folder: Path) -> None:
        kept_databases.lay(folder, _make_postgres, str(servers.postgres_programs()))

    return servers.postgres_server(log, copied=made_once("postgres", lay))


def _make_postgres(folder: Path) -> None:
    from tests import servers

    with tempfile.TemporaryDirectory() as home, servers.postgres_server(kept_in=folder) as url:
        _run(_MAKE, Path(home), url)


def migrate() -> None:
    """Migrate the database of a new home; beside it stay copies from after each of KEPT."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    apply = MigrationExecutor.apply_migration
    home = Path(os.environ["GRIDPORTAL_HOME"])

    def apply_and_keep(executor: Any, state: Any, migration: Any, **options: Any) -> Any:
        state = apply(executor, state, migration, **options)
        if (migration.app_label, migration.name) in KEPT:
            with sqlite3.connect(home / _kept(migration.app_label, migration.name)) as copy:
                connection.connection.backup(copy)
        return state

    MigrationExecutor.apply_migration = apply_and_keep  # of this process, which ends with it
    call_command("migrate", verbosity=0)


def _kept(app: str, name: str) -> str:
    return f"{app}-{name}.sqlite3"


def _copy(path: Path, target: sqlite3.Connection) -> None:
    source = sqlite3.connect(path)
    try:
        source.backup(target)
    finally:
        source.close()


def _empty() -> Path:
    return made_once("empty", lambda home: kept_databases.lay(home, lambda making: _run(_MAKE, making)))


def _by_migrations() -> Path:
    return made_once("earlier", lambda home: kept_databases.lay(home, lambda making: _run(_MIGRATE, making)))


def _prepared() -> Path:
    def make(home: Path) -> None:
        home.mkdir(mode=0o700)
        shutil.copy2(_empty() / _NAME, home / _NAME)
        _run(_PREPARE, home)

    return made_once("migrated", make)


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """The folder of this name that all processes of a run share; the first of them makes it."""
    folder = Path(os.environ["TESTS_HOME"], name)
    with file_lock.hold(folder.with_suffix(".lock"), patience=300) as ours:
        assert ours, "another process took too long to make it"
        if not folder.exists():
            making = folder.with_suffix(".making")
            make(making)
            making.rename(folder)
    return folder


def _run(code: str, home: Path, database: str = "") -> None:
    """Do this as a portal with this home and database, SQLite unless told otherwise."""
    settings = {"GRIDPORTAL_HOME": str(home), "DJANGO_SETTINGS_MODULE": "gridportal.settings"}
    env = {**os.environ, **settings, "DATABASE_URL": database, "REDIS_URL": ""}
    subprocess.run([sys.executable, "-c", code], cwd=_CHECKOUT, env=env, check=True, timeout=250)
