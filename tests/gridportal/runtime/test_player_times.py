"""What a program may have put in the place of a skeleton's times is no prediction."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gridportal.base.errors import BackendError
from gridportal.runtime import player_times

HEAD = b"gridportal-times 1".ljust(32, b"\0") + b"Open MPI v4.1.4".ljust(128, b"\0") + struct.pack("=qq", 2, 3)
FIGURES = np.array([[1.0, 0.5, 0.4, 0.1], [1.1, 0.6, 0.4, 0.2]])
LOGS = np.arange(24, dtype=float)
GOOD = HEAD + FIGURES.tobytes() + LOGS.tobytes()


def test_times_are_read_rank_by_rank() -> None:
    played = player_times.read(GOOD, 2, 3)
    assert (played.mpi, played.init, len(GOOD)) == ("Open MPI v4.1.4", 0.2, player_times.size(2, 3))
    assert [(rank.seconds, rank.worked, rank.asked) for rank in played.ranks] == [(1.0, 0.5, 0.4), (1.1, 0.6, 0.4)]
    assert played.ranks[1].log.tolist()[2] == [20.0, 21.0, 22.0, 23.0]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no file of 2 ranks with 3 executions"),
        (GOOD[:-1], "no file of 2 ranks"),
        (GOOD + b"\0", "no file of 2 ranks"),
        (b"x" + GOOD[1:], "no file of 2 ranks"),
        (GOOD.replace(struct.pack("=qq", 2, 3), struct.pack("=qq", 3, 2)), "those of another skeleton"),
        (GOOD[:-8] + struct.pack("=d", float("nan")), "what is no time"),
    ],
)
def test_anything_else_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(BackendError, match=said):
        player_times.read(data, 2, 3)
