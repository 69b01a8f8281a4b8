"""Plug-ins of other packages: found by entry point, and asked in processes of their own with a time limit.

What a plug-in does there, to its time, memory or output, costs nobody else anything. A question goes to the standard
input of `python -m MODULE NAME`, and the answer comes from its standard output.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gridportal.base.processes import Completed, run

#: The distribution whose plug-ins come with the portal.
OWN = "gridportal"
#: Bytes of memory that a plug-in may have.
MEMORY = 2 << 30
#: Of the portal's environment, what a plug-in sees beside PYTHON*.
_KEPT = {"PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR", "TZ"}
_OUTPUT, _ERRORS = 1, 2  # the numbers that these files have in each process


@dataclass(frozen=True, slots=True)
class SharedName:
    """A name that more than one package gives to a plug-in. used: the package whose one counts; unused: the others."""

    name: str
    used: str
    unused: tuple[str, ...]


def plugin_names(group: str) -> list[str]:
    """The plug-ins of a group that packages here make known."""
    return sorted({point.name for point in entry_points(group=group)})


def shared_names(group: str) -> list[SharedName]:
    """The names of a group that more than one package uses, in their order."""
    found = sorted(_by_name(group).items())
    packages = [(name, tuple(dict.fromkeys(map(_package, points)))) for name, points in found]
    return [SharedName(name, every[0], every[1:]) for name, every in packages if len(every) > 1]


def is_shipped(group: str, name: str) -> bool:
    """Whether the plug-in of that name is one of the portal's own."""
    return [_package(point) for point in _ranked(group, name)][:1] == [OWN]


def load_plugin(group: str, name: str, kind: str = "plug-in") -> Any:
    """What the entry point of that name is; of several the portal's own. Raises LookupError, and whatever importing it
    raises.

    >>> load_plugin("gridportal.nothing", "fast", "mapper")
    Traceback (most recent call last):
        ...
    LookupError: no mapper is called 'fast'; there are none
    """
    points = _ranked(group, name)
    if not points:
        raise LookupError(f"no {kind} is called {name!r}; there are {', '.join(plugin_names(group)) or 'none'}")
    return points[0].load()


def _ranked(group: str, name: str) -> list[EntryPoint]:
    """The entry points of a name: the portal's own first, else by the names of their packages."""
    return _by_name(group).get(name, [])


def _by_name(group: str) -> dict[str, list[EntryPoint]]:
    """Those of each name, as `_ranked` has them; all packages here are read once for it."""
    found: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (_package(point) != OWN, _package(point))):
        found.setdefault(point.name, []).append(point)
    return found


def _package(point: EntryPoint) -> str:
    """The name of the package that makes an entry point known, as indexes compare it."""
    return re.sub(r"[-_.]+", "-", point.dist.name).lower() if point.dist is not None else ""


def ask_apart(module: str, name: str, question: str, seconds: float) -> Completed:
    """What the process of a module answers about a plug-in. Raises ShellError, TooSlowError after so many seconds."""
    argv = [sys.executable, "-m", module, name]
    return run(argv, timeout=seconds, stdin=question, check=False, env=_environment(), bare=True, ends_group=True)


def _environment() -> dict[str, str]:
    """What a plug-in sees: how to find and run programs, and nothing that the portal is told, such as passwords."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("PYTHON")}
    return {**kept, "HOME": tempfile.gettempdir(), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def limit_memory() -> None:
    """Let this process of a plug-in have MEMORY bytes at most, where the system can limit it."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def error_text(error: BaseException) -> str:
    """What a plug-in raised, by its type and its words, as far as it has any.

    >>> error_text(ValueError("no model")), error_text(KeyError())
    ('ValueError: no model', 'KeyError')
    >>> error_text(MemoryError())
    'it needed more than 2 GiB of memory'
    """
    if isinstance(error, MemoryError):
        return f"it needed more than {MEMORY >> 30} GiB of memory"
    kind = type(error).__name__
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - it is a plug-in's own, and may raise anything
        words = ""
    return f"{kind}: {words}" if words else kind


def failure_of(done: Completed) -> str:
    """Why a process gave no answer: a signal, its own words, or its exit code; empty where nothing tells.

    >>> failure_of(Completed((), -11, "", ""))
    'its process was ended by signal 11 (SIGSEGV)'
    >>> failure_of(Completed((), 3, "", ""))
    'its process ended with exit code 3 and without a word'
    >>> failure_of(Completed((), 0, "", ""))
    'it ended without an answer (exit code 0)'
    """
    if done.returncode < 0:
        return f"its process was ended by signal {_named_signal(-done.returncode)}"
    if not done.returncode and not done.stdout.strip():
        return "it ended without an answer (exit code 0)"
    if done.stderr.strip() or not done.returncode:
        return done.stderr.strip()
    return f"its process ended with exit code {done.returncode} and without a word"


def _named_signal(number: int) -> str:
    """Signals of real-time programs have no names."""
    if number == signal.SIGKILL:
        return f"{number} (SIGKILL), as happens where memory runs out"
    names = [each.name for each in signal.Signals if each == number]
    return f"{number} ({names[0]})" if names else str(number)


@contextmanager
def without_output() -> Iterator[None]:
    """What a plug-in prints in this block is no answer: it goes to standard error, from libraries in C, too."""
    sys.stdout.flush()
    answers = os.dup(_OUTPUT)
    try:
        os.dup2(_ERRORS, _OUTPUT)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(answers, _OUTPUT)
        os.close(answers)
