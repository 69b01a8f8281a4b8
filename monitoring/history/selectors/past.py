"""What all series of a cluster were at a moment of the past, read together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

import numpy as np
from django.conf import settings
from django.db.models import Q

from monitoring.history.core import tiers as spans
from monitoring.history.core.blocks import decode, decode_frame
from monitoring.history.core.samples import Live, Series
from monitoring.history.models import Block, Frame, Page
from monitoring.history.selectors import store

#: A value counts for as long after it was measured, in seconds: a busy network is measured every few minutes.
HOLDS = 900.0
Reading = tuple[int, int, float]  # number of the series, milliseconds, value


def values_at(cluster_name: str, at: datetime, metrics: Collection[str]) -> dict[Series, Live]:
    """The last value before `at` of every series with one of the `metrics`, by (subject, metric).

    What was measured longer before than HOLDS is left out: it is not what was known then. Of history that is rolled up
    it is the mean of the minute or hour. `source` is who measured the series last. Four queries, whatever the range.
    """
    stored = store.stored_series(cluster_name)
    if stored is None or stored.figures is None:
        return {}
    wanted = {number for number, (_, metric) in enumerate(stored.directory.series) if metric in metrics}
    newest = int(at.timestamp() * 1000)
    best: dict[int, tuple[int, float]] = {}
    for number, moment, value in _values(cluster_name, wanted, newest):
        if number not in best or moment >= best[number][0]:
            best[number] = (moment, value)
    directory, places = stored.directory, stored.figures.columns["source"]
    return {
        directory.series[number]: Live(value, moment / 1000, directory.sources[int(places[number])])
        for number, (moment, value) in best.items()
    }


def _values(cluster: str, wanted: set[int], newest: int) -> Iterator[Reading]:
    """Of blocks first, then of frames in the order in which they came: of one moment the last counts."""
    pages = dict(Page.objects.filter(cluster__name=cluster).values_list("pk", "number"))
    here = [pk for pk, number in pages.items() if any(n // spans.PAGE == number for n in wanted)]
    held = int(max(HOLDS, 6 * settings.PORTAL.measure_every) * 1000)
    tiers = Q()
    for tier, step in spans.STEP.items():
        tiers |= Q(tier=tier, start__gte=spans.start_of(tier, newest - held - step), start__lte=newest)
    rows = Block.objects.filter(tiers, page__in=here).values_list("tier", "group", "data")
    for tier, group, data in rows.order_by("-tier"):
        oldest = newest - held - (spans.STEP[tier] if tier else 0)
        yield from _of_block(bytes(data), group, wanted, oldest, newest)
    frames = Frame.objects.filter(page__in=here, newest__gte=newest - held, oldest__lte=newest)
    for (data,) in frames.order_by("pk").values_list("data"):
        numbers, timestamps, values = decode_frame(bytes(data))
        there = (timestamps <= newest) & (timestamps >= newest - held)
        readings = zip(numbers[there].tolist(), timestamps[there].tolist(), values[there].tolist(), strict=True)
        yield from (one for one in readings if one[0] in wanted)


def _of_block(data: bytes, group: int, wanted: set[int], oldest: int, newest: int) -> Iterable[Reading]:
    first = group * spans.GROUP
    if wanted.isdisjoint(range(first, first + spans.GROUP)):
        return
    for slot, column in decode(data).items():
        place = int(np.searchsorted(column.at, newest, side="right")) - 1
        if first + slot in wanted and place >= 0 and column.at[place] >= oldest:
            yield first + slot, int(column.at[place]), float(column.values[0, place])
