"""IS's ranking of keys that lie on many ranks: local buckets, all-to-all exchange, counting.

Source: NAS Parallel Benchmarks, MPI version of IS (rank, full_verify).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gridportal.workloads.is_keys import ITERATIONS, Keys, ProblemClass

if TYPE_CHECKING:
    from mpi4py import MPI

    from gridportal.runtime.phases import CommunicationClock

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ranking:
    """What a rank knows after the exchange: all keys of `values`, wherever they were made.

    `lesser` keys lie below `values`; `below[k]` counts the keys smaller than values[k], one entry more than
    values for the end. `test_keys` are the same on every rank, in the order of the problem's tests.
    """

    values: range
    keys: Keys
    lesser: int
    below: Counts
    test_keys: Counts

    def rank_of(self, key: int) -> int | None:
        """How many keys are smaller than `key`; None where another rank knows."""
        return int(self.below[key - self.values.start]) if key in self.values else None


class KeyRanker:
    """Ranks the keys of all ranks of `comm`, of which this one made `keys`, the piece `own` of the sequence."""

    def __init__(
        self, comm: MPI.Intracomm, clock: CommunicationClock, problem: ProblemClass, own: range, keys: Keys
    ) -> None:
        self._comm = comm
        self._clock = clock
        self._problem = problem
        self._own = own
        self.keys = keys

    def rank(self, iteration: int) -> Ranking:
        """One iteration, from planting its two keys to the ranks of all."""
        self._plant(iteration)
        outgoing, sizes = self._into_buckets()
        totals, test_keys = self._sum(sizes)
        ends = _bucket_ends(totals, self._comm.Get_size())
        keys = self._exchange(outgoing, np.diff(np.concatenate([[0], np.cumsum(sizes)])[ends]))
        first, last = ends[self._comm.Get_rank()], ends[self._comm.Get_rank() + 1]
        values = range(int(first) << self._problem.shift, int(last) << self._problem.shift)
        lesser = int(totals[:first].sum())
        return Ranking(values, keys, lesser, _count(keys, values, lesser), test_keys)

    def _plant(self, iteration: int) -> None:
        for index, key in ((iteration, iteration), (iteration + ITERATIONS, self._problem.max_key - iteration)):
            if index in self._own:
                self.keys[index - self._own.start] = key

    def _into_buckets(self) -> tuple[Keys, Counts]:
        """The keys in the order of their buckets, and how many each bucket holds."""
        buckets = (self.keys >> self._problem.shift).astype(np.uint16)
        sizes = np.bincount(buckets, minlength=self._problem.buckets)
        if self._comm.Get_size() == 1:
            return self.keys, sizes
        return self.keys[np.argsort(buckets, kind="stable")], sizes  # a radix sort, for 16 bits

    def _sum(self, sizes: Counts) -> tuple[Counts, Counts]:
        """Bucket sizes over all ranks; the test keys travel along."""
        mine = np.concatenate([sizes, np.zeros(len(self._problem.tests), dtype=np.int64)])
        for place, test in enumerate(self._problem.tests, start=len(sizes)):
            if test.index in self._own:
                mine[place] = self.keys[test.index - self._own.start]
        totals = np.empty_like(mine)
        with self._clock:
            self._comm.Allreduce(mine, totals)
        return totals[: len(sizes)], totals[len(sizes) :]

    def _exchange(self, outgoing: Keys, send: Counts) -> Keys:
        receive = np.empty_like(send)
        with self._clock:
            self._comm.Alltoall(send, receive)
        keys = np.empty(int(receive.sum()), dtype=np.int32)
        with self._clock:
            self._comm.Alltoallv([outgoing, send], [keys, receive])
        return keys

    def sorted_everywhere(self, ranking: Ranking) -> bool:
        """Full verification: every key at a place its rank allows gives one sorted sequence; on every rank alike."""
        keys = np.sort(ranking.keys, kind="stable")
        places = np.arange(ranking.lesser, ranking.lesser + len(keys))
        found = keys - np.int32(ranking.values.start)
        in_place = bool(np.all(ranking.below[found] <= places) and np.all(places < ranking.below[found + 1]))
        with self._clock:
            everyone = self._comm.allgather((in_place, _ends(keys), _digest(self.keys), _digest(keys)))
        ends = [end for _, pair, _, _ in everyone for end in pair]
        made, arrived = (np.sum([one[which] for one in everyone], axis=0) for which in (2, 3))
        return all(one[0] for one in everyone) and ends == sorted(ends) and bool(np.all(made == arrived))


def count_right(problem: ProblemClass, ranking: Ranking, iteration: int) -> int:
    """Partial verification: the test keys that this rank ranked as officially known."""
    pairs = zip(problem.tests, ranking.test_keys, strict=True)
    return sum(ranking.rank_of(int(key)) == test.start + test.slope * iteration for test, key in pairs)


def _bucket_ends(totals: Counts, ranks: int) -> Counts:
    """ranks + 1 bucket numbers: rank r gets the buckets from ends[r] up to ends[r + 1], about as many keys each."""
    filled = np.cumsum(totals)
    wanted = filled[-1] // ranks * np.arange(1, ranks)
    return np.concatenate([[0], np.searchsorted(filled, wanted) + 1, [len(totals)]])


def _count(keys: Keys, values: range, lesser: int) -> Counts:
    counts = np.bincount(keys - np.int32(values.start), minlength=len(values))
    return lesser + np.concatenate([[0], np.cumsum(counts)])


def _ends(keys: Keys) -> tuple[int, ...]:
    return (int(keys[0]), int(keys[-1])) if len(keys) else ()


def _digest(keys: Keys) -> tuple[int, int, int]:
    """Number, sum and sum of squares: what a lost, doubled or changed key would change."""
    wide = keys.astype(np.int64)
    return len(keys), int(wide.sum()), int(wide @ wide)
