"""What lies in the folder of a job's checkpoints, read by names and bounds: its program may have put anything there."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from gridportal.base import run_directory
from gridportal.base.errors import InputError
from gridportal.base.job_files import BAD, CHECKPOINT, MANIFEST, MAPS, NOT_STOPPED
from gridportal.base.reasons import NOTHING, Code, Reason, text_reason
from gridportal.base.run_directory import RunFileError
from gridportal.runtime.srs.checkpoint_manifest import check_text
from scheduling.jobs.models import Job
from scheduling.runs.core import checkpoint_manifest
from scheduling.runs.core.checkpoint_manifest import ArrayFacts, ManifestFacts
from scheduling.runs.services import job_folder

log = logging.getLogger(__name__)
_NAME = re.compile(re.escape(CHECKPOINT.partition("{")[0]) + r"(\d{8,10})(" + re.escape(BAD) + r")?")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: Of so many entries of the folder the names are read, and so many checkpoints are looked at, the newest.
_MOST_ENTRIES, _MOST = 1000, 8
#: Bytes of a manifest: that of 10,000 ranks with ten arrays has some 9 MB.
_MOST_MANIFEST, _MOST_MAPS, _MOST_ANSWER = 32 * 2**20, 4 * 2**20, 64 * 2**10
#: So many shards are looked for in the folder of one checkpoint.
_MOST_SHARDS = 2000


class Health(StrEnum):
    """How a checkpoint is. The database column holds these words."""

    WHOLE = "whole"  # its manifest can be read, and its shards are there, as far as they lie in its folder
    INCOMPLETE = "incomplete"  # a shard is missing, or has another length
    UNREADABLE = "unreadable"  # its manifest cannot be read
    SET_ASIDE = "set aside"  # a run found that it cannot be used


@dataclass(frozen=True, slots=True)
class CheckpointFacts:
    """A checkpoint in the folder. `problem`: what is wrong with it; `manifest`: None where that cannot be read."""

    number: int
    health: Health
    manifest: ManifestFacts | None = None
    problem: Reason = NOTHING

    @property
    def is_whole(self) -> bool:
        """Whether a run can go on from it, as far as one can see without reading its shards."""
        return self.health is Health.WHOLE


def checkpoints(job: Job) -> list[CheckpointFacts]:
    """The last few in the folder, the newest first."""
    place = job_folder.checkpoints(job)
    found = sorted(_names(place), reverse=True)[:_MOST]
    return [_facts(place, number, aside=aside) for number, aside in found]


def newest_whole(job: Job) -> int | None:
    """The number of the newest checkpoint that is whole."""
    return next((each.number for each in checkpoints(job) if each.is_whole), None)


@dataclass(frozen=True, slots=True)
class DataMap:
    """How the arrays of a program lie now, on which ranks (None: it has not said) and hosts."""

    ranks: int | None = None
    hosts: tuple[str, ...] = ()
    arrays: tuple[ArrayFacts, ...] = ()


def data_map(job: Job) -> DataMap:
    """That of its program, as it has said itself; empty where it has not."""
    try:
        document = run_directory.read_json(job_folder.checkpoints(job), MAPS, _MOST_MAPS)
        if document is None:
            return DataMap()
        arrays = checkpoint_manifest.arrays_of(document)
    except (RunFileError, InputError, OSError) as error:
        log.info("job %s: its %s is not taken over: %s", job.pk, MAPS, error)
        return DataMap()
    ranks, hosts = document.get("ranks"), document.get("hosts")
    is_count = isinstance(ranks, int) and not isinstance(ranks, bool) and 0 < ranks < 2**31
    names = tuple(str(host)[:255] for host in hosts[:4096]) if isinstance(hosts, list) else ()
    return DataMap(ranks if is_count else None, names, arrays)


def not_stopped(job: Job) -> str | None:
    """Why its program goes on though it was asked to stop, in its own words, which may be none; None where it has not
    said so."""
    try:
        document = run_directory.read_json(job_folder.checkpoints(job), NOT_STOPPED, _MOST_ANSWER)
    except RunFileError as error:
        return str(error)
    if document is None:
        return None
    problem = document.get("problem") if isinstance(document, dict) else None
    text = "".join(letter if letter.isprintable() else " " for letter in str(problem or "")[:500]).strip()
    return text


def _names(place: Path) -> Iterator[tuple[int, bool]]:
    """Number, and whether it was set aside, of each."""
    try:
        folder = os.open(place, _FOLDER)
    except OSError:
        return
    try:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                if count >= _MOST_ENTRIES:
                    break
                if match := _NAME.fullmatch(entry.name):
                    yield int(match[1]), bool(match[2])
    finally:
        os.close(folder)


def _facts(place: Path, number: int, *, aside: bool) -> CheckpointFacts:
    name = CHECKPOINT.format(number) + (BAD if aside else "")
    try:
        manifest = _manifest(place, name)
        problem = NOTHING if aside else next(_problems(place, name, manifest), NOTHING)
    except (RunFileError, InputError, OSError) as error:
        return CheckpointFacts(
            number, Health.SET_ASIDE if aside else Health.UNREADABLE, problem=text_reason(str(error)[:300])
        )
    if aside:
        return CheckpointFacts(number, Health.SET_ASIDE, manifest)
    return CheckpointFacts(number, Health.INCOMPLETE if problem else Health.WHOLE, manifest, problem)


def manifest(job: Job, number: int) -> ManifestFacts | None:
    """That of a checkpoint of a job; None where it cannot be read, or was set aside."""
    try:
        return _manifest(job_folder.checkpoints(job), CHECKPOINT.format(number))
    except (RunFileError, InputError, OSError):
        return None


def _manifest(place: Path, checkpoint: str) -> ManifestFacts:
    """Raises RunFileError, InputError, OSError; also for one that was changed since it was written."""
    document, text = run_directory.read_json_text(place, f"{checkpoint}/{MANIFEST}", _MOST_MANIFEST)
    found = checkpoint_manifest.read(document)
    check_text(text, document)
    return found


def _problems(place: Path, checkpoint: str, manifest: ManifestFacts) -> Iterator[Reason]:
    """What is wrong with its shards, of those that would lie in its folder; checksums are the reading run's matter."""
    with ExitStack() as opened:
        at = os.open(place, _FOLDER)
        opened.callback(os.close, at)
        folder = os.open(checkpoint, _FOLDER, dir_fd=at)
        opened.callback(os.close, folder)
        for name, size in list(manifest.files.items())[:_MOST_SHARDS]:
            if problem := _problem(folder, name, size):
                yield problem


def _problem(folder: int, name: str, size: int) -> Reason:
    if "/" in name or "\0" in name:
        return Reason.of(Code.SHARD_UNNAMED, file=_shown(name))
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return Reason.of(Code.SHARD_MISSING, file=_shown(name))
    if found.st_size == size:
        return NOTHING
    return Reason.of(Code.SHARD_CHANGED, file=_shown(name), has=found.st_size, size=size)


def _shown(name: str) -> str:
    return "".join(letter for letter in name[:80] if letter.isprintable())
