"""Which late samples the store has already."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitoring.clusters.models import Cluster
from monitoring.history.core import tiers as spans
from monitoring.history.core.arrivals import Arrivals, in_order
from monitoring.history.core.blocks import decode, decode_frame
from monitoring.history.core.levels import COARSE, rounded
from monitoring.history.core.samples import Floats, Ints
from monitoring.history.models import Block, Frame

Flags = NDArray[np.bool_]
Parts = list[tuple[Ints, Ints, Floats]]
#: Milliseconds take fewer bits than these.
_TIME_BITS = 44


def compared(owner: Cluster, late: Arrivals) -> tuple[Flags, Flags]:
    """For each late sample: is its moment missing, and is another value known of it? Neither where a minute or an
    hour that has been rolled up covers it. Two queries per page."""
    missing, other = np.ones(len(late), bool), np.zeros(len(late), bool)
    done = 0
    for page, part in late.by(spans.PAGE):
        here = slice(done, done := done + len(part))
        missing[here], other[here] = _page(owner, page, part)
    return missing, other


def _page(owner: Cluster, page: int, part: Arrivals) -> tuple[Flags, Flags]:
    stored = _stored(owner, page, part)
    found, same = _match(_together(stored[spans.RAW] + _framed(owner, page, part)), part)
    for tier in (spans.MINUTES, spans.HOURS):
        points = _together(stored[tier])
        covered = np.isin(_keys(part.numbers, part.at - part.at % spans.STEP[tier]), _keys(points.numbers, points.at))
        found, same = found | covered, same | covered
    return ~found, found & ~same


def _match(earlier: Arrivals, part: Arrivals) -> tuple[Flags, Flags]:
    """Of which samples the moment is known, and of which the value is what is known, but for rounding."""
    if not len(earlier):
        return np.zeros(len(part), bool), np.zeros(len(part), bool)
    keys, wanted = _keys(earlier.numbers, earlier.at), _keys(part.numbers, part.at)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = keys[place] == wanted
    stored, values = earlier.values[place], part.values
    fine = rounded(values)
    coarse = (stored == rounded(values, COARSE)) | (stored == rounded(fine, COARSE))
    same = (stored == values) | (stored == fine) | coarse
    return found, found & same


def _keys(numbers: Ints, at: Ints) -> Ints:
    """Series and moment as one number, in the order of both."""
    keys: Ints = (numbers << _TIME_BITS) + at
    return keys


def _together(parts: Parts) -> Arrivals:
    """In order; of doubles the last part's value counts."""
    empty = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return in_order(*(np.concatenate(column) for column in zip(empty, *parts, strict=True)))


def _framed(owner: Cluster, page: int, part: Arrivals) -> Parts:
    frames = Frame.objects.filter(
        page__cluster=owner, page__number=page, newest__gte=int(part.at.min()), oldest__lte=int(part.at.max())
    )
    return [decode_frame(bytes(data)) for data in frames.order_by("pk").values_list("data", flat=True)]


def _stored(owner: Cluster, page: int, part: Arrivals) -> dict[int, Parts]:
    """By tier, from the blocks in which the samples would lie; of points only their means."""
    groups = part.numbers // spans.GROUP
    starts = {tier: part.at - part.at % span for tier, span in spans.SPAN.items()}
    wanted = {
        (tier, group, start)
        for tier in spans.SPAN
        for group, start in np.unique(np.stack([groups, starts[tier]]), axis=1).T.tolist()
    }
    rows = Block.objects.filter(
        page__cluster=owner,
        page__number=page,
        group__in={group for _, group, _ in wanted},
        start__in={start for _, _, start in wanted},
    )
    found: dict[int, Parts] = {tier: [] for tier in spans.SPAN}
    for tier, group, start, data in rows.values_list("tier", "group", "start", "data"):
        if (tier, group, start) in wanted:
            for slot, column in decode(bytes(data)).items():
                number = np.full(len(column), group * spans.GROUP + slot)
                found[tier].append((number, column.at, column.values[0]))
    return found
