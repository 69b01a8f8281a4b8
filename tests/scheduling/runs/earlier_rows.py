"""Rows as earlier versions wrote them, carried over and back: `python -m tests.scheduling.runs.earlier_rows` with a
DATABASE_URL prints what became of them as JSON."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

import django

from tests.scheduling.old_rows import old_job, old_run

BEFORE, AFTER = "0025_phase_totals", "0028_one_open_run_per_job"


def at(day: int) -> datetime:
    return datetime(2026, 11, day, tzinfo=UTC)


#: name: state of the job, columns of its runs in turn, the states that job and runs have then.
ROWS: dict[str, tuple[str, list[dict[str, Any]], list[str]]] = {
    "trial": ("trying", [], ["trial"]),
    "prepared": ("starting", [{"state": "starting"}], ["starting", "prepared"]),
    "submitted": ("starting", [{"state": "starting", "backend_id": "1"}], ["starting", "submitted"]),
    "held": ("starting", [{"state": "starting", "backend_id": "1", "held": True}], ["starting", "held"]),
    "requeued": (
        "starting",
        [{"state": "starting", "backend_id": "1", "restarts": 2, "put_back_at": at(3)}],
        ["starting", "requeued"],
    ),
    "recalling": (
        "starting",
        [{"state": "starting", "backend_id": "1", "taken_back": True}],
        ["moving", "recalling"],
    ),
    "recalled before its cluster gave it a number": (
        "starting",
        [{"state": "starting", "taken_back": True}],
        ["moving", "recalling"],
    ),
    "queued again while it is recalled": (
        "queued",
        [{"state": "starting", "backend_id": "1", "taken_back": True}],
        ["moving", "recalling"],
    ),
    "running": ("running", [{"state": "running", "backend_id": "1", "started_at": at(4)}], ["running", "running"]),
    "missing": (
        "running",
        [{"state": "running", "backend_id": "1", "started_at": at(1), "missed_at": at(2)}],
        ["running", "missing"],
    ),
    "stopping": ("cancelling", [{"state": "cancelling", "backend_id": "1"}], ["cancelling", "stopping"]),
    "succeeded": (
        "succeeded",
        [
            {"state": "cancelled", "backend_id": "1", "taken_back": True, "ended_at": at(5)},
            {"state": "succeeded", "backend_id": "2", "started_at": at(5), "ended_at": at(6)},
        ],
        ["succeeded", "recalled", "succeeded"],
    ),
    "cancelled": (
        "cancelled",
        [{"state": "cancelled", "backend_id": "1", "taken_back": True, "ended_at": at(5)}],
        ["cancelled", "cancelled"],
    ),
    "two open runs": (
        "running",
        [
            {"state": "starting", "backend_id": "1"},
            {"state": "running", "backend_id": "2", "started_at": at(5)},
        ],
        ["running", "recalled", "running"],
    ),
    "failed": ("failed", [{"state": "failed", "ended_at": at(5)}], ["failed", "failed"]),
}


def main() -> None:
    """Write, carry over, look, carry back, look."""
    django.setup()
    from django.db import connection

    apps = migrated(BEFORE)
    write(apps)
    before = read(apps)
    told = records_of("scheduling.migrations.0027_states_of_runs")
    apps = migrated(AFTER)
    run = apps.get_model("scheduling", "Run").objects
    since = [run.get(key=f"{name}-1").state_since for name in ("missing", "requeued", "running")]
    events = apps.get_model("scheduling", "JobEvent").objects.filter(to_state="moving")
    found = {
        "states": read(apps),
        "expected": {name: states for name, (_, _, states) in ROWS.items()},
        "since": [f"{each:%Y-%m-%d}" for each in since],
        "moved": [list(row) for row in events.values_list("from_state", "to_state", "run_number")],
        "let_go": [record.getMessage() for record in told],
        "second_open_run": second_open_run(apps),
        "before": before,
    }
    apps = migrated(BEFORE)
    found["back"] = read(apps)
    connection.close()
    sys.stdout.write(json.dumps(found) + "\n")


def records_of(logger: str) -> list[logging.LogRecord]:
    """What a logger is told from now on."""
    told: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = told.append  # type: ignore[method-assign]
    logging.getLogger(logger).addHandler(handler)
    return told


def write(apps: Any) -> None:
    """All of ROWS."""
    for name, (state, runs, _) in ROWS.items():
        job = old_job(apps, name=name, state=state)
        for number, columns in enumerate(runs, start=1):
            old_run(apps, job, number, f"{name}-{number}", **columns)


def read(apps: Any) -> dict[str, list[str]]:
    """The states of each job and its runs, in turn."""
    return {
        job.name: [job.state, *job.runs.order_by("number").values_list("state", flat=True)]
        for job in apps.get_model("scheduling", "Job").objects.order_by("pk")
    }


def second_open_run(apps: Any) -> str:
    """Whether the database takes another run of a job that has an open one."""
    from django.db import IntegrityError, transaction

    job = apps.get_model("scheduling", "Job").objects.get(name="running")
    try:
        with transaction.atomic():
            old_run(apps, job, 2, "another", state="prepared")
    except IntegrityError:
        return "refused"
    return "taken"


def migrated(to: str) -> Any:
    """The models as they are there. SQLite begins as a copy of what the one run of all migrations leaves."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from tests import migrated as kept

    executor = MigrationExecutor(connection)
    if connection.vendor == "sqlite" and not executor.loader.applied_migrations:
        connection.ensure_connection()
        kept.put_earlier(connection.connection, "scheduling", BEFORE)
        executor = MigrationExecutor(connection)
    if to == BEFORE and not executor.loader.applied_migrations:
        executor.migrate([leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] != "scheduling"])
        executor = MigrationExecutor(connection)
    executor.migrate([("scheduling", to)])
    return MigrationExecutor(connection).loader.project_state([("scheduling", to)]).apps


if __name__ == "__main__":
    main()
