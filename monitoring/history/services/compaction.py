"""Moving frames into blocks, and what is old into coarser tiers, a page at a time.

Each page is one transaction under the page's lock: whoever is killed in the midst has changed nothing, and two at once
take different pages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import timedelta

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Count, Min, Q
from django.utils import timezone

from monitoring.history.core import tiers as spans
from monitoring.history.core.arrivals import Arrivals
from monitoring.history.core.blocks import Column, decode, decode_frame, encode, merged
from monitoring.history.core.rollup import filled, rolled
from monitoring.history.models import Block, Frame, Page

#: A page's frames are moved when there are so many, or when the first is so old: readers go through all of them.
MOST_FRAMES = 30
MOST_WAIT = timedelta(minutes=30)
Blocks = dict[tuple[int, int], dict[int, Column]]


def compact(cluster_name: str, *, everything: bool = False, seconds: float = 30.0) -> int:
    """Move the frames of pages that have many, or of all, into blocks; begins no page after `seconds`. Returns how many
    frames were moved."""
    pages = Page.objects.filter(cluster__name=cluster_name).annotate(n=Count("frames"), first=Min("frames__kept_at"))
    due = Q(n__gte=MOST_FRAMES) | Q(first__lte=timezone.now() - MOST_WAIT)
    wanted = pages.filter(n__gt=0) if everything else pages.filter(due)
    return _in_time(wanted.order_by("-n").values_list("pk", flat=True), compact_page, seconds)


def age(cluster_name: str, *, now: float, seconds: float = 30.0) -> int:
    """Roll up or drop what is older than the settings say, as of `now` (Unix seconds); begins no page after `seconds`.
    Returns how many blocks went."""
    ends = _ends(now)
    old = Q(pk__in=())
    for tier, end in ends.items():
        old |= Q(blocks__tier=tier, blocks__start__lte=end - spans.SPAN[tier])
    pages = Page.objects.filter(old, cluster__name=cluster_name).distinct().values_list("pk", flat=True)
    return _in_time(pages, lambda page: age_page(page, now=now), seconds)


@transaction.atomic
def compact_page(page: int) -> int:
    """Move all frames of a page into its raw blocks; returns how many. Nothing where another one is at it."""
    if not _lock(page):
        return 0
    frames = list(Frame.objects.filter(page=page).order_by("pk").values_list("pk", "data"))
    if not frames:
        return 0
    parts = [decode_frame(bytes(data)) for _, data in frames]
    came = Arrivals(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    new = _by_block(came)
    old = _read(page, spans.RAW, new)
    for key, columns in new.items():
        before = old.get(key, {})
        columns.update({slot: merged(before.get(slot), column) for slot, column in columns.items()})
        columns.update({slot: column for slot, column in before.items() if slot not in columns})
    _write(page, spans.RAW, new)
    Frame.objects.filter(pk__in=[pk for pk, _ in frames]).delete()
    return len(frames)


@transaction.atomic
def age_page(page: int, *, now: float) -> int:
    """Raw blocks that are too old become points of minutes, these points of hours, and these go. Returns how many
    blocks went. Nothing where another one is at it."""
    if not _lock(page):
        return 0
    ends, gone = _ends(now), 0
    for tier in (spans.RAW, spans.MINUTES):
        gone += _roll_up(page, tier, ends[tier])
    last = Block.objects.filter(page=page, tier=spans.HOURS, start__lte=ends[spans.HOURS] - spans.SPAN[spans.HOURS])
    return gone + last.delete()[0]


def _roll_up(page: int, tier: int, end: int) -> int:
    above = tier + 1
    old = Block.objects.filter(page=page, tier=tier, start__lte=end - spans.SPAN[tier])
    rows = list(old.order_by("start").values_list("pk", "group", "data"))
    new: Blocks = {}
    for _, group, data in rows:
        for slot, column in decode(bytes(data)).items():
            points = rolled(column, spans.STEP[above])
            for start, part in _by_span(points, above):
                mine = new.setdefault((group, start), {})
                mine[slot] = filled(mine[slot], part) if slot in mine else part
    before = _read(page, above, new)
    for key, columns in new.items():
        for slot, stored in before.get(key, {}).items():
            columns[slot] = filled(stored, columns[slot]) if slot in columns else stored
    _write(page, above, new)
    return Block.objects.filter(pk__in=[pk for pk, _, _ in rows]).delete()[0] if rows else 0


def _by_block(came: Arrivals) -> Blocks:
    """Raw columns by (group, start) and slot, in the order in which they came."""
    order = np.argsort(came.numbers, kind="stable")
    found: Blocks = {}
    for number, part in Arrivals(came.numbers[order], came.at[order], came.values[order]).by(1):
        for start, column in _by_span(merged(None, Column(part.at, part.values[None])), spans.RAW):
            found.setdefault((number // spans.GROUP, start), {})[number % spans.GROUP] = column
    return found


def _by_span(column: Column, tier: int) -> Iterable[tuple[int, Column]]:
    starts = column.at - column.at % spans.SPAN[tier]
    for start in np.unique(starts).tolist():
        here = slice(*np.searchsorted(starts, [start, start + 1]).tolist())
        yield start, Column(column.at[here], column.values[:, here])


def _read(page: int, tier: int, keys: Iterable[tuple[int, int]]) -> Blocks:
    wanted = set(keys)
    rows = Block.objects.filter(page=page, tier=tier, start__in={start for _, start in wanted})
    found = rows.values_list("group", "start", "data")
    return {(group, start): decode(bytes(data)) for group, start, data in found if (group, start) in wanted}


def _write(page: int, tier: int, blocks: Blocks) -> None:
    rows = [
        Block(
            page_id=page,
            group=group,
            tier=tier,
            start=start,
            data=encode(columns),
            samples=sum(len(column) for column in columns.values()),
        )
        for (group, start), columns in blocks.items()
    ]
    Block.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["page", "group", "tier", "start"],
        update_fields=["samples", "data"],
        batch_size=50,
    )


def _lock(page: int) -> bool:
    return Page.objects.select_for_update(skip_locked=True).filter(pk=page).first() is not None


def _ends(now: float) -> dict[int, int]:
    """Until when blocks of each tier are too old, milliseconds."""
    portal = settings.PORTAL
    keep = {spans.RAW: portal.keep_raw, spans.MINUTES: portal.keep_minutes, spans.HOURS: portal.keep_hours}
    return {tier: int((now - seconds) * 1000) for tier, seconds in keep.items()}


def _in_time(pages: Iterable[int], work: Callable[[int], int], seconds: float) -> int:
    until = time.monotonic() + seconds
    done = 0
    for page in list(pages):
        if time.monotonic() > until:
            break
        done += work(page)
    return done
