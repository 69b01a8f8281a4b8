"""Room on the disk for one more checkpoint: where there is none while two are kept, the older one goes first.

The newest one that can be used stays until the next one is complete, so that there is a whole one at each moment.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from gridportal.base.errors import ImpossibleError
from gridportal.runtime.srs import checkpoint_files
from gridportal.runtime.srs.checkpoint_manifest import BadCheckpointError

#: Files take whole blocks of a disk; of a shard the manifest says so much at most, and a folder so much besides.
_BLOCK, _ENTRY, _FOLDER = 4096, 256, 8192


def on_disk(sizes: Iterable[int]) -> int:
    """Bytes that shards of these sizes take, with what the manifest says of them.

    >>> on_disk([1, 4096, 4097])
    17152
    """
    return sum(-(-size // _BLOCK) * _BLOCK + _ENTRY for size in sizes)


def make_room(folder: Path, wanted: int) -> None:
    """Where the disk of `folder` has less than `wanted` bytes, and a few for the manifest, take away the oldest
    checkpoints, but never the newest one that can be used, until it has. Takes none away where all of that would not
    do. Raises ImpossibleError then, and OSError."""
    wanted += _FOLDER
    free = free_bytes(folder)
    if free >= wanted:
        return
    older = _older(folder)
    if free + sum(_size(path) for path in older) < wanted:
        without = " even without the older one" if older else ""
        raise ImpossibleError(f"{folder} has {free:,} bytes free, and a checkpoint needs {wanted:,}{without}.")
    for path in older:
        checkpoint_files.take_away(path)
        if free_bytes(folder) >= wanted:
            return


def free_bytes(folder: Path) -> int:
    """What this user may still write there."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def _older(folder: Path) -> list[Path]:
    """All that may go, the oldest first: what is set aside, and all but the newest one that can be used; none where
    none can be."""
    numbers = checkpoint_files.numbers(folder)
    usable = next((number for number in numbers if _is_usable(folder, number)), None)
    if usable is None:
        return []
    whole = [checkpoint_files.complete_folder(folder, number) for number in sorted(numbers) if number != usable]
    return [*checkpoint_files.aside(folder), *whole]


def _is_usable(folder: Path, number: int) -> bool:
    try:
        checkpoint_files.opened(folder, number)
    except BadCheckpointError:
        return False
    return True


def _size(path: Path) -> int:
    """Bytes that a folder gives back."""
    return sum(each.lstat().st_blocks * 512 for each in path.glob("**/*"))
