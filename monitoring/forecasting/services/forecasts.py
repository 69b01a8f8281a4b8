"""Forecasts beside the newest values: the mixtures of all series of a cluster take every sample that is recorded.

Their state is a file in the portal's home that all its processes map into memory, because at some kilobytes a series
no process could keep it for itself. Whoever records holds the snapshot's lock, so one at a time writes it. The file
says how many recordings of which snapshot it has seen; where that is not what the snapshot says (another machine
recorded, a recording failed after the file was written, the file is gone), the recent history is replayed.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from gridportal.base import folders
from monitoring.forecasting.core.forecasting import Mixture
from monitoring.forecasting.core.forecasting.mixture import ROWS
from monitoring.history.core import tiers as spans
from monitoring.history.core.arrivals import Arrivals, in_order
from monitoring.history.core.blocks import decode, decode_frame
from monitoring.history.core.directory import Figures
from monitoring.history.core.samples import Floats
from monitoring.history.models import Block, Frame, Snapshot

log = logging.getLogger(__name__)
_HEAD = 4096
_BLOCK = 1024
_UNSURE = -1
#: How much is replayed: so many samples of each series, and so many in all, which takes some seconds.
_REPLAYED, _MOST = 120, 2_000_000


class _Mapped(Mixture):
    """A mixture whose state lies in a file."""

    def __init__(self, blocks: list[Floats]) -> None:
        self._blocks, self._series = blocks, _BLOCK * len(blocks)


def advance(row: Snapshot, figures: Figures, came: Arrivals) -> None:
    """Let the mixtures take what came in and is newer than all before; their forecasts go into `figures`. To be
    called under the snapshot's lock, before `row.updates` counts this recording; `came` is already in the store.
    Where the file cannot be, as on a full disk, those series have no forecasts, and recording goes on."""
    size = len(figures.columns["at"])
    try:
        head, mixture = _state(row, size)
    except OSError as error:
        log.warning("There are no forecasts for %s: %s", row.cluster.name, error)
        figures.columns["forecast"][came.numbers] = np.nan
        return
    if head["updates"][0] == row.updates:
        head["updates"] = _UNSURE  # until this is done
        _take(mixture, came)
    else:
        _replay(row, mixture, size)
    _tell(mixture, figures, size)
    head["updates"] = row.updates + 1


def _state(row: Snapshot, size: int) -> tuple[NDArray[np.void], Mixture]:
    """The head and the mixture of the cluster's file, made or made longer where need be; unmapped when both are
    forgotten."""
    path = _path(row.cluster_id)
    path.touch(mode=0o600)
    have = max(0, path.stat().st_size - _HEAD) // (8 * ROWS * _BLOCK)
    length = _HEAD + 8 * ROWS * _BLOCK * max(-(-size // _BLOCK), have)
    if path.stat().st_size < length:
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, length)  # a hole for which no disk has room would end the process
    whole = np.asarray(np.memmap(path, np.uint8, "r+", shape=(length,)))
    head = whole[:_HEAD].view([("rows", "<i8"), ("updates", "<i8"), ("lineage", "S32"), ("rest", "V4048")])
    if (head["rows"][0], head["lineage"][0]) != (ROWS, row.lineage.hex.encode()):
        head["rows"], head["lineage"], head["updates"] = ROWS, row.lineage.hex.encode(), _UNSURE
    return head, _Mapped(list(whole[_HEAD:].view(np.float64).reshape(-1, ROWS, _BLOCK)))


def _take(mixture: Mixture, came: Arrivals) -> None:
    """Sample by sample where a series has several; of a long backlog the last ones, as they are all that count."""
    last = np.append(came.numbers[1:] != came.numbers[:-1], True)[: len(came)]
    ends = np.flatnonzero(last)
    to_go = np.repeat(ends, np.diff(np.append(-1, ends))) - np.arange(len(came))
    for turn in range(min(_REPLAYED - 1, int(to_go.max(initial=-1))), -1, -1):
        now = came.only(to_go == turn)
        values = np.full(mixture.series, np.nan)
        values[now.numbers] = now.values
        mixture.update(values)


def _replay(row: Snapshot, mixture: Mixture, size: int) -> None:
    """From nothing, with the last samples of every series."""
    for block in mixture._blocks:
        block[:] = 0.0
    most = max(2, min(_REPLAYED, _MOST // max(1, size)))
    values = np.full((mixture.series, most), np.nan)
    for page in row.cluster.pages.all():
        recent = _recent(page.pk, most)
        for number in np.unique(recent.numbers).tolist():
            here = slice(*np.searchsorted(recent.numbers, [number, number + 1]).tolist())
            last = recent.values[here][-most:]
            values[number, most - len(last) :] = last
    for turn in range(most):
        if np.isfinite(values[:, turn]).any():
            mixture.update(values[:, turn])


def _recent(page: int, most: int) -> Arrivals:
    """The raw samples of a page: of its newest two spans, and what is still in frames."""
    numbers, at, values = [], [], []
    newest = Block.objects.filter(page=page, tier=spans.RAW).order_by("-start").values_list("start", flat=True).first()
    rows = Block.objects.filter(page=page, tier=spans.RAW, start__gte=(newest or 0) - spans.SPAN[spans.RAW])
    for group, data in rows.order_by("start").values_list("group", "data"):
        for slot, column in decode(bytes(data)).items():
            numbers.append(np.full(min(most, len(column)), group * spans.GROUP + slot))
            at.append(column.at[-most:])
            values.append(column.values[0][-most:])
    for data in Frame.objects.filter(page=page).order_by("pk").values_list("data", flat=True):
        for parts, part in zip((numbers, at, values), decode_frame(bytes(data)), strict=True):
            parts.append(part)
    if not numbers:
        return Arrivals(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return in_order(np.concatenate(numbers), np.concatenate(at), np.concatenate(values))


def _tell(mixture: Mixture, figures: Figures, size: int) -> None:
    forecast = mixture.forecast()
    columns = figures.columns
    columns["forecast"][:] = forecast.value[:size]
    columns["error"][:] = forecast.error[:size]
    columns["predictor"][:] = np.maximum(forecast.predictor[:size], 0)


def _path(cluster: int) -> Path:
    folder = settings.PORTAL.make_home() / "forecasts"
    return folders.private(folder, "GRIDPORTAL_HOME") / f"{cluster}.state"
