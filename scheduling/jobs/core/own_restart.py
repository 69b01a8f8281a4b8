"""How a program that knows its own restart is stopped and started again: by what it is asked, what its command gets
then, which file must be there, and on how many ranks it takes that.

It needs none of our calls. SCR's users asked for a restart on another number of ranks for years (its issues 535, 614);
here a program of any kind has it, as far as it can read its own file on that many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from gridportal.base.errors import InputError
from scheduling.jobs.core import parameters, ranks
from scheduling.jobs.core.parameters import Value
from scheduling.jobs.core.program_request import Means, ProgramRequest
from scheduling.jobs.core.ranks import Limits

#: In a command: a word of its own, in whose place those for a restart come, or nothing.
RESTART = "{restart}"
#: In the words for a restart: the file that it starts from, and its name alone.
FILE, NAME = "{file}", "{name}"
#: Seconds between two checkpoints that are asked for.
LEAST_EVERY, MOST_EVERY = 1.0, 7 * 86_400.0
_MOST_WORDS, _MOST_WORD, _MOST_PATTERN, _MOST_PARTS = 64, 4096, 255, 8
KEYS = (*(means.value for means in Means), "restart", "pattern", "ranks", "checkpoint", "every")


@dataclass(frozen=True, slots=True)
class OwnRestart:
    """`ask`: how it hears that it is to stop. `restart`: what {restart} in its command becomes when it goes on.

    `pattern`: of the file that must be there, in the folder of the job's checkpoints, as `*.restart` or
    `si_*.save/data.xml`. `ranks`: on how many it goes on; {}: on all that it runs on. `checkpoint`: how it is asked for
    one while it goes on, and `every` so many seconds.

    >>> own = OwnRestart.read({"file": "stop", "restart": ["-r", "{file}"], "pattern": "melt.*", "ranks": {"max": 8}})
    >>> own.restart_argv("/c/melt.7"), OwnRestart.read(own.document()) == own
    (('-r', '/c/melt.7'), True)
    """

    ask: ProgramRequest
    restart: tuple[str, ...]
    pattern: str
    ranks: Limits = field(default_factory=lambda: Limits())
    checkpoint: ProgramRequest | None = None
    every: float | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any], where: str = "stop_means") -> OwnRestart:
        """The value that somebody sent. Raises InputError, the first of `problems`."""
        for error in problems(document, where):
            raise error
        checkpoint = document.get("checkpoint")
        return cls(
            _ask(document, where),
            tuple(document["restart"]),
            document["pattern"],
            ranks.check(document.get("ranks") or {}),
            ProgramRequest.read(checkpoint, f"{where}.checkpoint") if checkpoint else None,
            float(document["every"]) if document.get("every") is not None else None,
        )

    def document(self) -> dict[str, Any]:
        """As JSON, without what is not said."""
        optional = {
            "ranks": dict(self.ranks),
            "checkpoint": self.checkpoint.document() if self.checkpoint else {},
            "every": self.every,
        }
        said = {name: value for name, value in optional.items() if value}
        return {**self.ask.document(), "restart": list(self.restart), "pattern": self.pattern, **said}

    def restart_argv(self, file: str) -> tuple[str, ...]:
        """The words of a restart from `file`, an absolute path; nothing where there is none."""
        if not file:
            return ()
        name = PurePosixPath(file).name
        return tuple(word.replace(FILE, file).replace(NAME, name) for word in self.restart)


def with_restart(command: Sequence[str], again: Sequence[str], values: Mapping[str, Value]) -> Iterator[str]:
    """The words of a command with its values, and with those for a restart as they are.

    >>> list(with_restart(["lmp", "-n={n}", "{restart}"], ["-r", "/a{n}"], {"n": 4}))
    ['lmp', '-n=4', '-r', '/a{n}']
    """
    for word in command:
        yield from again if word == RESTART else parameters.render([word], values)


def problems(document: Mapping[str, Any], where: str = "stop_means") -> list[InputError]:
    """All that is wrong with a document, one error for each of its fields."""
    unknown = [InputError(where, name, "one of " + ", ".join(KEYS)) for name in document if name not in KEYS]
    return [*unknown, *_wrong(document, where)]


def _wrong(document: Mapping[str, Any], where: str) -> Iterator[InputError]:
    checks: tuple[Callable[[Mapping[str, Any], str], object], ...] = (
        _ask,
        _check_restart,
        _check_pattern,
        _check_ranks,
        _check_checkpoint,
        _check_every,
    )
    for check in checks:
        try:
            check(document, where)
        except InputError as error:
            yield error


def _ask(document: Mapping[str, Any], where: str) -> ProgramRequest:
    return ProgramRequest.read({name: document[name] for name in Means if name in document}, where)


def _check_restart(document: Mapping[str, Any], where: str) -> None:
    words = document.get("restart")
    given = words if isinstance(words, list | tuple) else ()
    if not 0 < len(given) <= _MOST_WORDS or not all(map(_is_word, given)):
        raise InputError(f"{where}.restart", words, f"a list of 1 to {_MOST_WORDS} words, such as -restart {FILE}")


def _is_word(word: object) -> bool:
    return isinstance(word, str) and len(word) <= _MOST_WORD and word.isprintable()


def _check_pattern(document: Mapping[str, Any], where: str) -> None:
    """It names files below one folder: nothing that leads out of it."""
    text = document.get("pattern")
    accepted = "the name of a file in the folder of the job's checkpoints, with * and ?, such as *.restart"
    if not isinstance(text, str) or not 0 < len(text) <= _MOST_PATTERN or not text.isprintable():
        raise InputError(f"{where}.pattern", text, accepted)
    parts = text.split("/")
    if len(parts) > _MOST_PARTS or any(part in ("", ".", "..") or "**" in part for part in parts):
        raise InputError(f"{where}.pattern", text, accepted)


def _check_ranks(document: Mapping[str, Any], where: str) -> None:
    try:
        ranks.check(document.get("ranks") or {})
    except InputError as error:
        raise InputError(f"{where}.ranks", error.value, error.accepted) from error


def _check_checkpoint(document: Mapping[str, Any], where: str) -> None:
    if document.get("checkpoint"):
        ProgramRequest.read(document["checkpoint"], f"{where}.checkpoint")


def _check_every(document: Mapping[str, Any], where: str) -> None:
    value = document.get("every")
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not LEAST_EVERY <= value <= MOST_EVERY:
        raise InputError(f"{where}.every", value, f"seconds from {LEAST_EVERY:g} to {MOST_EVERY:g}")
    if not document.get("checkpoint"):
        raise InputError(f"{where}.every", value, "nothing, where checkpoint does not say how it is asked for one")
