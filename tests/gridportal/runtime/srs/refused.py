"""What SRS refuses: rank 0 prints one JSON line, for each mistake the sentences of all ranks."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mpi4py import MPI

from gridportal.base.errors import InputError
from gridportal.runtime.srs import layouts, stop_restart

COMM = MPI.COMM_WORLD
RANK = COMM.Get_rank()
SENTENCES: dict[str, list[str]] = {}
BLOCK = layouts.block(3)


def refused(name: str, step: Callable[[], object]) -> None:
    sentence = "not refused"
    try:
        step()
    except InputError as error:
        sentence = str(error)
    SENTENCES[name] = COMM.gather(sentence) or []


def main(folder: Path) -> None:
    state = stop_restart.init(COMM, folder)
    state.register("x", np.zeros(2), (6,), BLOCK)
    state.register("y", np.zeros(2), (6,), BLOCK)
    refused("twice", lambda: state.register("x", np.zeros(2), (6,), BLOCK))
    refused("shape of one rank", lambda: state.register("z", np.zeros(2 + RANK // 2), (6,), BLOCK))
    refused("layout of other ranks", lambda: state.register("z", np.zeros(2), (6,), layouts.block(2)))
    refused("not alike", lambda: state.register(f"z{RANK}", np.zeros(2), (6,), BLOCK))
    refused("order", lambda: state.register("z", np.zeros((2, 2, 4))[:, :, ::2], (6, 2, 2), BLOCK))
    refused("read at the start", lambda: state.read("x"))
    state.checkpoint()
    again = stop_restart.init(COMM, folder)
    x = np.full(2, 7.0, dtype="f4")
    again.register("x", x, (6,), BLOCK)
    again.register("y", np.zeros(3), (9,), BLOCK)
    again.register("new", np.zeros(1))
    refused("dtype", lambda: again.read("x"))
    assert x.tolist() == [7.0, 7.0]
    refused("other shape", lambda: again.read("y"))
    refused("old layout", lambda: _old(folder))
    refused("not in it", lambda: again.read("new"))
    refused("not registered", lambda: again.read("unknown"))
    if RANK == 0:
        sys.stdout.write(json.dumps(SENTENCES) + "\n")


def _old(folder: Path) -> None:
    state = stop_restart.init(COMM, folder)
    state.register("y", np.zeros(2), (6,), BLOCK)
    state.read("y", old=layouts.cyclic(3))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
