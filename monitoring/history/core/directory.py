"""Which number a series has, and the newest figures of all series as arrays in the order of these numbers."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
