"""What the store of telemetry takes, as a program of its own: in the database that DATABASE_URL names.

`python -m tests.bench.telemetry_rates ingest NODES POLLS`, `... day NODES` and `... traces FILE...` print one JSON
document.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np

METRICS = ("cpu", "load", "memory_free", "memory_total", "disk_free", "tx", "rx", "latency", "bandwidth", "processes")
PERIOD = 30.0
DAY = 2880


def values(nodes: int, polls: int, seed: int = 1) -> Iterator[np.ndarray]:
    """(nodes, 10) per poll: what nodes show over a day, with jobs that come and go, in the precision of floats."""
    rng = np.random.default_rng(seed)
    total = rng.choice([2.0**34, 2.0**36, 2.0**37], nodes)
    load, disk, flow = np.zeros(nodes), rng.uniform(1e11, 4e12, nodes), np.zeros((2, nodes))
    jobs = rng.integers(0, 16, nodes)
    for _ in range(polls):
        turns = rng.random(nodes) < 0.01
        jobs = np.where(turns, rng.integers(0, 16, nodes), jobs)
        load += 0.4 * (jobs - load) + 0.05 * rng.standard_normal(nodes)
        load = np.maximum(load, 0)
        flow = 0.9 * flow + 0.1 * np.where(jobs > 0, 1e9, 1e6) * rng.lognormal(0, 0.5, (2, nodes))
        disk -= rng.random(nodes) * 1e6 * (jobs > 0)
        free = total * (1 - 0.05 * jobs) - rng.random(nodes) * 1e7
        wide = 10e9 - flow.max(axis=0) + 1e7 * rng.standard_normal(nodes)
        latency = 5e-5 * rng.lognormal(0, 0.2, nodes)
        rounds = np.round(disk / 4096) * 4096
        pages = np.round(free / 4096) * 4096
        shown = (1 / (1 + load), np.round(load, 2), pages, total, rounds, *flow, latency, wide, 200.0 + 10 * jobs)
        yield np.stack(shown, axis=1)


def samples(nodes: int, grid: np.ndarray, at: float) -> list[Any]:
    """One poll; nodes answer some milliseconds after another."""
    from monitoring.history.core.samples import Sample

    moments = at + np.random.default_rng(int(at)).uniform(0, 0.02, nodes)
    return [
        Sample(f"node{number:05d}", metric, moment, value)
        for number, (moment, row) in enumerate(zip(moments.tolist(), grid.tolist(), strict=True))
        for metric, value in zip(METRICS, row, strict=True)
    ]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what it gave."""
    begun = time.perf_counter()
    found = work()
    return time.perf_counter() - begun, found


def ingest(nodes: int, polls: int) -> dict[str, Any]:
    """Polls as they come, with the moving into blocks that they bring with them; figures per poll."""
    from monitoring.history.services import compaction
    from monitoring.telemetry.services import readings

    first, busy = time.time() - polls * PERIOD, 0.0
    recording, building = [], []
    for poll, grid in enumerate(values(nodes, polls)):
        seconds, came = timed(lambda grid=grid, poll=poll: samples(nodes, grid, first + poll * PERIOD))
        building.append(seconds)
        used = time.process_time()
        seconds, new = timed(lambda came=came: readings.record_readings("polls", "agent", came))
        assert new == nodes * len(METRICS)
        recording.append(seconds)
        busy += time.process_time() - used
    used = time.process_time()
    moving, _ = timed(lambda: compaction.compact("polls", everything=True, seconds=600))
    busy += time.process_time() - used
    each = float(np.mean(recording[1:])) + moving / polls
    return {
        "samples": nodes * len(METRICS),
        "first": recording[0],
        "record": float(np.mean(recording[1:])),
        "slowest": max(recording[1:]),
        "compact": moving / polls,
        "rate": nodes * len(METRICS) / each,
        "share": each / PERIOD,
        "busy": busy / polls,
        "bytes": stored("polls")[0] / (nodes * len(METRICS) * polls),
    }


def day(nodes: int) -> dict[str, Any]:
    """A day of few nodes: bytes a sample, one series of it against the same rows, and what rolling up leaves."""
    from django.conf import settings

    from monitoring.history.selectors import series as history_series
    from monitoring.history.services import compaction
    from monitoring.telemetry.services import readings

    end = time.time() // 86400 * 86400
    begun = end - DAY * PERIOD
    batch: list[Any] = []
    for poll, grid in enumerate(values(nodes, DAY)):
        batch += samples(nodes, grid, begun + poll * PERIOD)
        if (poll + 1) % 60 == 0:
            readings.record_readings("day", "agent", batch)
            batch = []
    compaction.compact("day", everything=True, seconds=600)
    size, kept = stored("day")
    whole = on_disk()
    series, row_count = rows(nodes, begun)
    ends = (datetime.fromtimestamp(begun, UTC), datetime.fromtimestamp(end, UTC))
    read = best(lambda: history_series.history("day", "node00003", "cpu", *ends, resolution="raw"))
    objects = best(lambda: list(series.order_by("at")))
    pairs = best(lambda: list(series.order_by("at").values_list("at", "value")))
    compaction.age("day", now=end + settings.PORTAL.keep_raw + 86400, seconds=600)
    minutes, _ = stored("day")
    compaction.age("day", now=end + settings.PORTAL.keep_minutes + 40 * 86400, seconds=600)
    hours, _ = stored("day")
    return {
        "samples": kept,
        "bytes": size / kept,
        "whole": whole and whole / kept,
        "row_bytes": round(row_count),
        "read": read[0],
        "objects": objects[0] / read[0],
        "pairs": pairs[0] / read[0],
        "same": len(read[1]) == len(objects[1]) == DAY,
        "minutes": minutes / kept,
        "hours": hours / kept,
    }


def traces(*names: str) -> dict[str, Any]:
    """Recorded traces, a series each: bytes a sample in blocks."""
    from monitoring.history.core.samples import Sample
    from monitoring.history.services import compaction
    from monitoring.telemetry.services import readings

    begun, came = time.time() // 86400 * 86400 - 2 * 86400, []
    for number, name in enumerate(names):
        table = np.loadtxt(name, ndmin=2)
        seconds = table[:, 0] if table.shape[1] == 2 else 300.0 * np.arange(len(table))
        moments = np.rint((begun + seconds) * 1000) / 1000
        pairs = zip(moments.tolist(), table[:, -1].tolist(), strict=True)
        came += [Sample(f"node{number:05d}", "figure", moment, value) for moment, value in pairs]
    cluster = f"traces-{len(names)}"
    readings.record_readings(cluster, "agent", came)
    compaction.compact(cluster, everything=True, seconds=600)
    size, kept = stored(cluster)
    return {"samples": kept, "bytes": size / kept}


def on_disk() -> int | None:
    """What the table of blocks takes with its rows' heads, its index and what is beside; None where SQLite was built
    without what tells it."""
    from django.db import OperationalError, connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("VACUUM FULL monitoring_block")
            cursor.execute("SELECT pg_total_relation_size('monitoring_block')")
        else:
            try:
                cursor.execute(
                    "SELECT sum(pgsize) FROM dbstat WHERE name IN"
                    " (SELECT name FROM sqlite_master WHERE tbl_name = 'monitoring_block')"
                )
            except OperationalError:
                return None
        return int(cursor.fetchone()[0])


def best(work: Callable[[], Any], times: int = 7) -> tuple[float, Any]:
    """The shortest of some times, and what it gave."""
    return min((timed(work) for _ in range(times)), key=lambda each: each[0])


def stored(cluster: str) -> tuple[int, int]:
    """Bytes and samples in all blocks of a cluster."""
    from django.db.models import Sum
    from django.db.models.functions import Length

    from monitoring.history.models import Block

    found = Block.objects.filter(page__cluster__name=cluster).aggregate(size=Sum(Length("data")), kept=Sum("samples"))
    return found["size"] or 0, found["kept"] or 0


def rows(nodes: int, begun: float) -> tuple[Any, float]:
    """The series as rows of a table among others, as a plain model has it."""
    from django.db import connection, models

    class Row(models.Model):
        subject = models.CharField(max_length=170)
        metric = models.CharField(max_length=30)
        at = models.DateTimeField()
        value = models.FloatField()

        class Meta:
            app_label = "monitoring"
            db_table = "bench_row"
            indexes = [models.Index(fields=["subject", "metric", "at"], name="bench_row_at")]

    with connection.schema_editor() as editor:
        editor.create_model(Row)
    for number in range(min(nodes, 8)):
        Row.objects.bulk_create(
            [
                Row(
                    subject=f"node{number:05d}",
                    metric="cpu",
                    value=0.5,
                    at=datetime.fromtimestamp(begun + poll * PERIOD, UTC),
                )
                for poll in range(DAY)
            ],
            batch_size=500,
        )
    size = 0.0
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_total_relation_size('bench_row')")
            size = cursor.fetchone()[0] / Row.objects.count()
    return Row.objects.filter(subject="node00003", metric="cpu"), size


def main() -> None:
    """Bring the tables up to date and do what the words say."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    what, *words = sys.argv[1:]
    done = traces(*words) if what == "traces" else {"ingest": ingest, "day": day}[what](*map(int, words))
    sys.stdout.write(json.dumps(done) + "\n")


if __name__ == "__main__":
    main()
