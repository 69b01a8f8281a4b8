"""Samples as sources give them, and what is answered about them: live values, histories, forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gridportal.network.sweep_result import Measurement

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Series = tuple[str, str]
Resolution = Literal["raw", "minute", "hour"]

#: Longest names that are kept; a source that sends longer ones is refused.
SUBJECT_LENGTH, METRIC_LENGTH = 170, 30


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured value. `at` is Unix seconds.

    `subject`: a node ("n1"), a directed pair measured end to end ("n1>n2"), a direction of a link ("s1>s2") or an
    interface ("n1:eth0"). `metric`: cpu (available, 0..1), load, memory_free, memory_total, disk_free (bytes),
    bandwidth (bit/s that one more flow would get), latency (s), tx and rx (bit/s in use, from counters), ...
    """

    subject: str
    metric: str
    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Collected:
    """What one question to a source brought: samples, what asking cost the network (bytes), how far the source lags or
    its clock differs (seconds, None: not known), and in words what went wrong with a part of it."""

    samples: tuple[Sample, ...]
    cost_bytes: int = 0
    lag: float | None = None
    error_message: str = ""


@dataclass(frozen=True, slots=True)
class Live:
    """The newest value of a series: when (Unix seconds) and from which source."""

    value: float
    at: float
    source: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the best predictor so far says of the next value, with its mean error; made after the value of `at`."""

    value: float
    error: float
    predictor: str
    at: float


@dataclass(frozen=True, slots=True)
class History:
    """A series over time, oldest first: arrays of one length. `at` is Unix seconds (the start of the minute or hour
    where `resolution` says so), `value` the mean, `low` and `high` the extremes. `age`: seconds since the newest
    value of the series at the time of asking, None where there is none in the range."""

    at: Floats
    value: Floats
    low: Floats
    high: Floats
    resolution: Resolution
    age: float | None

    def __len__(self) -> int:
        return len(self.at)


def samples_of(measured: Measurement) -> list[Sample]:
    """A sweep as samples, all of the moment when it began: bandwidth and latency of pairs, bandwidth of the links that
    transfers at once tell of, cpu and load of nodes."""
    samples = [
        Sample(f"{link.source}>{link.target}", "bandwidth", measured.at, link.bandwidth) for link in measured.together
    ]
    for pair in measured.pairs:
        subject = f"{pair.source}>{pair.target}"
        samples.append(Sample(subject, "bandwidth", measured.at, pair.bandwidth))
        if pair.latency is not None:
            samples.append(Sample(subject, "latency", measured.at, pair.latency))
    for load in measured.loads:
        samples.append(Sample(load.node, "cpu", measured.at, load.cpu))
        samples.append(Sample(load.node, "load", measured.at, load.load))
    return samples
