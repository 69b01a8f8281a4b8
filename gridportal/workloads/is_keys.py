"""IS's problem classes, its keys, and the test keys whose ranks are known officially.

Source: NAS Parallel Benchmarks, RNR-94-007 (kernel IS), and the MPI version of IS (create_seq, find_my_seed).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gridportal.workloads.randlc import Stream, jump

Keys = npt.NDArray[np.int32]

SEED = 314159265
ITERATIONS = 10
DRAWS_PER_KEY = 4
CHUNK = 1 << 16


@dataclass(frozen=True)
class TestKey:
    """The key at `index` of the whole sequence; its rank in iteration i is start + slope i."""

    index: int
    start: int
    slope: int


@dataclass(frozen=True)
class ProblemClass:
    """2^keys_log2 keys below 2^key_log2, sorted by way of 2^buckets_log2 buckets."""

    keys_log2: int
    key_log2: int
    buckets_log2: int
    tests: tuple[TestKey, ...]

    @property
    def keys(self) -> int:
        return 1 << self.keys_log2

    @property
    def max_key(self) -> int:
        return 1 << self.key_log2

    @property
    def buckets(self) -> int:
        return 1 << self.buckets_log2

    @property
    def shift(self) -> int:
        """A key shifted right by this is its bucket."""
        return self.key_log2 - self.buckets_log2


def _tests(*known: tuple[int, int, int]) -> tuple[TestKey, ...]:
    return tuple(TestKey(*one) for one in known)


# Each iteration plants one small and one large key, which shifts the ranks of the others by one: the slopes.
CLASSES = {
    "S": ProblemClass(
        *(16, 11, 9),
        _tests((48427, 0, 1), (17148, 18, 1), (23627, 346, 1), (62548, 64917, -1), (4431, 65463, -1)),
    ),
    "W": ProblemClass(
        *(20, 16, 10),
        _tests(
            *((357773, 1249 - 2, 1), (934767, 11698 - 2, 1)),
            *((875723, 1039987, -1), (898999, 1043896, -1), (404505, 1048018, -1)),
        ),
    ),
    "A": ProblemClass(
        *(23, 19, 10),
        _tests(
            *((2112377, 104 - 1, 1), (662041, 17523 - 1, 1), (5336171, 123928 - 1, 1)),
            *((3642833, 8288932 + 1, -1), (4250760, 8388264 + 1, -1)),
        ),
    ),
    "B": ProblemClass(
        *(25, 21, 10),
        _tests(
            *((41869, 33422937, -1), (812306, 10244, 1), (5102857, 59149, 1)),
            *((18232239, 33135281, -1), (26860214, 99, 1)),
        ),
    ),
}


def make_keys(problem: ProblemClass, own: range) -> Keys:
    """The keys `own` of the sequence: the sum of four draws each, a bell curve around max_key / 2."""
    stream = Stream(jump(SEED, DRAWS_PER_KEY * own.start))
    keys = np.empty(len(own), dtype=np.int32)
    for start in range(0, len(own), CHUNK):
        part = keys[start : start + CHUNK]
        draws = stream.draw(DRAWS_PER_KEY * len(part)).reshape(-1, DRAWS_PER_KEY)
        part[:] = problem.max_key // 4 * draws.sum(axis=1)  # exact: multiples of 2^-46 below 4
    return keys
