"""How PostgreSQL reads a portal with many jobs: with a DATABASE_URL, `python -m tests.scheduling.pages.plans JOBS some`
or `all`.

Prints one JSON document: how many statements were looked at, and by page those that read a whole large table although
the planner was told to avoid that, so that no index can serve them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import django

LARGE = frozenset(f"scheduling_{name}" for name in ("job", "jobevent", "placement", "run", "phasereport")) | frozenset(
    {"accounts_auditevent"}
)


#: Who see what is theirs and who see everything: others of the same sight are asked the same of the database.
_SOME = ("busy", "operator")


def main(jobs: int, which: str) -> None:
    """Fill the database, count what ended, and look at every page, or at some so that each question is asked."""
    django.setup()
    from django.db import connection

    from gridportal.database import portal_tables
    from scheduling.usage.services.counting_use import count_use
    from tests.bench.year import write_year

    portal_tables.bring_up_to_date()
    write_year(jobs)
    count_use()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        cursor.execute("SET enable_seqscan = off")
    seen: set[str] = set()
    whole: dict[str, list[str]] = {}
    for who, path in _pages(which):
        for statement in _asked(who, path):
            if statement not in seen and (tables := _read_whole(statement)):
                whole.setdefault(f"{who} {path}", []).append(f"{', '.join(tables)}: {statement[:300]}")
            seen.add(statement)
    sys.stdout.write(json.dumps({"statements": len(seen), "whole": whole}) + "\n")


def _pages(which: str) -> Iterator[tuple[str, str]]:
    """`some`: as two people, and of each list the first page and one further on."""
    from tests.bench.page_times import pages

    met: set[tuple[str, str]] = set()
    for who, path in pages():
        alike = who, re.sub(r"\b(page|offset)=\d+", r"\1", path)
        if which == "all" or (who in _SOME and alike not in met):
            yield who, path
        met.add(alike)


def _asked(who: str, path: str) -> list[str]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from gridportal.accounts.models import User

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username=who), backend="django.contrib.auth.backends.ModelBackend")
    with CaptureQueriesContext(connection) as captured:
        if client.get(path).status_code != 200:
            raise RuntimeError(f"{path} does not answer {who}")
    return [query["sql"] for query in captured if query["sql"].startswith(("SELECT", "WITH"))]


def _read_whole(statement: str) -> list[str]:
    """The large tables that the plan reads row by row."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}")
        plan = cursor.fetchone()[0]
    document = json.loads(plan) if isinstance(plan, str) else plan
    nodes = _nodes(document[0]["Plan"])
    return sorted({node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"} & LARGE)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
