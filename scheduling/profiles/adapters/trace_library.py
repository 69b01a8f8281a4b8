"""The files that the recording library leaves, and traces in files."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path, PurePath

from gridportal.base import atomic_file, bounded_json, run_directory, run_files
from gridportal.base.errors import InputError
from scheduling.profiles.core import trace
from scheduling.profiles.core.trace import Trace


def collect(directory: Path) -> Trace:
    """The trace of the run that recorded into `directory`. Raises InputError when ranks are missing, RunFileError for
    what is no plain file of JSON."""
    files = sorted(directory.glob(run_files.TRACE_RANK.format(rank="*")))
    if not files:
        raise InputError(
            "trace",
            str(directory),
            f"a folder where a traced program of this MPI has ended ({run_files.TRACE_RANK.format(rank=0)}, ...)",
        )
    found = trace.merge(
        run_directory.read_json(directory.resolve(), file.name, bounded_json.MAX_FILE) for file in files
    )
    copies = copies_of_ranks(directory.resolve())
    if copies and found.ranks == 1:
        raise InputError(
            "trace",
            f"{copies + 1} runs of one rank each",
            "one run of all ranks: the launcher must belong to the MPI of the program, and start the program itself",
        )
    return found


def copies_of_ranks(directory: Path, inside: str = ".") -> int:
    """How many processes were a rank that another had been, of a run that recorded into `directory`, in its folder
    `inside`: each wrote a line of two bytes. Raises RunFileError."""
    return run_directory.read_part(directory, str(PurePath(inside, run_files.TRACE_COPIES)), 0, 0).size // 2


def has_begun(directory: Path) -> bool:
    """Whether rank 0 of a run in this run directory was recorded: it leaves a mark when it begins. Raises
    RunFileError."""
    return run_directory.read_part(directory, f"{run_files.TRACE}/{run_files.TRACE_MARKS}", 0, 0).size > 0


def load(path: Path | str) -> Trace:
    """The trace of a document, compressed or not, or of a folder with the files of its ranks. Raises InputError."""
    if Path(path).is_dir():
        return collect(Path(path))
    if str(path).endswith(".gz"):
        return trace.parse(_unpacked(path))
    return trace.parse(bounded_json.load(path, "trace"))


def _unpacked(path: Path | str) -> object:
    try:
        with gzip.open(path, "rb") as file:
            content = file.read(bounded_json.MAX_FILE + 1)
    except (OSError, EOFError) as error:
        raise InputError("trace", str(path), f"a readable compressed trace ({error})") from error
    if len(content) > bounded_json.MAX_FILE:
        raise InputError("trace", str(path), f"a trace of at most {bounded_json.MAX_FILE // 2**20} MiB")
    try:
        return bounded_json.loads(content)
    except bounded_json.UnreadableError as error:
        raise InputError("trace", str(path), f"a trace ({error})") from error


def check_output(path: Path) -> None:
    """Raise InputError for a file that could not be written, before hours went into what was to be in it."""
    folder = path.absolute().parent
    if not path.name or path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError("output", str(path), "a file in a folder that is there and may be written to")


def save(recorded: Trace, path: Path) -> Path:
    """Write a trace's document, compressed where the name ends in .gz; whole or not at all. Raises InputError."""
    text = json.dumps(trace.dump(recorded), allow_nan=False).encode()
    return write(path, gzip.compress(text, 6) if path.suffix == ".gz" else text)


def write(path: Path, content: bytes) -> Path:
    """Write a whole file or none. Raises InputError where that cannot be."""
    check_output(path)
    try:
        atomic_file.write(path, content)
    except OSError as error:
        raise InputError("output", str(path), f"a file that can be written ({error.strerror})") from error
    return path
