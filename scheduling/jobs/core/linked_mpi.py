"""Which MPI a program is linked with, by its file; and what starts its ranks, by the words of its launcher.

A hint and no proof: an MPI may be loaded later, and some stand in for each other.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from scheduling.jobs.core.launcher import STARTERS

OPEN_MPI, MPICH = "Open MPI", "MPICH"
_ELF = b"\x7fELF"
#: Of libraries' names. libmpi.so.12 is that of MPICH and of all that took over its binary interface.
_NEEDED = (
    (re.compile(rb"libmpi(_\w+)?\.so\.(20|40)\b|libopen-(rte|pal)\.so|libmpi_(mpifh|usempif08|cxx)\.so"), OPEN_MPI),
    (re.compile(rb"libmpi(fort|cxx)?\.so\.12\b|libmpich(fort|cxx)?\.so"), MPICH),
)
#: What a statically linked one has in it, if only one of an MPI's: linkers leave out what nobody calls.
_INSIDE = (
    *((text, MPICH) for text in (b"MPICH Version:", b"MPIR_CVAR_DEBUG_SUMMARY")),
    *((text, OPEN_MPI) for text in (b"Open MPI v", b"ompi_mpi_init:")),
)
#: What Debian alone calls its MPICH's.
_OF_DEBIAN = re.compile(rb"libmpich(fort|cxx)?\.so\.12\b")
_DYNAMIC, _STRINGS, _NEEDS, _LOADED = 2, 5, 1, 1
_MOST_ENTRIES = 4096
#: A line of a script that starts ranks.
_STARTS = re.compile(
    rb"^[ \t]*(?:exec[ \t]+)?(?:\S*/)?((?:%b)(?:\.\w+)?|srun)[ \t]" % "|".join(STARTERS).encode(), re.M
)


def linked_mpi(content: bytes) -> str:
    """The MPI with which the program in a file is linked: OPEN_MPI or MPICH; empty where its file does not say.

    >>> linked_mpi(b"#!/bin/sh"), linked_mpi(b"\\x7fELF")
    ('', '')
    """
    if not content.startswith(_ELF):
        return ""
    needed = _names_needed(content)
    if needed is None:
        return ""
    found = {mpi for name in needed for pattern, mpi in _NEEDED if pattern.match(name)}
    found = found or {mpi for text, mpi in _INSIDE if text in content}
    return found.pop() if len(found) == 1 else ""


def is_of_debians_mpich(content: bytes) -> bool:
    """Whether the program in a file is linked with Debian's MPICH, by the name of that library."""
    return content.startswith(_ELF) and any(map(_OF_DEBIAN.match, _names_needed(content) or ()))


def launcher_mpi(launcher: Sequence[str]) -> str:
    """The MPI whose launcher these words are, where they can be no other's; empty for srun, a script and the like.

    >>> launcher_mpi(("mpiexec", "-hosts", "n1")), launcher_mpi(("mpirun.openmpi",)), launcher_mpi(("mpirun", "-n"))
    ('MPICH', 'Open MPI', '')
    """
    name = launcher_name(launcher)
    if name.startswith(("orterun", "prterun")) or name.endswith(".openmpi"):
        return OPEN_MPI
    if name.endswith((".mpich", ".hydra")):
        return MPICH
    if name.startswith(STARTERS):
        return MPICH if "-hosts" in launcher else OPEN_MPI if "--map-by" in launcher else ""
    return ""


def is_started_by_another(mpi: str, launcher: Sequence[str]) -> bool:
    """Whether a program that is linked with `mpi` is started by the launcher of another one; False where one of them is
    unknown.

    >>> is_started_by_another(MPICH, ("mpirun.openmpi",)), is_started_by_another(MPICH, ("srun",))
    (True, False)
    """
    of_launcher = launcher_mpi(launcher)
    return bool(mpi and of_launcher) and mpi != of_launcher


def launcher_name(launcher: Sequence[str]) -> str:
    """The name of what starts the ranks; empty where none of the words does.

    >>> launcher_name(("env", "A=1", "/opt/bin/mpirun", "-n")), launcher_name(("env", "SLURM_NTASKS=2"))
    ('mpirun', '')
    """
    names = (PurePath(word).name for word in launcher if "=" not in word)
    return next((name for name in names if name.startswith((*STARTERS, "srun"))), "")


def starts_ranks(launcher: Sequence[str]) -> bool:
    """Whether these words start the ranks, by whatever they begin with; not where they only set variables, for a
    batch script that runs once.

    >>> starts_ranks(("sh", "-c", "run it", "sh")), starts_ranks(("env", "SLURM_NTASKS=2")), starts_ranks(())
    (True, False, False)
    """
    return any("=" not in word and PurePath(word).name != "env" for word in launcher)


def started_inside(content: bytes) -> str:
    """What a shell script starts ranks with by itself; empty for none.

    >>> started_inside(b"#!/bin/sh\\n# mpirun x\\nexec mpirun -n 4 ./solver\\n"), started_inside(b"#!/bin/sh\\n./x\\n")
    ('mpirun', '')
    """
    first = content.split(b"\n", 1)[0]
    if not first.startswith(b"#!") or not re.search(rb"\b(ba|da|k|z)?sh\b", first):
        return ""
    found = _STARTS.search(content)
    return found[1].decode() if found else ""


def _names_needed(content: bytes) -> tuple[bytes, ...] | None:
    """The names of the libraries that an ELF file asks for; None for one that is damaged."""
    try:
        return tuple(_needed(content))
    except (struct.error, ValueError, IndexError, OverflowError):
        return None


def _needed(content: bytes) -> Iterator[bytes]:
    """The names of the libraries that an ELF file asks for. Raises struct.error, ValueError, IndexError or
    OverflowError for one that is damaged."""
    wide, order = content[4] == 2, "<" if content[5] == 1 else ">"
    word = "Q" if wide else "I"
    (start,) = struct.unpack_from(order + word, content, 32 if wide else 28)
    size, count = struct.unpack_from(order + "HH", content, 54 if wide else 42)
    headers = [_header(content, order, start + k * size, wide) for k in range(min(count, _MOST_ENTRIES))]
    for _, offset, _, length in (each for each in headers if each[0] == _DYNAMIC):
        step = struct.calcsize(order + 2 * word)
        entries = [
            struct.unpack_from(order + 2 * word, content, offset + at)
            for at in range(0, min(length, _MOST_ENTRIES * step), step)
        ]
        strings = _in_file(headers, _value(entries, _STRINGS))
        for value in (value for tag, value in entries if tag == _NEEDS):
            first = strings + value
            yield content[first : content.index(b"\0", first)]


def _value(entries: Sequence[tuple[int, ...]], wanted: int) -> int:
    for tag, value in entries:
        if tag == wanted:
            return value
    raise ValueError("no such entry")


def _header(content: bytes, order: str, at: int, wide: bool) -> tuple[int, int, int, int]:
    """Kind, place in the file, address, and length there."""
    if wide:
        kind, _, offset, address, _, length = struct.unpack_from(order + "IIQQQQ", content, at)
    else:
        kind, offset, address, _, length = struct.unpack_from(order + "IIIII", content, at)
    return kind, offset, address, length


def _in_file(headers: Sequence[tuple[int, int, int, int]], address: int) -> int:
    for kind, offset, first, length in headers:
        if kind == _LOADED and first <= address < first + length:
            return address - first + offset
    raise ValueError("an address outside the file")
