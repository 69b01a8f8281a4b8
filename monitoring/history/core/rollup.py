"""Samples of a minute or an hour as one point: mean, lowest, highest, and how many there were."""

from __future__ import annotations

import numpy as np

from monitoring.history.core.blocks import ROLLED, Column

MINUTE, HOUR = 60_000, 3_600_000


def as_rolled(column: Column) -> Column:
    """Each sample a point of its own: mean, low and high alike, count 1. What is rolled up already stays."""
    if len(column.values) == ROLLED:
        return column
    value = column.values[0]
    return Column(column.at, np.stack([value, value, value, np.ones_like(value)]))


def rolled(column: Column, step: int) -> Column:
    """Points of `step` milliseconds, at their beginning, from samples or from shorter points. O(n).

    Means are weighted with the counts, so that rolling up twice gives what rolling up once does.

    >>> raw = Column(np.array([0, 30_000, 60_000]), np.array([[1.0, 3.0, 7.0]]))
    >>> rolled(raw, MINUTE).values.T.tolist()
    [[2.0, 1.0, 3.0, 2.0], [7.0, 7.0, 7.0, 1.0]]
    """
    points = as_rolled(column)
    if not len(points):
        return points
    start = points.at - points.at % step
    first = np.flatnonzero(np.append(True, start[1:] != start[:-1]))
    mean, low, high, count = points.values
    counts = np.add.reduceat(count, first)
    lows, highs = np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)
    means = np.clip(np.add.reduceat(mean * count, first) / counts, lows, highs)
    return Column(start[first], np.stack([means, lows, highs, counts]))


def filled(stored: Column, other: Column) -> Column:
    """The stored points, and of the other ones those of moments that have none."""
    new = ~np.isin(other.at, stored.at)
    at = np.concatenate([stored.at, other.at[new]])
    order = np.argsort(at, kind="stable")
    return Column(at[order], np.concatenate([stored.values, other.values[:, new]], axis=1)[:, order])
