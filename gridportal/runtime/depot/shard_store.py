"""The shards of jobs in a folder of a depot's own: a folder for each job, a file for each shard, within bounds.

Nothing that comes from outside becomes a path: names of jobs and shards are letters and digits, files are opened below
a folder that is open already, and never through a link. A shard is whole or it is not there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: Shards that a job may have on a node: each takes an inode.
MOST_SHARDS = 100_000
_JOB = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_SHARD = re.compile(r"[0-9a-f]{16}-[0-9]{1,9}-[0-9]{1,9}", re.ASCII)
_TOKEN = re.compile(r"[0-9a-f]{16}", re.ASCII)
_PART = ".part"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BLOCK = 4096  # bytes in which a file system gives out space
_SPARE = 20  # one part in so many of the file system stays free
_CHECKED_AT_ONCE = 128 * 1024


class StoreRefusedError(Exception):
    """A sentence why not. `code`: missing, full or bad."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class Usage:
    """What a job has here: bytes, as the file system gives them out, and shards; when it wrote last, Unix seconds."""

    bytes: int = 0
    shards: int = 0
    written_at: int = 0


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes: what all jobs and one job may have, and what they may still write now."""

    space: int
    job_space: int
    free: int


class ShardStore:
    """Shards below `folder`, which is made private. `space`, `job_space`: bytes of all jobs and of one.

    May be used from several threads. Raises OSError when the folder cannot be used.
    """

    def __init__(self, folder: str, space: int, job_space: int) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._root = os.open(folder, _FOLDER)
        if os.fstat(self._root).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "the folder of a depot belongs to who runs it", folder)
        os.fchmod(self._root, 0o700)
        self._space, self._job_space = space, job_space
        self._lock = threading.Lock()
        self._usage: dict[str, Usage] = {}
        for job in filter(_JOB.fullmatch, os.listdir(self._root)):
            self._usage[job] = self._counted(job)

    def usage(self) -> dict[str, Usage]:
        """What each job has."""
        with self._lock:
            known = {job: Usage(usage.bytes, usage.shards) for job, usage in self._usage.items()}
        for job, usage in known.items():
            with contextlib.suppress(OSError):
                usage.written_at = int(os.stat(job, dir_fd=self._root, follow_symlinks=False).st_mtime)
        return known

    def room(self) -> Room:
        """How much jobs may have here. Raises OSError."""
        with self._lock:
            taken = sum(usage.bytes for usage in self._usage.values())
        return Room(self._space, self._job_space, max(0, min(self._space - taken, self._free_on_disk())))

    def put(self, job: str, name: str, size: int, receive: Callable[[int], int]) -> int:
        """Keep a shard of `size` bytes, which `receive` writes to a descriptor; the CRC-32 that it gives.

        It has its name when it is on the disk, and not before; one of that name is replaced. Raises StoreRefusedError,
        OSError, and what `receive` raises.
        """
        _check(_JOB, job)
        _check(_SHARD, name)
        self._reserve(job, size)
        try:
            with self._folder(job, make=True) as folder:
                part = f"{name}.{os.urandom(4).hex()}{_PART}"
                try:
                    checksum = self._written(folder, part, size, receive)
                    self._let_go(job, folder, name)
                    os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
                    os.fsync(folder)
                except BaseException:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(part, dir_fd=folder)
                    raise
        except BaseException:
            self._release(job, size)
            raise
        return checksum

    @staticmethod
    def _written(folder: int, part: str, size: int, receive: Callable[[int], int]) -> int:
        descriptor = os.open(part, _NEW, 0o600, dir_fd=folder)
        try:
            checksum = receive(descriptor)
            os.fsync(descriptor)
            if os.fstat(descriptor).st_size != size:
                raise OSError(errno.EIO, "not all of the shard was written")
        finally:
            os.close(descriptor)
        return checksum

    @contextmanager
    def opened(self, job: str, name: str) -> Iterator[tuple[int, int]]:
        """A descriptor of a shard, and its size. StoreRefusedError when there is none."""
        _check(_SHARD, name)
        with self._folder(job) as folder:
            try:
                descriptor = os.open(name, _READ, dir_fd=folder)
            except FileNotFoundError as error:
                raise StoreRefusedError("missing", f"there is no shard {name}") from error
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise StoreRefusedError("missing", f"there is no shard {name}")
            yield descriptor, about.st_size
        finally:
            os.close(descriptor)

    def checksum(self, job: str, name: str, start: int, size: int, before: int) -> tuple[int, int]:
        """The CRC-32 of `size` bytes from `start` on, going on from `before`, and how many bytes the shard has."""
        with self.opened(job, name) as (descriptor, whole):
            end = min(start + size, whole)
            while start < end:
                part = os.pread(descriptor, min(_CHECKED_AT_ONCE, end - start), start)
                if not part:
                    break
                before = zlib.crc32(part, before)
                start += len(part)
            return before, whole

    def drop(self, job: str, tokens: list[str], *, but: bool = False) -> int:
        """Take away the shards whose names begin with one of `tokens`, or all but these; how many they were."""
        for token in tokens:
            _check(_TOKEN, token)
        wanted, dropped = set(tokens), 0
        with contextlib.suppress(StoreRefusedError), self._folder(job) as folder:
            for name in filter(_SHARD.fullmatch, os.listdir(folder)):
                if (name.partition("-")[0] in wanted) is not but:
                    dropped += self._let_go(job, folder, name)
        return dropped

    def free(self, job: str) -> int:
        """Take away all that a job has; how many shards they were."""
        dropped = self.drop(job, [], but=True)
        with contextlib.suppress(OSError):  # not empty: something is being written
            os.rmdir(job, dir_fd=self._root)
            with self._lock:
                self._usage.pop(job, None)
        return dropped

    def _let_go(self, job: str, folder: int, name: str) -> bool:
        try:
            size = os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            return False
        self._release(job, size)
        return True

    def _free_on_disk(self) -> int:
        about = os.fstatvfs(self._root)
        return about.f_bavail * about.f_frsize - about.f_blocks * about.f_frsize // _SPARE

    def _reserve(self, job: str, size: int) -> None:
        if _taken(size) > self._free_on_disk():
            raise StoreRefusedError("full", "the disk of the depot is full")
        with self._lock:
            mine = self._usage.setdefault(job, Usage())
            everyone = sum(usage.bytes for usage in self._usage.values())
            if mine.bytes + _taken(size) > self._job_space or mine.shards >= MOST_SHARDS:
                raise StoreRefusedError(
                    "full",
                    f"the job has {mine.bytes} bytes in {mine.shards} shards there, and may have {self._job_space}",
                )
            if everyone + _taken(size) > self._space:
                raise StoreRefusedError("full", f"jobs have {everyone} bytes there, of at most {self._space}")
            mine.bytes += _taken(size)
            mine.shards += 1

    def _release(self, job: str, size: int) -> None:
        with self._lock:
            if mine := self._usage.get(job):
                mine.bytes -= _taken(size)
                mine.shards -= 1

    @contextmanager
    def _folder(self, job: str, *, make: bool = False) -> Iterator[int]:
        _check(_JOB, job)
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(job, 0o700, dir_fd=self._root)
        try:
            descriptor = os.open(job, _FOLDER, dir_fd=self._root)
        except OSError as error:
            raise StoreRefusedError("missing", "the job has nothing there") from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _counted(self, job: str) -> Usage:
        """What an earlier life of this depot has kept; what it was writing goes."""
        usage = Usage()
        with self._folder(job) as folder:
            for name in os.listdir(folder):
                if _SHARD.fullmatch(name):
                    usage.bytes += _taken(os.stat(name, dir_fd=folder, follow_symlinks=False).st_size)
                    usage.shards += 1
                elif name.endswith(_PART):
                    os.unlink(name, dir_fd=folder)
        return usage


def is_job(name: str) -> bool:
    """Whether a job may have this name: letters, digits, - and _, at most 64.

    >>> is_job("412"), is_job("../412")
    (True, False)
    """
    return bool(_JOB.fullmatch(name))


def _check(pattern: re.Pattern[str], name: object) -> None:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise StoreRefusedError("bad", "that is no name of a job, a shard or a checkpoint")


def _taken(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK
