"""Every node in the place of every chosen node where the time of the messages decided among groups within the slack.

Source: ours. The order is that of scheduling.selection.core.pairs.busiest_rank_time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gridportal.base.reasons import Code, Reason
from gridportal.network.narrowest import bandwidth
from scheduling.jobs.core.patterns import Pattern
from scheduling.selection.core.pairs.member_rates import member_rates
from scheduling.selection.core.pairs.pair_rates import NO_PATH, Pairs
from scheduling.selection.core.trees.usable_network import Bools, Floats, Ints

#: Figures that differ by less than this part of them are equal.
EQUAL = 1e-9


@dataclass
class SlackExchanges:
    """Nodes (rows) in the place of the chosen ones (columns), of which each has one rank: column r is that of rank r.

    rows: of the chosen nodes. level: bit/s that the slowest pair of a group had to reach at most.
    """

    pairs: Pairs
    pattern: Pattern
    rows: Sequence[int]
    level: float

    def reasons(self, left: Sequence[int], fits: Bools, min_bandwidth: float) -> list[Reason]:
        """Of each of the rows `left`, none of which is chosen; `fits`: len(left) x m, where it may stand.

        Cost: O(len(left) * m * most partners of a rank)."""
        tables = [self._figures(np.array(left), column) for column in range(len(self.rows))]
        figures = np.stack(tables, axis=2)  # figure x left x column
        columns = _best_columns(figures, fits)
        best = figures[:, np.arange(len(left)), columns]
        return [self._reason(row, int(columns[at]), best[:, at].tolist(), min_bandwidth) for at, row in enumerate(left)]

    @cached_property
    def own(self) -> list[float]:
        """What the chosen group has of each figure: see `_figures`."""
        found: list[float] = self._figures(np.array(self.rows[:1]), 0)[:, 0].tolist()
        return found

    @cached_property
    def rates(self) -> Floats:
        """n x m, to each member."""
        return member_rates(self.pairs, self.rows, bandwidth)

    @cached_property
    def cpu(self) -> Floats:
        """Effective, of each node."""
        return np.array([node.effective_cpu for node in self.pairs.usable])

    @cached_property
    def _ends(self) -> tuple[Ints, Ints, Floats]:
        a, b, weight = zip(*self.pattern.edges, strict=True)
        return np.array(a), np.array(b), np.array(weight, dtype=np.float64)

    def _figures(self, left: Ints, column: int) -> Floats:
        """5 x len(left): lowest rate up to the level, then less of: time of the busiest rank, of all messages (each as
        a negative number); then lowest rate and lowest cpu, each with the node of a row in the place of a column."""
        a, b, weight = self._ends
        mine = (a == column) | (b == column)
        partners = np.where(a == column, b, a)[mine]
        inside = self.rates[self.rows]
        kept_rates = inside[a[~mine], b[~mine]]
        kept_times = _times(weight[~mine], kept_rates)
        busy = np.zeros(len(self.rows))
        np.add.at(busy, a[~mine], kept_times)
        np.add.at(busy, b[~mine], kept_times)
        own_rates = self.rates[np.ix_(left, partners)]
        own_times = _times(weight[mine], own_rates)
        of_partners = (busy[partners] + own_times).max(axis=1, initial=0.0)
        busiest = np.maximum(np.maximum(own_times.sum(axis=1), of_partners), np.delete(busy, column).max(initial=0.0))
        total = kept_times.sum() + own_times.sum(axis=1)
        lowest = np.minimum(own_rates.min(axis=1, initial=np.inf), kept_rates.min(initial=np.inf))
        cpu = np.minimum(self.cpu[left], np.delete(self.cpu[self.rows], column).min(initial=np.inf))
        return np.stack([np.minimum(lowest, self.level), -busiest, -total, lowest, cpu])

    def _reason(self, row: int, column: int, figures: Sequence[float], min_bandwidth: float) -> Reason:
        place_of = self.pairs.usable[self.rows[column]].id
        at = next((at for at, value in enumerate(figures) if not _is_close(value, self.own[at])), None)
        if at is None:
            return Reason.of(Code.NODE_AS_GOOD, place_of=place_of)
        value, best = figures[at], self.own[at]
        if value > best:
            return Reason.of(Code.NODE_PASSED_OVER, place_of=place_of)
        if at == 0:
            return self._too_slow(row, column, place_of, value, min_bandwidth)
        if at in (1, 2):
            return Reason.of(
                Code.NODE_MORE_MESSAGE_TIME, place_of=place_of, more=value / best - 1.0, is_busiest=at == 1
            )
        if at == 3:
            return Reason.of(Code.NODE_SLOWER_AT_EQUALS, place_of=place_of, bandwidth=value, best=best)
        return Reason.of(Code.NODE_LESS_CPU_AT_EQUALS, place_of=place_of, cpu=value, best=best)

    def _too_slow(self, row: int, column: int, place_of: str, rate: float, min_bandwidth: float) -> Reason:
        a, b, _ = self._ends
        partners = [*b[a == column].tolist(), *a[b == column].tolist()]
        slowest = min(partners, key=lambda there: self.rates[row, there])
        pair = [self.pairs.usable[row].id, self.pairs.usable[self.rows[slowest]].id]
        if rate == NO_PATH:
            return Reason.of(Code.NODE_APART, place_of=place_of, pair=pair)
        facts = {"place_of": place_of, "pair": pair, "bandwidth": rate}
        if rate < min_bandwidth:
            return Reason.of(Code.NODE_BELOW, **facts, min_bandwidth=min_bandwidth)
        return Reason.of(Code.NODE_BELOW_SLACK, **facts, level=self.level)


def _times(weight: Floats, rates: Floats) -> Floats:
    """Weight over rate; without an end where there is no path."""
    times: Floats = np.divide(weight, rates, out=np.full(rates.shape, np.inf), where=rates > 0)
    return times


def _best_columns(figures: Floats, fits: Bools) -> Ints:
    """Of each node the column where it does best by one figure after the other, of those where it fits."""
    possible = fits.copy()
    for table in figures:
        highest = np.max(np.where(possible, table, -np.inf), axis=1, keepdims=True)
        possible &= table >= highest - EQUAL * np.abs(np.where(np.isfinite(highest), highest, 0.0))
    columns: Ints = possible.argmax(axis=1)
    return columns


def _is_close(value: float, other: float) -> bool:
    return value == other or abs(value - other) <= EQUAL * abs(other)
