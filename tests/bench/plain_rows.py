"""The rows of finished jobs written again without a portal: the same transactions in plain SQL, for comparison."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg

#: Of each job: what is written when it is submitted, when it is placed, and when it has ended.
_TABLES = ("scheduling_job", "scheduling_jobevent", "scheduling_placement", "scheduling_run")
_FIRST_ID = 1_000_000_000


@dataclass(frozen=True)
class Plain:
    """What one job's rows cost: seconds of each submission's transaction, processor seconds of client and server."""

    rate: float
    p99: float
    busy: float


def write(url: str, jobs: int, processes: int = 2) -> Plain:
    """Write `jobs` jobs from that many processes at once, each as fast as it can, modelled on the last ended one."""
    parts = urlsplit(url)
    where = f"dbname={parts.path.lstrip('/')} user={parts.username} host={parse_qs(parts.query)['host'][0]}"
    rows = _rows(where)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        work = [(where, rows, jobs // processes, place) for place in range(processes)]
        done = pool.starmap(_write, work)
    seconds = max(end for _, end, _ in done) - min(start for start, _, _ in done)
    delays = sorted(itertools.chain.from_iterable(delays for _, _, (delays, _) in done))
    busy = sum(used for _, _, (_, used) in done) / len(delays)
    return Plain(len(delays) / seconds, delays[int(0.99 * len(delays))], busy)


def _rows(where: str) -> dict[str, list[dict[str, Any]]]:
    with psycopg.connect(where) as connection:
        (job,) = connection.execute("SELECT max(job_id) FROM scheduling_run").fetchone() or (None,)
        rows = {
            table: [row for (row,) in connection.execute(f"SELECT row_to_json(t) FROM {table} t WHERE {key} = {job}")]
            for table, key in zip(_TABLES, ("id", "job_id", "job_id", "job_id"), strict=True)
        }
        trail = "SELECT row_to_json(t) FROM accounts_auditevent t WHERE action = 'job.submit' ORDER BY id DESC LIMIT 1"
        rows["accounts_auditevent"] = [row for (row,) in connection.execute(trail)]
    return rows


def _write(
    where: str, rows: dict[str, list[dict[str, Any]]], jobs: int, place: int
) -> tuple[float, float, tuple[list[float], float]]:
    delays = []
    with psycopg.connect(where, autocommit=True) as connection:
        server = Path(f"/proc/{connection.info.backend_pid}/schedstat")
        start, used = time.perf_counter(), time.process_time() + _seconds(server)
        for number in range(jobs):
            began = time.perf_counter()
            job = _FIRST_ID + place * 100_000_000 + number
            _submitted(connection, rows, job)
            delays.append(time.perf_counter() - began)
            _lived(connection, rows, job)
        end, used = time.perf_counter(), time.process_time() + _seconds(server) - used
    return start, end, (delays, used)


def _submitted(connection: psycopg.Connection[Any], rows: dict[str, list[dict[str, Any]]], job: int) -> None:
    with connection.transaction():
        key = str(uuid.uuid4())
        _insert(connection, "scheduling_job", rows, 0, id=job, request_key=key, state="queued", ended_at=None)
        _insert(connection, "scheduling_jobevent", rows, 0, id=job * 10, job_id=job)
        _insert(connection, "accounts_auditevent", rows, 0, id=job, object_id=str(job))


def _lived(connection: psycopg.Connection[Any], rows: dict[str, list[dict[str, Any]]], job: int) -> None:
    """Leased, placed, handed over, its progress read, ended."""
    with connection.transaction():
        _step(connection, rows, job, 1, "placing")
    with connection.transaction():
        _insert(connection, "scheduling_placement", rows, 0, id=job, job_id=job)
        run = {"id": job, "job_id": job, "placement_id": job, "key": str(job), "state": "prepared"}
        _insert(connection, "scheduling_run", rows, 0, **run)
        _step(connection, rows, job, 2, "starting")
    connection.execute("UPDATE scheduling_run SET backend_id = %s, state = 'submitted' WHERE id = %s", (str(job), job))
    connection.execute("UPDATE scheduling_job SET lease_until = NULL, lease_holder = '' WHERE id = %s", (job,))
    connection.execute("UPDATE scheduling_run SET progress_offset = 90, verified = true WHERE id = %s", (job,))
    with connection.transaction():
        _step(connection, rows, job, 3, "succeeded")
        connection.execute("UPDATE scheduling_run SET state = 'succeeded', ended_at = now() WHERE id = %s", (job,))


def _step(
    connection: psycopg.Connection[Any], rows: dict[str, list[dict[str, Any]]], job: int, place: int, state: str
) -> None:
    connection.execute("UPDATE scheduling_job SET state = %s, lease_holder = 'x' WHERE id = %s", (state, job))
    place = min(place, len(rows["scheduling_jobevent"]) - 1)
    _insert(connection, "scheduling_jobevent", rows, place, id=job * 10 + place, job_id=job)


def _insert(
    connection: psycopg.Connection[Any], table: str, rows: dict[str, list[dict[str, Any]]], place: int, **changes: Any
) -> None:
    row = json.dumps(rows[table][place] | changes)
    connection.execute(f"INSERT INTO {table} SELECT * FROM json_populate_record(NULL::{table}, %s)", (row,))


def _seconds(process: Path) -> float:
    """Processor seconds of a process so far."""
    return int(process.read_text(encoding="ascii").split()[0]) / 1e9
