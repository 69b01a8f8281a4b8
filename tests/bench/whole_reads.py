"""Which statements of a page read all rows of a table that sums or an index should spare it."""

from __future__ import annotations

import re

_TABLES = "job|run|placement|perioduse|personuse|dailyuse"
#: How SQLite and PostgreSQL say in a plan that a table is read from end to end, not by an index.
_WHOLE = re.compile(rf"(?:^SCAN|Seq Scan on) scheduling_(?P<table>{_TABLES})\b(?! USING)")


def whole_reads(who: str, path: str) -> list[str]:
    """The tables that the statements of a page read whole, by the plans of the database; each with its statement."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from gridportal.accounts.models import User

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username=who), backend="django.contrib.auth.backends.ModelBackend")
    with CaptureQueriesContext(connection) as captured:
        client.get(path)
    asked = [each["sql"] for each in captured.captured_queries if each["sql"].startswith("SELECT")]
    return [f"{table}: {sql[:160]}" for sql in asked for table in _read_whole(sql)]


def _read_whole(sql: str) -> list[str]:
    from django.db import connection

    word = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{word} {sql.replace('%', '%%')}" if connection.vendor == "sqlite" else f"{word} {sql}")
        plan = [str(row[-1]) for row in cursor.fetchall()]
    return [found["table"] for line in plan if (found := _WHOLE.search(line))]
