"""Plug-ins of other packages: found by entry point, and asked in processes of their own with a time limit.

What a plug-in does there, to its time, memory or output, costs nobody else anything. A question goes to the standard
input of `python -m MODULE NAME`, and the answer comes from its standard output.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gridportal.base.processes import Completed, run

#: The distribution whose plug-ins come with the portal.
OWN = "gridportal"
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
    found = [(name, _ranked(group, name)) for name in plugin_names(group)]
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
    points = [point for point in entry_points(group=group) if point.name == name]
    return sorted(points, key=lambda point: (_package(point) != OWN, _package(point)))


def _package(point: EntryPoint) -> str:
    """The name of the package that makes an entry point known, as indexes compare it."""
    return re.sub(r"[-_.]+", "-", point.dist.name).lower() if point.dist is not None else ""


def ask_apart(module: str, name: str, question: str, seconds: float) -> Completed:
    """What the process of a module answers about a plug-in. Raises ShellError, TooSlowError after so many seconds."""
    return run([sys.executable, "-m", module, name], timeout=seconds, stdin=question, check=False)


def failure_of(done: Completed) -> str:
    """Why a process gave no answer: a signal, its own words, or its exit code; empty where nothing tells.

    >>> failure_of(Completed((), -11, "", ""))
    'its process was ended by signal 11 (SIGSEGV)'
    >>> failure_of(Completed((), 3, "", ""))
    'its process ended with exit code 3 and without a word'
    """
    if done.returncode < 0:
        return f"its process was ended by signal {_named_signal(-done.returncode)}"
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
