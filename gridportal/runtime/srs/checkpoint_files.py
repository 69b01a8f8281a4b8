"""Checkpoints as files: a folder for each, with one raw file for each rank and array, and a manifest that comes last.

What has its final name is whole: all files are on the disk before the manifest, and the folder has its name after that.
Shards have lengths and checksums, so that what was cut off, changed or taken away later is found. The last two stay.

A shard may be in depots too, or only there; the manifest then has version 2 and says in which (docs/stop-and-restart.md
has the format). What is in depots is not looked at here.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridportal.base import atomic_file, bounded_json
from gridportal.base.checked_numbers import is_number, is_whole
from gridportal.base.errors import GridPortalError, InputError
from gridportal.base.run_files import DEPOTS
from gridportal.runtime.srs import layouts
from gridportal.runtime.srs.layouts import Layout

#: Of a manifest whose shards are all files, and of one with shards in depots.
VERSION, WITH_DEPOTS = 1, 2
#: So many checkpoints are kept.
KEPT = 2
_MANIFEST, _INTENT = "manifest.json", DEPOTS
_NAME = "checkpoint-{:08d}"
_PART, _BAD = ".part", ".bad"
_CHUNK = 8 * 2**20


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


def forget(held: NDArray[Any]) -> None:
    """Let the memory of what is mapped be free again; it may be read on, from the file."""
    mapped = held if isinstance(held, np.memmap) else held.base
    if isinstance(mapped, np.memmap):
        mapped._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]  # numpy has no other way to it


def part_folder(folder: Path, number: int) -> Path:
    """Where the files of checkpoint `number` are written until it is complete."""
    return folder / (_NAME.format(number) + _PART)


def begin(folder: Path, number: int) -> None:
    """Make room for a new checkpoint; what an earlier try has left goes. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"checkpoint-*{_PART}"):
        shutil.rmtree(left)
    part_folder(folder, number).mkdir()


def intend(folder: Path, number: int, token: str, nodes: Sequence[str]) -> None:
    """Note in which depots the shards of a new checkpoint will be, so that whoever comes after a crash can let go of
    them. Raises OSError."""
    document = json.dumps({"token": token, "depots": list(nodes)})
    atomic_file.write(part_folder(folder, number) / _INTENT, document, synced=True)


def in_depots(folder: Path) -> dict[str, list[str]]:
    """The tokens and nodes of what is in depots for any checkpoint of `folder`, whole, half or set aside."""
    entries = {}
    for path in folder.glob(f"checkpoint-*/{_INTENT}"):
        try:
            document = bounded_json.load(path, "depots")
        except InputError:
            continue  # its writer died in a power cut: the portal frees all of the job in the end
        if isinstance(document, dict) and isinstance(document.get("token"), str):
            entries[document["token"]] = [node for node in document.get("depots") or () if isinstance(node, str)]
    return entries


def write_shard(folder: Path, number: int, place: int, rank: int, held: NDArray[Any]) -> Shard:
    """Write what `rank` holds of array number `place`, and put it on the disk. Raises OSError."""
    name = f"{place}-{rank}.raw"
    content = memoryview(held.reshape(-1).view(np.uint8).data if held.size else b"")
    checksum = 0
    with (part_folder(folder, number) / name).open("xb", buffering=0) as file:
        for at in range(0, len(content), _CHUNK):
            chunk = content[at : at + _CHUNK]
            checksum = zlib.crc32(chunk, checksum)
            _write_all(file.fileno(), chunk)
        os.fsync(file.fileno())
    return Shard(rank, name, len(content), checksum)


def _write_all(descriptor: int, content: memoryview) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def complete(
    folder: Path, number: int, ranks: int, written_at: float, arrays: Sequence[StoredArray], token: str = ""
) -> Checkpoint:
    """Write the manifest, give the checkpoint its name, and let go of all but the last two. Raises OSError.

    `token`: by which depots know it, where its shards are there.
    """
    part = part_folder(folder, number)
    document = {
        "version": WITH_DEPOTS if token else VERSION,
        "number": number,
        "written_at": written_at,
        "ranks": ranks,
        **({"token": token} if token else {}),
        "arrays": [_dumped(stored, with_depots=bool(token)) for stored in arrays],
    }
    atomic_file.write(part / _MANIFEST, json.dumps(document), synced=True)
    final = folder / _NAME.format(number)
    part.rename(final)
    _sync(folder)
    useless = [folder / _NAME.format(old) for old in numbers(folder)[KEPT:]]
    for path in (*useless, *folder.glob(f"checkpoint-*{_BAD}")):
        shutil.rmtree(path)
    return Checkpoint(final, number, written_at, ranks, {stored.name: stored for stored in arrays}, token)


def abandon(folder: Path, number: int) -> None:
    """Take away what was written of a checkpoint that cannot be completed."""
    shutil.rmtree(part_folder(folder, number), ignore_errors=True)


def set_aside(folder: Path, number: int) -> None:
    """Let a checkpoint that cannot be used be none any more, so that it is not kept in the place of a good one; it can
    be looked at until the next one is complete."""
    (folder / _NAME.format(number)).rename(folder / (_NAME.format(number) + _BAD))


def clear(folder: Path) -> None:
    """Take all checkpoints away, for what they were made for is done. Raises OSError."""
    for path in folder.glob("checkpoint-*"):
        shutil.rmtree(path)


def numbers(folder: Path) -> list[int]:
    """The complete checkpoints in `folder`, the newest first."""
    words = (path.name.removeprefix("checkpoint-") for path in folder.glob("checkpoint-*"))
    return sorted((int(word) for word in words if word.isascii() and word.isdigit()), reverse=True)


def opened(folder: Path, number: int) -> Checkpoint:
    """Read a manifest, and see that every shard is there in its length, where it is a file only. Raises
    BadCheckpointError."""
    path = folder / _NAME.format(number)
    try:
        found = _parsed(path, bounded_json.load(path / _MANIFEST, "manifest"))
    except InputError as error:
        raise BadCheckpointError(f"{path}: {error}") from error
    for stored, shard in shards(found):
        if not shard.depots:
            _check_length(found, stored, shard)
    return found


def shards(checkpoint: Checkpoint) -> Iterator[tuple[StoredArray, Shard]]:
    """All shards, and what each is a part of."""
    for stored in checkpoint.arrays.values():
        for shard in stored.shards:
            yield stored, shard


def verify(checkpoint: Checkpoint, stored: StoredArray, shard: Shard) -> None:
    """Compare length and checksum of a shard that is a file. Raises BadCheckpointError."""
    _check_length(checkpoint, stored, shard)
    path = _path(checkpoint, shard)
    if _checksum(path) != shard.checksum:
        raise BadCheckpointError(
            f"{path}, what rank {shard.rank} held of {stored.name}, was changed since it was written."
        )


def _path(checkpoint: Checkpoint, shard: Shard) -> Path:
    return checkpoint.folder / (shard.file or "")


def _checksum(path: Path) -> int:
    checksum = 0
    try:
        with path.open("rb", buffering=0) as file:
            while chunk := file.read(_CHUNK):
                checksum = zlib.crc32(chunk, checksum)
    except OSError as error:
        raise BadCheckpointError(f"{path} cannot be read: {error.strerror}.") from error
    return checksum


def _check_length(checkpoint: Checkpoint, stored: StoredArray, shard: Shard) -> None:
    path = _path(checkpoint, shard)
    try:
        size = path.stat().st_size
    except OSError as error:
        raise BadCheckpointError(f"{path}, what rank {shard.rank} held of {stored.name}, is missing.") from error
    if size != shard.bytes:
        raise BadCheckpointError(f"{path} has {size} bytes; {shard.bytes} were written of {stored.name}.")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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


def _parsed(path: Path, document: Any) -> Checkpoint:
    if not isinstance(document, dict) or document.get("version") not in (VERSION, WITH_DEPOTS):
        raise InputError("manifest", str(path), f"a manifest of version {VERSION} or {WITH_DEPOTS}")
    token = document.get("token", "") if document["version"] == WITH_DEPOTS else ""
    if not isinstance(token, str):
        raise InputError("manifest.token", token, "a word")
    ranks, at, arrays = document.get("ranks"), document.get("written_at"), document.get("arrays")
    if not is_whole(ranks) or not is_number(at) or not isinstance(arrays, list):
        raise InputError("manifest", str(path), "one with ranks, written_at and arrays")
    stored = [_array(entry, f"arrays[{place}]", place, with_depots=bool(token)) for place, entry in enumerate(arrays)]
    number = int(path.name.removeprefix("checkpoint-"))
    return Checkpoint(path, number, float(at), ranks, {each.name: each for each in stored}, token)


def _array(entry: Any, field: str, place: int, *, with_depots: bool) -> StoredArray:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise InputError(f"{field}.name", entry, "the name of an array")
    layout, shape = layouts.load(entry.get("layout"), f"{field}.layout"), entry.get("shape")
    if not isinstance(shape, list) or not all(is_whole(length) and length >= 0 for length in shape):
        raise InputError(f"{field}.shape", shape, "a list of lengths")
    layout.check(shape)
    try:
        dtype = np.dtype(str(entry.get("dtype")))
    except TypeError as error:
        raise InputError(f"{field}.dtype", entry.get("dtype"), "a type of numpy") from error
    entries = _read_shards(entry.get("shards"), field, with_depots=with_depots)
    stored = StoredArray(entry["name"], dtype, tuple(shape), layout, entries, place)
    if len(stored.shards) != (layout.ranks if layout.dealings else 1):
        raise InputError(f"{field}.shards", len(stored.shards), "a shard for each rank")
    return stored


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
