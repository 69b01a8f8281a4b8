"""Which number a series has, and the newest figures of all series as arrays in the order of these numbers."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridportal.base.errors import InputError
from monitoring.history.core.samples import METRIC_LENGTH, SUBJECT_LENGTH, Forecast, Live, Sample, Series

_LEVEL = 1
#: The time of a series that was never seen.
NEVER = np.iinfo(np.int64).min
#: One series: newest value, its time (ms), place of its source, forecast of the next value, its error, the predictor.
_FIGURE = {"value": "<f8", "at": "<i8", "source": "<u2", "forecast": "<f4", "error": "<f4", "predictor": "u1"}


@dataclass(frozen=True)
class Directory:
    """Series in the order of their numbers, and the names of sources. Grows at the end only."""

    series: Sequence[Series] = ()
    sources: Sequence[str] = ()
    numbers: Mapping[Series, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.series)

    @cached_property
    def by_metric(self) -> Mapping[str, Sequence[int]]:
        """The numbers of the series of each metric, rising."""
        found: dict[str, list[int]] = {}
        for number, (_, metric) in enumerate(self.series):
            found.setdefault(metric, []).append(number)
        return found

    def packed(self) -> bytes:
        """As it is stored."""
        document = {"sources": list(self.sources), "series": [list(names) for names in self.series]}
        return zlib.compress(json.dumps(document, separators=(",", ":")).encode(), _LEVEL)

    @classmethod
    def unpacked(cls, packed: bytes) -> Directory:
        """What `packed` made; of nothing the empty one."""
        if not packed:
            return cls()
        document = json.loads(zlib.decompress(packed))
        series = [(subject, metric) for subject, metric in document["series"]]
        return cls(series, document["sources"], {names: number for number, names in enumerate(series)})

    def grown(self, samples: Iterable[Sample], source: str) -> Directory:
        """With the series of the samples and the source; itself where it has them. New series of one subject stand
        together. Raises InputError for names that are empty or too long."""
        new = {(s.subject, s.metric) for s in samples if (s.subject, s.metric) not in self.numbers}
        if not new and source in self.sources:
            return self
        series = [*self.series, *sorted(map(_named, new))]
        sources = self.sources if source in self.sources else [*self.sources, source]
        return Directory(series, sources, {names: number for number, names in enumerate(series)})


@dataclass
class Figures:
    """Arrays with a place for every series; those that were never seen have no time."""

    columns: dict[str, NDArray[Any]]

    def packed(self) -> bytes:
        """As it is stored: a column behind the other."""
        whole = b"".join(self.columns[name].astype(kind).tobytes() for name, kind in _FIGURE.items())
        return zlib.compress(whole, _LEVEL)

    @classmethod
    def unpacked(cls, packed: bytes, size: int) -> Figures:
        """What `packed` made, with places for `size` series."""
        whole = zlib.decompress(packed) if packed else b""
        kinds = {name: np.dtype(kind) for name, kind in _FIGURE.items()}
        count = len(whole) // sum(kind.itemsize for kind in kinds.values())
        columns, place = {}, 0
        for name, kind in kinds.items():
            empty = {"at": NEVER, "forecast": np.nan, "error": np.nan}.get(name, 0)
            columns[name] = np.full(max(size, count), empty, kind)
            columns[name][:count] = np.frombuffer(whole, kind, count, place)
            place += count * kind.itemsize
        return cls(columns)

    def seen(self) -> NDArray[np.bool_]:
        """Which series ever had a value."""
        found: NDArray[np.bool_] = self.columns["at"] != NEVER
        return found


class LiveValues(Mapping[Series, Live]):
    """The newest value of every series; a value is made when it is asked for."""

    def __init__(self, directory: Directory, figures: Figures) -> None:
        self._directory, self._figures = directory, figures
        self._seen = figures.seen()[: len(directory)]

    @property
    def figures(self) -> Figures:
        """What they are made of: the same object as long as nothing new was recorded."""
        return self._figures

    def __getitem__(self, names: Series) -> Live:
        number = self._directory.numbers[names]
        if not self._seen[number]:
            raise KeyError(names)
        columns = self._figures.columns
        source = self._directory.sources[int(columns["source"][number])]
        return Live(float(columns["value"][number]), int(columns["at"][number]) / 1000, source)

    def __iter__(self) -> Iterator[Series]:
        return (names for names, seen in zip(self._directory.series, self._seen, strict=True) if seen)

    def __len__(self) -> int:
        return int(self._seen.sum())

    def of_metrics(self, *metrics: str) -> Iterator[tuple[Series, Live]]:
        """The values of these alone: quick where there are few of them among many."""
        for metric in metrics:
            for number in self._directory.by_metric.get(metric, ()):
                if self._seen[number]:
                    names = self._directory.series[number]
                    yield names, self[names]

    def of_pairs(self, metric: str) -> OfPairs:
        """The values of one metric by the two ends that it is of."""
        return OfPairs(self, metric)


class OfPairs(Mapping[tuple[str, str], float]):
    """Values by pairs of nodes, whose series are called "a>b"; each is looked up when it is asked for."""

    def __init__(self, live: LiveValues, metric: str) -> None:
        self._live, self._metric = live, metric

    def __getitem__(self, ends: tuple[str, str]) -> float:
        return self._live[f"{ends[0]}>{ends[1]}", self._metric].value

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for (subject, _), _ in self._live.of_metrics(self._metric):
            source, arrow, target = subject.partition(">")
            if arrow:
                yield source, target

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return any(True for _ in self)


#: Of a cluster of which nothing was recorded.
NOTHING_LIVE = LiveValues(Directory(), Figures.unpacked(b"", 0))


def forecast_of(figures: Figures, number: int, predictors: Sequence[str]) -> Forecast | None:
    """What is said of the next value of a series; None where nothing is."""
    columns = figures.columns
    value = float(columns["forecast"][number])
    if np.isnan(value):
        return None
    predictor = predictors[int(columns["predictor"][number])]
    return Forecast(value, float(columns["error"][number]), predictor, int(columns["at"][number]) / 1000)


def nameable(sample: Sample) -> bool:
    """Whether the names of a sample can be kept."""
    return all(
        0 < len(name) <= most and name.isprintable()
        for name, most in ((sample.subject, SUBJECT_LENGTH), (sample.metric, METRIC_LENGTH))
    )


def _named(names: Series) -> Series:
    for field_name, name, most in zip(("subject", "metric"), names, (SUBJECT_LENGTH, METRIC_LENGTH), strict=True):
        if not name or len(name) > most or not name.isprintable():
            raise InputError(field_name, name[:most], f"1 to {most} printable characters")
    return names
