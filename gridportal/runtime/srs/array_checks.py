"""Whether an array can be registered and read: name, type, shape and layout, with a sentence where not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from gridportal.base.errors import InputError
from gridportal.runtime.srs.checkpoint_reading import CheckpointReader
from gridportal.runtime.srs.checkpoint_writing import Registered
from gridportal.runtime.srs.layouts import Layout

Array = NDArray[Any]


def check_registration(
    comm: MPI.Intracomm,
    registered: Mapping[str, Registered],
    name: str,
    held: Array,
    shape: tuple[int, ...],
    layout: Layout,
) -> None:
    """That `held` is this rank's part of an array of `shape` in `layout`, under a name that is free. InputError."""
    if name in registered:
        raise InputError("name", name, "a name that is not registered yet")
    if not isinstance(held, np.ndarray) or held.dtype.hasobject or held.dtype.names or not held.flags.c_contiguous:
        raise InputError(name, type(held).__name__, "an array of numbers in C order")
    layout.check(shape, comm.Get_size())
    wanted = layout.local_shape(shape, comm.Get_rank())
    if held.shape != wanted:
        raise InputError(
            name,
            list(held.shape),
            f"the shape {list(wanted)}, which rank {comm.Get_rank()} has in {layout.text}",
        )


def check_alike(mine: Sequence[Any], first: Sequence[Any]) -> None:
    """Raise InputError where a rank registers something else than rank 0."""
    for field, value, wanted in zip(("name", "dtype", "shape", "layout"), mine, first, strict=True):
        if value != wanted:
            raise InputError(field, value, f"{wanted}, as rank 0 has it")


def check_read(
    registered: Mapping[str, Registered],
    reader: CheckpointReader | None,
    name: str,
    old: Layout | None,
    new: Layout | None,
) -> None:
    """That the checkpoint has what is registered as `name`, in layout `old`, to be read into `new`. InputError."""
    if reader is None:
        raise InputError("name", name, "nothing, for the program starts: there is no checkpoint to read from")
    if name not in registered:
        raise InputError("name", name, f"a name that is registered: {_listed(registered)}")
    if name not in reader.checkpoint.arrays:
        raise InputError("name", name, f"an array of the checkpoint: {_listed(reader.checkpoint.arrays)}")
    stored, mine = reader.checkpoint.arrays[name], registered[name]
    for field, value, wanted in (
        (f"{name}.dtype", mine.held.dtype, stored.dtype),
        (f"{name}.shape", mine.shape, stored.shape),
        ("old", old or stored.layout, stored.layout),
        ("new", new or mine.layout, mine.layout),
    ):
        if value != wanted:
            raise InputError(field, _words(value), f"{_words(wanted)}, as it is")


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)) or "there is none"


def _words(value: object) -> str:
    return value.text if isinstance(value, Layout) else str(value)
