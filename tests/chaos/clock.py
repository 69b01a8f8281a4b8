"""The wall clock of the portal's processes: a library that is loaded before theirs adds what a file says.

The machine's own clock is not touched, nor are clocks that count from its start. (Debian's libfaketime 0.9.10 breaks
the sleep of Python 3.11, and time namespaces do not cover the wall clock.)
"""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

from gridportal.base import processes as shell
from tests.chaos import world

_SOURCE = Path(__file__).with_name("clock.c")


def compiler() -> str | None:
    """What the library is built with; None where there is no C compiler, and no clock is moved."""
    return shutil.which("cc") or shutil.which("gcc")


def build() -> None:
    """The library and its file, which says that the clock is right."""
    world.CLOCK.chmod(0o755)
    _file().write_bytes(struct.pack("q", 0))
    if found := compiler():
        shell.run([found, "-shared", "-fPIC", "-O2", "-o", str(_library()), str(_SOURCE)], timeout=60)


def environment() -> dict[str, str]:
    """The variables by which a process takes its time from us; none without the library."""
    return {"LD_PRELOAD": str(_library()), "CHAOS_CLOCK": str(_file())} if _library().exists() else {}


def shift(seconds: int) -> None:
    """From this moment on the portal's clock is off by so much."""
    descriptor = os.open(_file(), os.O_WRONLY)
    try:
        os.pwrite(descriptor, struct.pack("q", seconds), 0)
    finally:
        os.close(descriptor)


def _library() -> Path:
    return world.CLOCK / "clock.so"


def _file() -> Path:
    return world.CLOCK / "offset"
