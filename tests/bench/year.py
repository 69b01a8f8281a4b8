"""The rows that a portal has after a busy year, written in bulk: jobs with all that belongs to them, and the trail.

PostgreSQL gets them by COPY, SQLite by many rows a statement. The same `jobs` gives the same rows each time, except
for the moments, which end now.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

from django.contrib.auth.models import Group
from django.core.management.color import no_style
from django.db import connection, models
from django.utils import timezone

from gridportal.accounts.models import AuditEvent, User
from gridportal.base.reasons import NOTHING, text_reason
from scheduling.jobs.job_fields import ReasonField
from scheduling.jobs.models import Application, Job, JobEvent
from scheduling.jobs.services import registering
from scheduling.placing.models import Placement
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport, PhaseTotal

#: Each has a role; `busy` has a fifth of all jobs, `rare` twenty, and the others share the rest.
PEOPLE = {"busy": "user", "rare": "user", "operator": "operator", "manager": "manager"}
OTHERS = 200
RARE_JOBS = 20
#: Jobs that are not over: how many run, and how many wait.
RUNNING, WAITING = 8, 200
YEAR = timedelta(days=365)
_PHASES = 3
_NO_ROOM, _CHOSEN = text_reason("Only 3 of 64 nodes are free."), text_reason("Chosen: the best of 3 groups.")
_PART = 20_000
_METHODS = ("pattern", "pattern", "pattern", "balanced", "communication", "compute", "random")
_NAMES = ("", "", "sweep over seeds", "heat on the new links", "strong scaling", "nightly check", "before the paper")


def write_year(jobs: int) -> None:
    """Fill an empty, migrated database with `jobs` jobs, five events each, and what else a year leaves."""
    registering.install_catalogue()
    programs = list(Application.objects.order_by("pk"))
    people = _people()
    draw, now = Random(10), timezone.now()
    for begin in range(0, jobs, _PART):
        part = [_Job(number, jobs, people, programs, draw, now) for number in range(begin, min(begin + _PART, jobs))]
        _insert(Job, (one.row() for one in part))
        _insert(JobEvent, (row for one in part for row in one.events()))
        _insert(Placement, (row for one in part for row in one.placements()))
        _insert(Run, (row for one in part for row in one.runs()))
        _insert(PhaseReport, (row for one in part for row in one.phases()))
        _insert(PhaseTotal, (_total(row) for one in part for row in one.phases()))
        _insert(AuditEvent, (row for one in part for row in one.trail()))
    _settle()


def _total(report: dict[str, Any]) -> dict[str, Any]:
    """The sum of a phase that was reported once."""
    row = {name: value for name, value in report.items() if name != "at"}
    return row | {"count": 1, "least": report["seconds"], "most": report["seconds"]}


def _people() -> list[User]:
    roles = PEOPLE | {f"person{number}": "user" for number in range(OTHERS)}
    made = User.objects.bulk_create(User(username=name, password="!") for name in roles)
    groups = {name: Group.objects.get_or_create(name=name)[0] for name in set(roles.values())}
    for person in made:
        person.groups.add(groups[roles[person.username]])
    return made


class _Job:
    """One job of the year and the rows that belong to it; numbers are keys."""

    def __init__(
        self,
        number: int,
        count: int,
        people: Sequence[User],
        programs: Sequence[Application],
        draw: Random,
        now: datetime,
    ) -> None:
        self.pk = number + 1
        self.owner = _owner(number, count, people, draw)
        self.program = draw.choice(programs)
        self.state = _state(count - number, draw)
        self.nodes = [f"n{draw.randrange(1, 64)}" for _ in range(draw.choice((1, 2, 4, 4, 8)))]
        self.method, self.name = draw.choice(_METHODS), draw.choice(_NAMES)
        self.created = now - YEAR * (1 - (number + 1) / count)
        self.seconds = draw.lognormvariate(4, 1.5)
        self.started = self.created + timedelta(seconds=draw.lognormvariate(2, 1))
        self.ended = self.started + timedelta(seconds=self.seconds)

    @property
    def is_placed(self) -> bool:
        return self.state != "waiting"

    @property
    def is_over(self) -> bool:
        return self.state not in ("waiting", "running")

    def row(self) -> dict[str, Any]:
        return {
            "id": self.pk,
            "owner_id": self.owner.pk,
            "application_id": self.program.pk,
            "name": self.name,
            "parameters": {"klass": "A", "seed": self.pk},
            "node_count": len(self.nodes),
            "ranks": len(self.nodes),
            "method": self.method,
            "pattern": "ring",
            "request_key": uuid.UUID(int=self.pk),
            "state": self.state,
            "reason": _NO_ROOM if self.state == "waiting" else NOTHING,
            "created_at": self.created,
            "started_at": self.started if self.is_placed else None,
            "ended_at": self.ended if self.is_over else None,
        }

    def events(self) -> Iterator[dict[str, Any]]:
        steps = ["", "queued", "placing", *(["starting", "running"] if self.is_placed else []), self.state]
        for at, (before, after) in enumerate(pairwise(steps)):
            if before != after:
                yield {
                    "job_id": self.pk,
                    "at": self.created + timedelta(seconds=at),
                    "from_state": before,
                    "to_state": after,
                    "reason": _CHOSEN if after == "starting" else NOTHING,
                    "actor": self.owner.username if at == 0 else "portal",
                }

    def placements(self) -> Iterator[dict[str, Any]]:
        if not self.is_placed:
            return
        tried = {"spent": 4.2, "won": 1.5, "taken": 0, "groups": [0, 1]} if self.pk % 50 == 0 else None
        yield {
            "id": self.pk,
            "job_id": self.pk,
            "created_at": self.created,
            "method": self.method,
            "pattern": "ring",
            "nodes": self.nodes,
            "objective": {"min_bandwidth": 8e7, "min_cpu": 1.0},
            "trial": tried,
            "candidates": [_candidate(self.nodes)] * 3,
            "seconds": 0.01,
            "measured_at": self.created,
        }

    def runs(self) -> Iterator[dict[str, Any]]:
        if not self.is_placed:
            return
        key, good = f"job-{self.pk}-run-1", self.state == "succeeded"
        yield {
            "id": self.pk,
            "job_id": self.pk,
            "placement_id": self.pk,
            "key": key,
            "backend_id": key,
            "state": self.state,
            "run_dir": f"/srv/runs/{key}",
            "script": "#!/bin/bash\n" + "# a line\n" * 40,
            "created_at": self.created,
            "started_at": self.started,
            "ended_at": self.ended if self.is_over else None,
            "exit_code": 0 if good else 1,
            "verified": good or None,
            "seconds": self.seconds if good else None,
            "result": {"figures": {"mops": 812.3, "gflops": 1.2}},
            "hosts": self.nodes,
        }

    def phases(self) -> Iterator[dict[str, Any]]:
        for at in range(_PHASES if self.is_over else 0):
            yield {
                "run_id": self.pk,
                "at": self.started,
                "phase": ("setup", "compute", "exchange")[at % 3],
                "seconds": self.seconds / _PHASES,
                "compute": self.seconds / 5,
                "communicate": 0.1,
            }

    def trail(self) -> Iterator[dict[str, Any]]:
        common = {"actor_id": self.owner.pk, "actor_name": self.owner.username, "address": "10.0.0.7"}
        about = {"object_type": "job", "object_id": str(self.pk), "object_label": f"job {self.pk}"}
        request = {"request_id": str(uuid.UUID(int=self.pk))}
        if self.pk % 10 == 0:
            yield {**common, **request, "at": self.created, "action": "person.sign_in"}
        detail = {"application": self.program.slug, "nodes": len(self.nodes)}
        yield {**common, **about, **request, "at": self.created, "action": "job.submit", "detail": detail}
        if self.state == "cancelled":
            yield {**common, **about, **request, "at": self.ended, "action": "job.cancel"}


def _owner(number: int, count: int, people: Sequence[User], draw: Random) -> User:
    if number % (count // RARE_JOBS) == 7:
        return people[1]
    return people[0] if number % 5 == 0 else people[len(PEOPLE) + int(OTHERS * draw.random() ** 2)]


def _state(from_end: int, draw: Random) -> str:
    """The last jobs wait, those before them run, and nearly all others ended well."""
    if from_end <= WAITING:
        return "waiting"
    if from_end <= WAITING + RUNNING:
        return "running"
    return draw.choices(("succeeded", "failed", "cancelled"), (92, 5, 3))[0]


def _candidate(nodes: Sequence[str]) -> dict[str, Any]:
    pairs = list(zip(range(len(nodes)), nodes, nodes[1:], strict=False))
    edges = [{"ranks": [a, a + 1], "source": x, "target": y, "bandwidth": 8e7, "weight": 1} for a, x, y in pairs]
    return {
        "nodes": list(nodes),
        "objective": {"min_bandwidth": 8e7, "min_cpu": 1.0},
        "edges": edges,
        "bottleneck": None,
        "reason": "The least bandwidth between its nodes is 80 Mbit/s.",
    }


def _insert(model: type[models.Model], rows: Iterable[dict[str, Any]]) -> None:
    """Write rows of {column: value}; a column that no row names gets its default."""
    fields = [field for field in model._meta.concrete_fields if not (field.primary_key and model in _COUNTED)]
    plain = {field.column: _value(field, field.get_default()) for field in fields}
    values = (
        [_value(field, row[field.column]) if field.column in row else plain[field.column] for field in fields]
        for row in rows
    )
    names = ", ".join(f'"{field.column}"' for field in fields)
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for value in values:
                    copy.write_row(value)
        else:
            marks = ", ".join(["%s"] * len(fields))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)


#: Rows whose keys the database gives.
_COUNTED = (JobEvent, PhaseReport, PhaseTotal, AuditEvent)


def _value(field: models.Field[Any, Any], value: Any) -> Any:
    if isinstance(value, dict | list):
        return json.dumps(value)
    if isinstance(field, models.JSONField | ReasonField) or connection.vendor == "sqlite":
        return field.get_db_prep_save(value, connection)
    return value


def _settle() -> None:
    """What a database does by itself in a year: count on, know its figures, and have its pages in order."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            for statement in connection.ops.sequence_reset_sql(no_style(), [Job, Placement, Run]):
                cursor.execute(statement)
            cursor.execute("VACUUM (ANALYZE, FREEZE)")
        else:
            cursor.execute("ANALYZE")
