"""What every program's command line does: read it alike on all ranks, say no once, end alike.

Exit codes: 0 verified, 1 not verified or failed, 2 input that cannot be accepted.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import NoReturn

from mpi4py import MPI

from gridportal.base.errors import GridPortalError, InputError

Program = Callable[[MPI.Intracomm, argparse.Namespace], bool]


class Parser(argparse.ArgumentParser):
    """argparse that raises InputError, so that rank 0 alone speaks and all ranks leave with 2."""

    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        raise InputError("command line", " ".join(sys.argv[1:]), f"{usage} ({message})")

    def class_option(self, classes: Iterable[str]) -> None:
        """`--class X`, found in the result as `problem_class`."""
        self.add_argument(
            "--class",
            dest="problem_class",
            metavar="|".join(classes),
            default="S",
            type=one_of("class", list(classes)),
            help="problem size (default S)",
        )


def one_of(field: str, accepted: list[str]) -> Callable[[str], str]:
    """A reader of one word out of `accepted`, in either case."""

    def read(text: str) -> str:
        if text.upper() not in accepted:
            raise InputError(field, text, f"one of {', '.join(accepted)}")
        return text.upper()

    return read


def whole(field: str, least: int, most: int) -> Callable[[str], int]:
    """A reader of a whole number from `least` to `most`."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise InputError(field, text, f"a whole number from {least} to {most}")
        return int(text)

    return read


def launch(parser: Parser, program: Program) -> NoReturn:
    """Read the command line, run `program` on all ranks of the world and leave with its exit code."""
    comm = MPI.COMM_WORLD
    sys.excepthook = _abort_all
    try:
        if comm.Get_rank() > 0:
            parser.print_help = lambda *_: None  # type: ignore[method-assign]
        verified = program(comm, parser.parse_args())
    except InputError as error:  # raised alike on every rank, before any of them communicates
        if comm.Get_rank() == 0:
            print(f"error: {error}", file=sys.stderr, flush=True)
        sys.exit(error.exit_code)
    _leave(0 if verified else 1)


def _leave(code: int) -> NoReturn:
    """End as a C program does: MPI is finalized and the C library's own end runs, but Python is not taken apart. Beside
    busy processes that would take longer than all else at the end of a run."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    sys.stdout.flush()
    sys.stderr.flush()
    MPI.Finalize()
    ctypes.PyDLL(None).exit(code)
    raise SystemExit(code)  # never reached


def _abort_all(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A rank that fails takes the others along: they would wait for its messages for ever."""
    if isinstance(error, GridPortalError):
        print(f"error: {error}", file=sys.stderr, flush=True)
    else:
        sys.__excepthook__(kind, error, trace)
    sys.stderr.flush()
    MPI.COMM_WORLD.Abort(1)
