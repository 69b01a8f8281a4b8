"""What an empty database gets at once is what all migrations together leave in it."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from gridportal.base import processes as shell
from gridportal.database import portal_tables
from tests import migrated, servers

ROOT = Path(__file__).parents[3]
TABLES = "from gridportal.database import portal_tables; portal_tables"
#: What differs between two databases of the same portal: numbers of rows, and when a migration was applied.
_OF_ONE = re.compile(r"id|.+_id|applied")
#: On SQLite a column keeps the default with which it was added to a large table; no row is written with it.
_KEPT_DEFAULT = re.compile(r" DEFAULT ('[^']*'|\d+)(?= |$)")

#: On PostgreSQL a check keeps the name that its column had when it was made.
_KEPT_NAME = re.compile(r"CONSTRAINT \w+_check CHECK")


def parts(statement: str) -> frozenset[str]:
    """Of a CREATE statement the columns and constraints, whatever their order."""
    head, _, rest = statement.partition("(")
    found, depth, quoted = [head, ""], 0, ""
    for letter in rest:
        if quoted or letter in "'\"":
            quoted = "" if letter == quoted else quoted or letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        if (letter == "," and not depth and not quoted) or depth < 0:
            found.append("")
            depth = 0
        else:
            found[-1] += letter
    return frozenset(_KEPT_DEFAULT.sub("", part.strip()) for part in found)


def without_numbers(rows: Iterator[tuple[Any, ...]], columns: list[str]) -> list[str]:
    kept = [(place, name) for place, name in sorted(enumerate(columns), key=lambda each: each[1])]
    return sorted(str([row[place] for place, name in kept if not _OF_ONE.fullmatch(name)]) for row in rows)


def in_sqlite(path: Path) -> tuple[dict[str, frozenset[str]], dict[str, list[str]]]:
    """What was created by its name, and the rows of each table."""
    database = sqlite3.connect(path)
    try:
        made = database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        rows = {}
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            cursor = database.execute(f'SELECT * FROM "{name}"')
            rows[name] = without_numbers(iter(cursor), [column[0] for column in cursor.description])
    finally:
        database.close()
    rows.pop("sqlite_sequence", None)
    return {name: parts(statement) for name, statement in made}, rows


def in_postgres(url: str) -> tuple[list[list[str]], dict[str, list[str]]]:
    """The statements of a dump, each with its lines sorted, and the rows of each table."""
    argv = [str(servers.postgres_programs() / "pg_dump"), "--schema-only", url]
    dump = shell.run(argv, timeout=60).stdout
    dump = _KEPT_NAME.sub("CHECK", dump)
    lines = "\n".join(line.rstrip(",") for line in dump.splitlines() if not line.startswith(("--", "\\")))
    rows = {}
    with psycopg.connect(url) as database:
        names = database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (name,) in names:
            cursor = database.execute(f'SELECT * FROM "{name}"')  # type: ignore[arg-type]
            rows[name] = without_numbers(iter(cursor), [column.name for column in cursor.description or ()])
    return sorted(sorted(filter(None, each.splitlines())) for each in lines.split(";\n")), rows


def make(home: Path, url: str, how: str = f"{TABLES}.bring_up_to_date()") -> None:
    settings = {"GRIDPORTAL_HOME": str(home), "DJANGO_SETTINGS_MODULE": "gridportal.settings", "REDIS_URL": ""}
    env = {**os.environ, **settings, "DATABASE_URL": url}
    argv = [sys.executable, "-c", f"import django; django.setup(); {how}"]
    subprocess.run(argv, cwd=ROOT, env=env, check=True, timeout=250)


def test_an_empty_sqlite_database_is_as_all_migrations_leave_one(tmp_path: Path) -> None:
    make(tmp_path, "")
    made, rows = in_sqlite(tmp_path / "gridportal.sqlite3")
    migrated_made, migrated_rows = in_sqlite(migrated.with_every_migration())
    assert len(made) > 200
    assert made == migrated_made
    assert {name for name, each in rows.items() if each} == {
        *("auth_group", "auth_permission", "django_content_type", "django_migrations")
    }
    assert rows == migrated_rows


@pytest.mark.postgres
def test_an_empty_postgresql_database_is_as_all_migrations_leave_one(tmp_path: Path) -> None:
    with migrated.postgres_server() as url:
        other = url.replace("/gridportal?", "/other?")
        with psycopg.connect(url, autocommit=True) as database:
            database.execute("CREATE DATABASE other")
        make(tmp_path, other, "from django.core.management import call_command; call_command('migrate', verbosity=0)")
        made, rows = in_postgres(url)
        migrated_made, migrated_rows = in_postgres(other)
    assert len(made) > 200
    assert made == migrated_made
    assert rows == migrated_rows


def test_a_database_of_an_earlier_version_comes_to_the_same_and_keeps_its_rows(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "gridportal.sqlite3")
    migrated.put_earlier(database, "scheduling", "0068_placements_tried")
    with database:
        database.execute("INSERT INTO auth_group (name) VALUES ('physics')")
    database.close()
    make(tmp_path, "")
    made, rows = in_sqlite(tmp_path / "gridportal.sqlite3")
    migrated_made, migrated_rows = in_sqlite(migrated.with_every_migration())
    assert made == migrated_made
    assert rows.pop("auth_group") == sorted([*migrated_rows.pop("auth_group"), "['physics']"])
    assert rows == migrated_rows


def test_who_is_killed_while_it_makes_the_tables_leaves_none_and_the_next_makes_all(tmp_path: Path) -> None:
    kill = f"import os; {TABLES}._run_code = lambda *_: os.kill(os.getpid(), 9)"
    with pytest.raises(subprocess.CalledProcessError) as killed:
        make(tmp_path, "", f"{kill}; portal_tables.bring_up_to_date()")
    assert killed.value.returncode == -signal.SIGKILL
    assert in_sqlite(tmp_path / "gridportal.sqlite3") == ({}, {})
    make(tmp_path, "")
    assert in_sqlite(tmp_path / "gridportal.sqlite3")[0] == in_sqlite(migrated.with_every_migration())[0]


@pytest.fixture
def asked(db: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that bring a database up to date; none of them runs."""
    commands: list[str] = []
    monkeypatch.setattr(portal_tables, "call_command", lambda name, **_: commands.append(name))
    return commands


def test_a_database_that_is_up_to_date_is_not_migrated_again(asked: list[str]) -> None:
    portal_tables.bring_up_to_date()
    assert asked == []


@pytest.mark.parametrize("lacks", ["a migration", "a permission"])
def test_one_that_lacks_something_is_migrated(asked: list[str], lacks: str) -> None:
    """Permissions are made last: who was killed before has all tables, and not all of them."""
    if lacks == "a migration":
        MigrationRecorder(connection).record_unapplied("scheduling", "0068_placements_tried")
    else:
        Permission.objects.filter(codename="view_job").delete()
    portal_tables.bring_up_to_date()
    assert asked == ["migrate"]
