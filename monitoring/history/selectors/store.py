"""Reading the store: names of series, newest figures, and one series over time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import BinaryField, Case, F, Value, When

from monitoring.clusters.models import Cluster
from monitoring.history.core import tiers as spans
from monitoring.history.core.blocks import ROLLED, Column, decode, decode_frame, merged
from monitoring.history.core.directory import Directory, Figures
from monitoring.history.core.rollup import filled, rolled
from monitoring.history.core.samples import Series
from monitoring.history.models import Block, Frame, Page, Snapshot

NOTHING = Column(np.empty(0, np.int64), np.empty((1, 0)))
NOTHING_ROLLED = Column(np.empty(0, np.int64), np.empty((ROLLED, 0)))
_KEPT = 16
_EDITION = f"""
    SELECT s.edition FROM {Snapshot._meta.db_table} s JOIN {Cluster._meta.db_table} c ON c.id = s.cluster_id
    WHERE c.name = %s"""  # noqa: S608
_SERIES = f"""
    SELECT -1, f.id, f.data FROM {Frame._meta.db_table} f
    WHERE f.page_id = %s AND f.newest >= %s AND f.oldest <= %s
    UNION ALL
    SELECT b.tier, b.start, b.data FROM {Block._meta.db_table} b
    WHERE b.page_id = %s AND b."group" = %s AND b.start <= %s AND ({{which}})"""  # noqa: S608
_MOST_PAGES = 10_000
_directories: OrderedDict[UUID, Directory] = OrderedDict()
_figures: OrderedDict[UUID, tuple[bytes, Figures]] = OrderedDict()
_pages: dict[tuple[UUID, int], int] = {}


@dataclass(frozen=True)
class StoredSeries:
    """A cluster's names, and its figures where they were asked for."""

    directory: Directory
    figures: Figures | None


def stored_series(cluster_name: str, *, figures: bool = True) -> StoredSeries | None:
    """What is known of a cluster; None while nothing was recorded. One query, which brings the names only where this
    process has not got them."""
    here = list(_directories)
    names = Case(
        When(edition__in=here, then=Value(None, output_field=BinaryField())),
        default=F("names"),
        output_field=BinaryField(),
    )
    columns = ("edition", "wanted_names", *(["figures"] if figures else []))
    row = Snapshot.objects.filter(cluster__name=cluster_name).annotate(wanted_names=names).values(*columns).first()
    if row is None:
        return None
    directory = directory_of(row["edition"], row["wanted_names"])
    return StoredSeries(
        directory, _unpacked(row["edition"], bytes(row["figures"]), len(directory)) if figures else None
    )


def _unpacked(edition: UUID, packed: bytes, size: int) -> Figures:
    """Once for the same figures, which many ask for between two rounds of telemetry; nobody can write into them."""
    known = _figures.pop(edition, None)
    if known is None or known[0] != packed:
        known = packed, Figures.unpacked(packed, size)
        for column in known[1].columns.values():
            column.setflags(write=False)
    _figures[edition] = known
    while len(_figures) > _KEPT:
        _figures.popitem(last=False)
    return known[1]


def directory_of(edition: UUID, names: bytes | memoryview | None) -> Directory:
    """The directory of an edition; `names` may be missing where this process has it."""
    found = _directories.get(edition)
    if found is None:
        found = Directory.unpacked(bytes(names or b""))
        remember(edition, found)
    return found


def remember(edition: UUID, directory: Directory) -> None:
    """Keep a directory for the next time; the oldest of many is forgotten."""
    _directories[edition] = directory
    while len(_directories) > _KEPT:
        _directories.popitem(last=False)


@dataclass(frozen=True)
class Place:
    """Where a series is: the key of its page, and its number."""

    page: int
    number: int


def place_of(cluster_name: str, names: Series) -> Place | None:
    """Where a series is; None for one that was never recorded. One query, two more where this process has not yet
    been there."""
    rows = _rows(_EDITION, [cluster_name])
    if not rows:
        return None
    edition = UUID(str(rows[0][0]))
    directory = _directories.get(edition)
    if directory is None:
        stored = stored_series(cluster_name, figures=False)
        directory = stored.directory if stored else Directory()
    number = directory.numbers.get(names)
    page = None if number is None else _page(edition, cluster_name, number // spans.PAGE)
    return None if number is None or page is None else Place(page, number)


def column(place: Place, oldest: int, newest: int, tier: int) -> Column:
    """One series between two moments (ms, both included) in the resolution of `tier`.

    One statement reads frames and blocks, so that what is moved from the ones into the others meanwhile is seen once.
    """
    step = spans.STEP[tier]
    oldest, newest = oldest - oldest % step, newest - newest % step + step - 1
    frames, stored = _read(place, oldest, newest, tier)
    found = stored[spans.RAW]
    if frames:
        found = merged(found, _fresh(frames, place.number))
    for coarser in range(spans.MINUTES, tier + 1):
        found = filled(stored[coarser], rolled(found, spans.STEP[coarser]))
    within = slice(*np.searchsorted(found.at, [oldest, newest + 1]).tolist())
    return Column(found.at[within], found.values[:, within])


def _page(edition: UUID, cluster_name: str, number: int) -> int | None:
    """The key of a page, which never changes."""
    if (edition, number) not in _pages:
        key = Page.objects.filter(cluster__name=cluster_name, number=number).values_list("pk", flat=True).first()
        if key is None:
            return None
        if len(_pages) > _MOST_PAGES:
            _pages.clear()
        _pages[edition, number] = key
    return _pages[edition, number]


def _read(place: Place, oldest: int, newest: int, tier: int) -> tuple[list[bytes], dict[int, Column]]:
    """Frames in the order in which they came, and by tier what is in blocks."""
    group, slot = divmod(place.number, spans.GROUP)
    tiers = range(tier + 1)
    which = " OR ".join(["(b.tier = %s AND b.start >= %s)"] * len(tiers))
    bounds = [bound for each in tiers for bound in (each, spans.start_of(each, oldest))]
    parameters = [place.page, oldest, newest, place.page, group, newest, *bounds]
    rows = _rows(_SERIES.format(which=which), parameters)
    frames, found = [], dict.fromkeys(tiers, NOTHING) | {each: NOTHING_ROLLED for each in tiers if each != spans.RAW}
    columns: dict[int, list[Column]] = {}
    for each, _, data in sorted(rows, key=lambda row: row[:2]):
        if each < 0:
            frames.append(bytes(data))
        else:
            columns.setdefault(each, []).extend(decode(bytes(data), slot).values())
    return frames, found | {each: _joined(parts) for each, parts in columns.items() if parts}


def _fresh(frames: list[bytes], number: int) -> Column:
    at, values = [], []
    for frame in frames:
        numbers, timestamps, found = decode_frame(frame)
        here = slice(*np.searchsorted(numbers, [number, number + 1]).tolist())
        at.append(timestamps[here])
        values.append(found[here])
    return Column(np.concatenate(at), np.concatenate(values)[None])


def _joined(columns: list[Column]) -> Column:
    return Column(np.concatenate([c.at for c in columns]), np.concatenate([c.values for c in columns], axis=1))


def _rows(statement: str, parameters: Sequence[Any]) -> list[Any]:
    """The answer to a statement that is asked so often that building it anew would take most of the time."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
