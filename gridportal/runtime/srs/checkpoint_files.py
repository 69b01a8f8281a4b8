"""Checkpoints as files: a folder for each, with one raw file for each rank and array, and a manifest that comes last.

What has its final name is whole: all files are on the disk before the manifest, and the folder has its name after that.
Shards have lengths and checksums, so that what was cut off, changed or taken away later is found. The last two stay.

A shard may be in depots too, or only there; the manifest says in which (`checkpoint_manifest`). What is in depots is
not looked at here.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridportal.base import atomic_file, bounded_json
from gridportal.base.errors import InputError
from gridportal.base.job_files import FINISHED
from gridportal.base.run_files import DEPOTS
from gridportal.runtime.srs import checkpoint_manifest
from gridportal.runtime.srs.checkpoint_manifest import BadCheckpointError, Checkpoint, Shard, StoredArray

#: So many checkpoints are kept.
KEPT = 2
_MANIFEST, _INTENT = "manifest.json", DEPOTS
_NAME = "checkpoint-{:08d}"
_PART, _BAD = ".part", ".bad"
_CHUNK = 8 * 2**20


def forget(held: NDArray[Any]) -> None:
    """Let the memory of what is mapped be free again; it may be read on, from the file."""
    mapped = held if isinstance(held, np.memmap) else held.base
    if isinstance(mapped, np.memmap):
        mapped._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]  # numpy has no other way to it


def part_folder(folder: Path, number: int) -> Path:
    """Where the files of checkpoint `number` are written until it is complete."""
    return folder / (_NAME.format(number) + _PART)


def complete_folder(folder: Path, number: int) -> Path:
    """Where the files of checkpoint `number` are once it is complete."""
    return folder / _NAME.format(number)


def aside(folder: Path) -> list[Path]:
    """Checkpoints that cannot be used, and are kept to be looked at."""
    return sorted(folder.glob(f"checkpoint-*{_BAD}"))


def begin(folder: Path, number: int) -> None:
    """Make room for a new checkpoint; what an earlier try has left goes. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"checkpoint-*{_PART}"):
        take_away(left)
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
    path = part_folder(folder, number) / name
    content = memoryview(held.reshape(-1).view(np.uint8).data if held.size else b"")
    try:
        checksum = _written(path, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # of a write it says no name
    return Shard(rank, name, len(content), checksum)


def _written(path: Path, content: memoryview) -> int:
    checksum = 0
    with path.open("xb", buffering=0) as file:
        for at in range(0, len(content), _CHUNK):
            chunk = content[at : at + _CHUNK]
            checksum = zlib.crc32(chunk, checksum)
            _write_all(file.fileno(), chunk)
        os.fsync(file.fileno())
    return checksum


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
    document = checkpoint_manifest.dumped(number, ranks, written_at, arrays, token)
    atomic_file.write(part / _MANIFEST, checkpoint_manifest.text(document), synced=True)
    final = complete_folder(folder, number)
    part.rename(final)
    (folder / FINISHED).unlink(missing_ok=True)  # another program's: this one has not come to its end
    _sync(folder)
    useless = [complete_folder(folder, old) for old in numbers(folder)[KEPT:]]
    for path in (*useless, *aside(folder)):
        take_away(path)
    return Checkpoint(final, number, written_at, ranks, {stored.name: stored for stored in arrays}, token)


def abandon(folder: Path, number: int) -> None:
    """Take away what was written of a checkpoint that cannot be completed."""
    shutil.rmtree(part_folder(folder, number), ignore_errors=True)


def set_aside(folder: Path, number: int) -> None:
    """Let a checkpoint that cannot be used be none any more, so that it is not kept in the place of a good one; it can
    be looked at until the next one is complete."""
    complete_folder(folder, number).rename(folder / (_NAME.format(number) + _BAD))


def clear(folder: Path) -> None:
    """Take all checkpoints away, for what they were made for is done. Raises OSError."""
    for path in folder.glob("checkpoint-*"):
        take_away(path)


def take_away(path: Path) -> None:
    """Take away a checkpoint, or what somebody else has put under such a name. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def numbers(folder: Path) -> list[int]:
    """The complete checkpoints in `folder`, the newest first."""
    words = (path.name.removeprefix("checkpoint-") for path in folder.glob("checkpoint-*"))
    return sorted((int(word) for word in words if word.isascii() and word.isdigit()), reverse=True)


def opened(folder: Path, number: int) -> Checkpoint:
    """Read a manifest, and see that every shard is there in its length, where it is a file only. Raises
    BadCheckpointError."""
    path = complete_folder(folder, number)
    try:
        document = bounded_json.load(path / _MANIFEST, "manifest")
        found = checkpoint_manifest.parsed(path, document)
        checkpoint_manifest.check_text((path / _MANIFEST).read_bytes(), document)
    except OSError as error:
        raise BadCheckpointError(f"{path / _MANIFEST} cannot be read: {error.strerror}.") from error
    except InputError as error:
        raise BadCheckpointError(f"{path}: {error}") from error
    for stored, shard in checkpoint_manifest.shards(found):
        if not shard.depots:
            _check_length(found, stored, shard)
    return found


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
