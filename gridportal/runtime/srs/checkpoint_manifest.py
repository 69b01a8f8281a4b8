"""What a checkpoint is, and its manifest: which arrays it has, how they lie, and where their shards are.

The manifest has version 1 where all shards are files, and 2 where some are in depots (docs/stop-and-restart.md has the
format).
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridportal.base.checked_numbers import is_number, is_whole
from gridportal.base.errors import GridPortalError, InputError
from gridportal.runtime.srs import layouts
from gridportal.runtime.srs.dealing import MOST
from gridportal.runtime.srs.layouts import Layout

#: Of a manifest whose shards are all files, and of one with shards in depots.
VERSION, WITH_DEPOTS = 1, 2
#: Bytes of an array, more than any machine has.
_MOST_BYTES = 2**62
#: Numbers, texts, dates and plain bytes: no objects of Python, and no records.
_KINDS = "biufcmMSUV"
#: What stands before the checksum of the manifest itself, its last field.
_CHECKSUM = ', "crc32": '


class BadCheckpointError(GridPortalError):
    """A checkpoint that cannot be used, and why."""


class UnreachableError(BadCheckpointError):
    """One that cannot be used now: a depot does not answer, and may do so later."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of an array that old rank `rank` held: its bytes and their CRC-32, the file in the checkpoint's folder
    (None for none), and the nodes whose depots have it."""

    rank: int
    file: str | None
    bytes: int
    checksum: int
    depots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array of a checkpoint: what it was registered as, and its shards, one only where it is replicated.

    `place`: its number in the manifest.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    layout: Layout
    shards: tuple[Shard, ...]
    place: int = 0

    def shard(self, rank: int) -> Shard:
        """The one that has what `rank` held."""
        return self.shards[rank if self.layout.dealings else 0]

    def local_shape(self, rank: int) -> tuple[int, ...]:
        """The shape of the shard of `rank`."""
        return self.layout.local_shape(self.shape, rank)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A complete checkpoint: its folder, number, Unix time, number of ranks and arrays by name.

    `token`: by which depots know it, empty where they have nothing of it.
    """

    folder: Path
    number: int
    written_at: float
    ranks: int
    arrays: Mapping[str, StoredArray]
    token: str = ""

    def held(self, name: str, rank: int) -> NDArray[Any]:
        """What `rank` held of array `name`, mapped into memory and read only, until `forget`."""
        stored = self.arrays[name]
        shard, shape = stored.shard(rank), stored.local_shape(rank)
        if not shard.bytes or shard.file is None:
            return np.empty(shape, stored.dtype)
        return np.memmap(self.folder / shard.file, stored.dtype, "r", 0, shape or (1,)).reshape(shape)


def shards(checkpoint: Checkpoint) -> Iterator[tuple[StoredArray, Shard]]:
    """All shards, and what each is a part of."""
    for stored in checkpoint.arrays.values():
        for shard in stored.shards:
            yield stored, shard


def dumped(
    number: int, ranks: int, written_at: float, arrays: Sequence[StoredArray], token: str = ""
) -> dict[str, Any]:
    """The manifest of checkpoint `number`. `token`: by which depots know it, where its shards are there."""
    return {
        "version": WITH_DEPOTS if token else VERSION,
        "number": number,
        "written_at": written_at,
        "ranks": ranks,
        **({"token": token} if token else {}),
        "arrays": [_dumped(stored, with_depots=bool(token)) for stored in arrays],
    }


def _dumped(stored: StoredArray, *, with_depots: bool) -> dict[str, Any]:
    entries: list[dict[str, Any]] = [
        {"rank": s.rank, "file": s.file, "bytes": s.bytes, "crc32": s.checksum} for s in stored.shards
    ]
    if with_depots:
        entries = [{**entry, "depots": list(s.depots)} for entry, s in zip(entries, stored.shards, strict=True)]
    return {
        "name": stored.name,
        "dtype": stored.dtype.str,
        "shape": list(stored.shape),
        "layout": layouts.dump(stored.layout),
        "shards": entries,
    }


def text(document: Mapping[str, Any]) -> str:
    """A manifest as its file has it; its last field is the CRC-32 of all that stands before.

    >>> text({"version": 1})
    '{"version": 1, "crc32": 1568912536}'
    """
    body = json.dumps(document)[:-1]
    return f"{body}{_CHECKSUM}{zlib.crc32(body.encode())}}}"


def check_text(content: bytes, document: Any) -> None:
    """Raise InputError for a manifest that was changed since it was written. Old ones have no checksum."""
    if not isinstance(document, dict) or "crc32" not in document:
        return
    body, _, end = content.rpartition(_CHECKSUM.encode())
    if end != f"{zlib.crc32(body)}}}".encode():
        raise InputError("manifest.crc32", document["crc32"], "that of the manifest, which was changed since then")


def parsed(path: Path, document: Any) -> Checkpoint:
    """The checkpoint in folder `path` that a manifest describes. Raises InputError."""
    if not isinstance(document, dict) or document.get("version") not in (VERSION, WITH_DEPOTS):
        raise InputError("manifest", str(path), f"a manifest of version {VERSION} or {WITH_DEPOTS}")
    token = document.get("token", "") if document["version"] == WITH_DEPOTS else ""
    if not isinstance(token, str):
        raise InputError("manifest.token", token, "a word")
    ranks, at, arrays = document.get("ranks"), document.get("written_at"), document.get("arrays")
    if not is_whole(ranks) or not is_number(at) or not isinstance(arrays, list) or not arrays:
        raise InputError("manifest", str(path), "one with ranks, written_at and arrays, one or more")
    stored = [_array(entry, f"arrays[{place}]", place, with_depots=bool(token)) for place, entry in enumerate(arrays)]
    number = int(path.name.removeprefix("checkpoint-"))
    return Checkpoint(path, number, float(at), ranks, {each.name: each for each in stored}, token)


def _array(entry: Any, field: str, place: int, *, with_depots: bool) -> StoredArray:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise InputError(f"{field}.name", entry, "the name of an array")
    layout, shape = layouts.load(entry.get("layout"), f"{field}.layout"), entry.get("shape")
    if not isinstance(shape, list) or not all(is_whole(length) and 0 <= length <= MOST for length in shape):
        raise InputError(f"{field}.shape", shape, "a list of lengths")
    layout.check(shape)
    dtype = _dtype(entry.get("dtype"), f"{field}.dtype")
    if math.prod(shape) * dtype.itemsize > _MOST_BYTES:
        raise InputError(f"{field}.shape", shape, "a shape that a machine can have")
    entries = _read_shards(entry.get("shards"), field, with_depots=with_depots)
    stored = StoredArray(entry["name"], dtype, tuple(shape), layout, entries, place)
    if len(stored.shards) != (layout.ranks if layout.dealings else 1):
        raise InputError(f"{field}.shards", len(stored.shards), "a shard for each rank")
    _check_bytes(stored, field)
    return stored


def _dtype(word: Any, field: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(str(word))
    except (TypeError, ValueError, SyntaxError) as error:
        raise InputError(field, word, "a type of numpy") from error
    if dtype.kind not in _KINDS or dtype.names or dtype.subdtype:
        raise InputError(field, word, "a type of numbers or texts, as numpy writes it")
    return dtype


def _check_bytes(stored: StoredArray, field: str) -> None:
    """That each shard has as many bytes as its rank has of the array."""
    for shard, elements in zip(stored.shards, stored.layout.local_sizes(stored.shape), strict=True):
        if shard.bytes != elements * stored.dtype.itemsize:
            accepted = f"{elements * stored.dtype.itemsize}, as rank {shard.rank} has of {stored.name}"
            raise InputError(f"{field}.shards[{shard.rank}].bytes", shard.bytes, accepted)


def _read_shards(entries: Any, field: str, *, with_depots: bool) -> tuple[Shard, ...]:
    if not isinstance(entries, list):
        raise InputError(f"{field}.shards", entries, "a list of shards")
    return tuple(
        _read_shard(entry, f"{field}.shards[{place}]", place, with_depots=with_depots)
        for place, entry in enumerate(entries)
    )


def _read_shard(entry: Any, field: str, place: int, *, with_depots: bool) -> Shard:
    entry = entry if isinstance(entry, dict) else {}
    file, depots = entry.get("file"), entry.get("depots", []) if with_depots else []
    if not isinstance(depots, list) or not all(isinstance(node, str) for node in depots):
        raise InputError(f"{field}.depots", depots, "a list of names of nodes")
    if file is None and not depots:
        raise InputError(field, entry, "a shard with a file or with depots")
    if (file is not None and (not isinstance(file, str) or Path(file).name != file)) or entry.get("rank") != place:
        raise InputError(field, entry, "a shard with the name of its file, in the order of the ranks")
    if not is_whole(entry.get("bytes")) or not is_whole(entry.get("crc32")):
        raise InputError(field, entry, "a shard with bytes and crc32")
    return Shard(place, file, entry["bytes"], entry["crc32"], tuple(depots))
