"""Asking the sources of a cluster, each at most by one worker at a time, and keeping what they say."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from gridportal.base.errors import BackendError, GridPortalError
from gridportal.database.row_lease import RowLease
from monitoring.history.core.directory import nameable
from monitoring.history.core.samples import Collected
from monitoring.telemetry.adapters.base import SourceAdapter
from monitoring.telemetry.models import Source
from monitoring.telemetry.services.readings import record_readings
from monitoring.telemetry.services.sources import note_source, source_row, sources_of

log = logging.getLogger(__name__)
_AT_ONCE = 8
_lease = RowLease(Source, "polling")
Answer = tuple[Collected | Exception, float]


def poll(cluster: str) -> int:
    """Ask every source that nobody else is asking; returns how many samples were new. One that fails is noted and
    holds up no other, also where the fault is ours: that is raised once what the others said is kept. Raises
    InputError for a cluster that is not set up."""
    sources = {source_row(cluster, source.name, source.kind).pk: source for source in sources_of(cluster)}
    with _lease.hold(Source.objects.filter(pk__in=sources)) as holder:
        if not holder:
            return 0
        mine = Source.objects.filter(pk__in=sources, polling_holder=holder).values_list("pk", flat=True)
        acquired = [source for pk, source in sources.items() if pk in set(mine)]
        with ThreadPoolExecutor(min(_AT_ONCE, len(acquired))) as threads:
            answers = list(zip(acquired, threads.map(_ask, acquired), strict=True))
        return _keep_all(cluster, answers)


def _ask(source: SourceAdapter) -> Answer:
    """In a thread of its own, and without the database."""
    begun = time.monotonic()
    try:
        return source.collect(time.time()), time.monotonic() - begun
    except Exception as error:  # noqa: BLE001  (raised by _keep_all once the others' answers are kept)
        return error, time.monotonic() - begun


def _keep_all(cluster: str, answers: Sequence[tuple[SourceAdapter, Answer]]) -> int:
    new, faults = 0, []
    for source, answer in answers:
        try:
            new += _keep(cluster, source, answer)
        except Exception as error:  # noqa: BLE001  (raised below, once the others' answers are kept)
            why = str(error) if isinstance(error, GridPortalError) else type(error).__name__
            note_source(cluster, source.name, error=f"What it says could not be kept ({why}).")
            faults.append(error)
    if faults:
        raise faults[0]
    return new


def _keep(cluster: str, source: SourceAdapter, answer: Answer) -> int:
    collected, seconds = answer
    if isinstance(collected, BackendError):
        note_source(cluster, source.name, error=str(collected), cost_seconds=seconds)
        log.info("source %s of cluster %s did not answer: %s", source.name, cluster, collected)
        return 0
    if isinstance(collected, Exception):
        raise collected
    good = [sample for sample in collected.samples if nameable(sample)]
    new = record_readings(cluster, source.name, good)
    note_source(
        cluster,
        source.name,
        ok_at=time.time(),
        error="; ".join(filter(None, [collected.error_message, _refused(len(collected.samples) - len(good))])),
        lag=collected.lag,
        cost_bytes=collected.cost_bytes,
        cost_seconds=seconds,
    )
    return new


def _refused(count: int) -> str:
    return f"{count} samples have names that are empty, too long or not printable" if count else ""
