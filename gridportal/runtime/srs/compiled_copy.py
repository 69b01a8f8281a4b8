"""The copy of a redistribution as C does it, twice as fast as numpy: compiled when it is first needed, and kept.

It is built with `cc` into the cache of this user once for all programs (`base/compiled_c.py`). Where there is no
compiler, no folder that is only ours, or anything else goes wrong, numpy copies, and `kind` says so. The same source is
a part of the library for C (`library/strided_copy.c` and what it calls).
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridportal.base.errors import ShellError
from gridportal.runtime.srs.overlaps import Overlaps

Array = NDArray[Any]
#: The sources of the copy; the rest of the library for C is not needed for it.
PARTS = ("copy_lines", "copy_runs", "mapped_sources", "past_caches", "piece_groups", "strided_copy")
_LIBRARY = Path(__file__).parent / "library"
_SOURCES = tuple(_LIBRARY / f"{name}.c" for name in PARTS)
_HEADERS = tuple(_LIBRARY / f"{name}.h" for name in ("copy_plan", "streams", "strided_copy"))
_FLAGS = ("-std=c99", "-O2", "-fPIC", "-shared")
#: Bytes of an array from which on a compiler is worth its time.
WORTH = 16 * 2**20
#: Bytes of mapped files that are in memory at once, about.
MAPPED = 16 * 2**20
#: In the order of struct srs_piece.
_COLUMNS = (
    *("source", "source_place", "target_place", "size", "inner", "source_inner", "target_inner"),
    *("outer", "source_outer", "target_outer"),
)


class CopyKind(enum.Enum):
    """Who copies."""

    COMPILED = "compiled"
    NUMPY = "numpy"


@dataclass(frozen=True, slots=True)
class CopyAxis:
    """A dimension: the pieces of the new part, elements of each old part, and elements of the new part."""

    pieces: Overlaps
    held: NDArray[np.int64]
    mine: int


class _Axis(ctypes.Structure):
    """struct srs_axis."""

    _fields_ = (
        ("count", ctypes.c_int64),
        ("pieces", ctypes.c_void_p),
        ("parts", ctypes.c_int64),
        ("held", ctypes.c_void_p),
        ("mine", ctypes.c_int64),
    )


def kind(size: int = WORTH) -> CopyKind:
    """Who copies arrays of `size` bytes here."""
    return CopyKind.COMPILED if size >= WORTH and _library() is not None else CopyKind.NUMPY


def copy(axes: Sequence[CopyAxis], sources: Mapping[int, Array], into: Array) -> None:
    """Fill `into` from `sources`, the arrays of the old ranks from which something is taken, all in C order.

    Only where `kind` says COMPILED. Raises MemoryError.
    """
    library = _library()
    assert library is not None  # noqa: S101 - see kind
    tables = [np.ascontiguousarray(np.stack([getattr(a.pieces, n) for n in _COLUMNS], 1), np.int64) for a in axes]
    held = [np.ascontiguousarray(axis.held, np.int64) for axis in axes]
    entries = [
        _Axis(len(table), table.ctypes.data, len(parts), parts.ctypes.data, axis.mine)
        for axis, table, parts in zip(axes, tables, held, strict=True)
    ]
    places: list[int | None] = [None] * int(np.prod([len(parts) for parts in held]))
    for rank, source in sources.items():
        places[rank] = source.ctypes.data
    problem = library.srs_strided_copy(
        len(entries),
        (_Axis * len(entries))(*entries),
        (ctypes.c_void_p * len(places))(*places),
        ctypes.c_void_p(into.ctypes.data),
        ctypes.c_int64(into.itemsize),
        ctypes.c_int64(MAPPED if all(map(_is_mapped, sources.values())) else 0),
    )
    if problem:
        raise MemoryError("There is not enough memory to copy an array.")


def _is_mapped(source: Array) -> bool:
    """Whether it is the map of a file, read only: what is let go of comes back from there."""
    mapped = source if isinstance(source, np.memmap) else source.base
    return isinstance(mapped, np.memmap) and not mapped.flags.writeable


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL | None:
    """What was compiled, now or before; None where that is impossible."""
    from gridportal.base import compiled_c  # late: most ranks copy nothing that is large

    try:
        return ctypes.CDLL(str(compiled_c.kept(_SOURCES, _HEADERS, _FLAGS, ".so")))
    except (OSError, ShellError):
        return None  # numpy does the same, only slower
