"""How a running program is asked for something: by a signal to its ranks, by a file, or by a command.

Programs that stop by themselves know one of these each: LAMMPS looks for a file that its input names, GROMACS takes a
signal, others have a command that talks to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from gridportal.base.errors import InputError
from gridportal.base.name_lists import either


class Means(StrEnum):
    """The three ways."""

    SIGNAL = "signal"
    FILE = "file"
    COMMAND = "command"


#: The signals that a program may take: those that it can handle, and that nobody else sends for other reasons.
SIGNALS = ("HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM", "WINCH", "URG")
_MOST_WORDS, _MOST_LETTERS = 64, 4096
_ACCEPTED = 'an object with signal, file or command, such as {"signal": "USR1"}'


@dataclass(frozen=True, slots=True)
class ProgramRequest:
    """`argv`: the name of a signal, a file's path in the run directory, or the words of a command, which runs in the
    run directory beside the program.

    >>> ProgramRequest.read({"signal": "SIGTERM"}).argv, ProgramRequest.read({"command": ["stop", "it"]}).document()
    (('TERM',), {'command': ['stop', 'it']})
    """

    means: Means
    argv: tuple[str, ...]

    @classmethod
    def read(cls, document: Any, field: str = "stop") -> ProgramRequest:
        """The request that somebody sent. Raises InputError that names what cannot be accepted, below `field`."""
        if not isinstance(document, Mapping) or len(document) != 1 or next(iter(document)) not in set(Means):
            raise InputError(field, document, _ACCEPTED)
        means = Means(next(iter(document)))
        return cls(means, _READERS[means](document[means], f"{field}.{means}"))

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {self.means.value: list(self.argv) if self.means is Means.COMMAND else self.argv[0]}


#: What SRS takes, where nobody says another.
USUAL = ProgramRequest(Means.SIGNAL, ("USR1",))


def _signal(raw: Any, field: str) -> tuple[str, ...]:
    name = raw.strip().upper().removeprefix("SIG") if isinstance(raw, str) else ""
    if name not in SIGNALS:
        raise InputError(field, raw, either(SIGNALS))
    return (name,)


def _file(raw: Any, field: str) -> tuple[str, ...]:
    parts = PurePosixPath(raw).parts if isinstance(raw, str) else ()
    if not parts or not _is_printable(raw) or raw.startswith(("/", "-")) or ".." in parts or parts == (".",):
        raise InputError(field, raw, "the name of a file in the run directory, such as STOP")
    return (raw,)


def _command(raw: Any, field: str) -> tuple[str, ...]:
    is_list = isinstance(raw, list | tuple) and 0 < len(raw) <= _MOST_WORDS
    if not is_list or not all(isinstance(word, str) and _is_printable(word) for word in raw) or not raw[0]:
        raise InputError(field, raw, f"a list of 1 to {_MOST_WORDS} words, the program first")
    return tuple(raw)


def _is_printable(text: str) -> bool:
    return len(text) <= _MOST_LETTERS and text.isprintable()


_READERS = {Means.SIGNAL: _signal, Means.FILE: _file, Means.COMMAND: _command}
