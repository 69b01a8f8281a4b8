"""Keeping what was measured: a frame per page of series, and the newest figures of all in the snapshot."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence

import numpy as np
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from gridportal.base.errors import InputError
from monitoring.clusters.models import Cluster
from monitoring.forecasting.services import forecasts
from monitoring.history.core import tiers as spans
from monitoring.history.core.arrivals import LIKELY_IN_FUTURE, Arrivals, arrivals, plausible
from monitoring.history.core.blocks import encode_frame
from monitoring.history.core.directory import NEVER, Directory, Figures
from monitoring.history.core.samples import Sample
from monitoring.history.models import Frame, Page, Snapshot
from monitoring.history.selectors import store
from monitoring.history.services import duplicates as doubles
from monitoring.telemetry.models import Source
from monitoring.telemetry.services.last_figures import write_samples
from monitoring.telemetry.services.sources import note_source, source_row

log = logging.getLogger(__name__)
#: As many series as one cluster may have: each takes some kilobytes, and is kept for good.
MOST_SERIES = 1_000_000


def record_readings(cluster_name: str, source: str, samples: Sequence[Sample], *, cost_bytes: int = 0) -> int:
    """Keep samples of a source; returns how many were new.

    Late, doubled and unordered ones do no harm: of one moment of a series the last value counts, and a moment of which
    only the mean of its minute is left stays as it is. Values that are no numbers and moments ahead of the clock are
    dropped, and so are new series beyond MOST_SERIES. Two at once wait for each other. Raises InputError for names that
    are empty or too long, and where there is no room for any of the series.
    """
    good: Sequence[Sample] = plausible(samples, timezone.now().timestamp())
    if len(good) < len(samples):
        log.warning("source %s of %s: %d samples cannot be", source, cluster_name, len(samples) - len(good))
    if not good:
        return 0
    owner = source_row(cluster_name, source).cluster
    with transaction.atomic():
        row = _locked(owner)
        good = _with_room(row, good, source)
        directory = _grown(row, good, source)
        figures = Figures.unpacked(bytes(row.figures), len(directory))
        came = arrivals(good, directory.numbers)
        new, changed = _sorted_out(owner, came, figures)
        _keep(owner, new, changed)
        _let_go(figures, timezone.now().timestamp())
        newer = came.only(came.at > figures.columns["at"][came.numbers])
        _bring_up_to_date(figures, came.newest(), directory.sources.index(source))
        forecasts.advance(row, figures, newer)
        row.figures, row.updates = figures.packed(), row.updates + 1
        row.save()
        Source.objects.filter(cluster=owner, name=source).update(samples=F("samples") + len(new))
        write_samples(owner, good)
    newest = float(came.at.max()) / 1000
    note_source(cluster_name, source, ok_at=min(newest, timezone.now().timestamp()), cost_bytes=cost_bytes)
    return len(new)


def _locked(owner: Cluster) -> Snapshot:
    Snapshot.objects.get_or_create(
        cluster=owner, defaults={"edition": uuid.uuid4(), "names": Directory().packed(), "figures": b""}
    )
    return Snapshot.objects.select_for_update().get(cluster=owner)


def _with_room(row: Snapshot, samples: Sequence[Sample], source: str) -> Sequence[Sample]:
    """The samples for which there is room: those of known series where the new ones would be too many, as of a source
    that makes up names. Raises InputError where none is left."""
    numbers = store.directory_of(row.edition, row.names).numbers
    if len(numbers) + len(samples) <= MOST_SERIES:
        return samples
    new = {(sample.subject, sample.metric) for sample in samples} - numbers.keys()
    if len(numbers) + len(new) <= MOST_SERIES:
        return samples
    left = [sample for sample in samples if (sample.subject, sample.metric) in numbers]
    log.warning(
        "source %s of %s: %d new series where %d in all are the most", source, row.cluster, len(new), MOST_SERIES
    )
    if not left:
        raise InputError("series", len(numbers) + len(new), f"at most {MOST_SERIES} of one cluster")
    return left


def _grown(row: Snapshot, samples: Sequence[Sample], source: str) -> Directory:
    """The directory with all series of the samples; written down, and kept in this process, when it had to grow."""
    directory = store.directory_of(row.edition, row.names)
    grown = directory.grown(samples, source)
    if grown is not directory:
        row.edition, row.names = uuid.uuid4(), grown.packed()
        edition = row.edition
        transaction.on_commit(lambda: store.remember(edition, grown))
    return grown


def _sorted_out(owner: Cluster, came: Arrivals, figures: Figures) -> tuple[Arrivals, Arrivals]:
    """What is new, and what is known with another value. Only what is not newer than all else is looked up."""
    fresh = came.at > figures.columns["at"][came.numbers]
    if fresh.all():
        return came, came.only(~fresh)
    late = came.only(~fresh)
    missing, other = doubles.compared(owner, late)
    new = fresh.copy()
    new[~fresh] = missing
    return came.only(new), late.only(other)


def _keep(owner: Cluster, new: Arrivals, changed: Arrivals) -> None:
    kept = new.joined(changed)
    pages = _pages(owner, np.unique(kept.numbers // spans.PAGE).tolist())
    frames = []
    for place, part in kept.by(spans.PAGE):
        oldest, newest = int(part.at.min()), int(part.at.max())
        data = encode_frame(part.numbers, part.at, part.values)
        frames.append(Frame(page_id=pages[place], oldest=oldest, newest=newest, samples=len(part), data=data))
    Frame.objects.bulk_create(frames, batch_size=100)


def _pages(owner: Cluster, numbers: list[int]) -> dict[int, int]:
    """Keys of the pages by number, those that are not there yet are made."""
    keys = dict(Page.objects.filter(cluster=owner).values_list("number", "pk"))
    new = [number for number in numbers if number not in keys]
    if new:
        Page.objects.bulk_create([Page(cluster=owner, number=number) for number in new])
        keys = dict(Page.objects.filter(cluster=owner).values_list("number", "pk"))
    return keys


def _let_go(figures: Figures, now: float) -> None:
    """Figures from a time that has yet to come are of a clock that was set back since: what comes in now is newer."""
    at = figures.columns["at"]
    at[at > (now + LIKELY_IN_FUTURE) * 1000] = NEVER


def _bring_up_to_date(figures: Figures, newest: Arrivals, source: int) -> None:
    columns = figures.columns
    late = newest.at < columns["at"][newest.numbers]
    now = newest.only(~late)
    columns["value"][now.numbers], columns["at"][now.numbers] = now.values, now.at
    columns["source"][now.numbers] = source
