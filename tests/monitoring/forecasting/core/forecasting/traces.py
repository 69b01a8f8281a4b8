"""Series to forecast: recorded ones where they are, and those of the generators of Selection 1999, 4.2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from monitoring.forecasting.core.forecasting.part import Array

RECORDED = Path(__file__).resolve().parents[6] / "shared" / "data" / "traces"
_EVERY = 10  # seconds between samples


def recorded() -> dict[str, Array]:
    """By "kind/name": cpu in per cent, bandwidth in Mbit/s. Skips where there are none."""
    paths = sorted(RECORDED.glob("*/*.txt"))
    if not paths:
        pytest.skip("the recorded traces are not on this machine")
    return {f"{path.parent.name}/{path.stem}": _last_column(path) for path in paths}


def generated(each: int = 8, samples: int = 500) -> dict[str, Array]:
    """Cpu availability under the load generator, and available bandwidth under the traffic generator."""
    cpu = {f"load/{seed}": availability(np.random.default_rng(seed), samples) for seed in range(each)}
    return cpu | {f"messages/{seed}": bandwidth(np.random.default_rng(seed), samples) for seed in range(each)}


def availability(rng: np.random.Generator, samples: int) -> Array:
    """Jobs come by Poisson, half of them with exponential and half with Pareto length, and share one processor; the
    load is averaged over a minute as the kernel does, and 1 / (1 + load) is what is left."""
    seconds = samples * _EVERY
    starts = np.cumsum(rng.exponential(30.0, size=seconds))
    lengths = np.where(rng.random(seconds) < 0.5, rng.exponential(15.0, seconds), 5.0 * (1 + rng.pareto(1.1, seconds)))
    left: list[float] = []
    load, coming, told = 0.0, 0, np.empty(samples)
    for second in range(seconds):
        while starts[coming] <= second:
            left.append(min(lengths[coming], 2000.0))
            coming += 1
        left = [job - 1 / len(left) for job in left if job > 1 / len(left)]
        load += (len(left) - load) * (1 - np.exp(-1 / 60))
        told[second // _EVERY] = 1 / (1 + load)
    return told


def bandwidth(rng: np.random.Generator, samples: int, capacity: float = 1e8) -> Array:
    """Messages come by Poisson with LogNormal length over a link of `capacity` bit/s; a flow of ours has the share that
    the others leave it, as one of them."""
    seconds = samples * _EVERY
    starts = np.cumsum(rng.exponential(1.5, size=seconds))
    lasts = 8 * rng.lognormal(np.log(4e6), 1.5, size=seconds) / capacity
    busy = np.zeros(seconds)
    for start, last in zip(starts, lasts, strict=True):
        for second in range(int(start), min(int(start + last) + 1, seconds)):
            busy[second] += min(second + 1, start + last) - max(second, start)
    return capacity / (1 + busy.reshape(samples, _EVERY).mean(axis=1))


def _last_column(path: Path) -> Array:
    table: Array = np.loadtxt(path, ndmin=2)
    return table[:, -1]


def by_kind(series: Mapping[str, Array]) -> dict[str, dict[str, Array]]:
    """The series under the first word of their names."""
    kinds: dict[str, dict[str, Array]] = {}
    for name, values in series.items():
        kinds.setdefault(name.partition("/")[0], {})[name] = values
    return kinds
