"""How a program is asked to stop so that it can go on later: whether it can, by what, and how long it may take.

An application keeps this as one JSON document; `read` checks what people send, `stored` takes a document back. One more
way to ask is one more member of `StopBy`, and its fields here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gridportal.base.errors import InputError
from gridportal.base.job_files import CHECKPOINTS
from scheduling.jobs.core import own_restart
from scheduling.jobs.core.own_restart import RESTART, OwnRestart
from scheduling.jobs.core.unreadable import Unreadable

#: Seconds that a program may take from the request to its end, where nothing else is said, and at most.
USUAL_SECONDS, MOST_SECONDS = 300.0, 86_400.0
_KEYS = ("by", "seconds", *own_restart.KEYS)


class StopBy(StrEnum):
    """By what it hears of the request; NOTHING: it cannot go on once it has ended."""

    NOTHING = ""
    SRS = "srs"  # a file in the folder of its checkpoints, as the library looks for it
    OWN = "own"  # what it knows by itself: a signal, a file, or a command

    @property
    def has_answer(self) -> bool:
        """Whether the program says by itself that it was stopped and that it has read its data again."""
        return self is StopBy.SRS


@dataclass(frozen=True, slots=True)
class StopMeans:
    """`seconds`: from the request to its end. `own`: for `StopBy.OWN`. False for a program that cannot be stopped and
    go on.

    >>> StopMeans.read({"by": "srs"}).seconds, bool(StopMeans.read({}))
    (300.0, False)
    >>> StopMeans.read({"by": "telepathy"})
    Traceback (most recent call last):
    gridportal.base.errors.InputError: stop_means.by is 'telepathy'; accepted is srs, own, or nothing.
    """

    by: StopBy = StopBy.NOTHING
    seconds: float = USUAL_SECONDS
    own: OwnRestart | None = None

    @classmethod
    def read(cls, document: Any) -> StopMeans:
        """The value that somebody sent. Raises InputError, the first of `problems`."""
        for error in problems(document):
            raise error
        by, seconds = StopBy(document.get("by") or ""), document.get("seconds")
        own = OwnRestart.read(_own_document(document)) if by is StopBy.OWN else None
        return cls(by, USUAL_SECONDS if seconds is None else float(seconds), own)

    @classmethod
    def stored(cls, document: Any) -> StopMeans:
        """From a document that was checked before. Raises InputError for what is of another kind."""
        return cls.read(document or {})

    def document(self) -> dict[str, Any]:
        """As JSON; {} for a program that cannot be stopped."""
        if not self:
            return {}
        return {"by": self.by.value, "seconds": self.seconds, **(self.own.document() if self.own else {})}

    @property
    def placeholders(self) -> frozenset[str]:
        """What its command may name in braces: the folder of its checkpoints, and the words of a restart."""
        if self.own:
            return frozenset({CHECKPOINTS, RESTART.strip("{}")})
        return frozenset({CHECKPOINTS} if self else ())

    def __bool__(self) -> bool:
        return self.by is not StopBy.NOTHING


@dataclass(frozen=True, slots=True)
class UnreadableStopMeans(Unreadable, StopMeans):
    """What nobody can read, of a program that is not stopped therefore."""

    raw: Any = None
    why: str = ""


def problems(document: Any) -> list[InputError]:
    """All that is wrong with a document, one error for each of its fields."""
    if not isinstance(document, Mapping):
        return [InputError("stop_means", document, f"an object with {', '.join(_KEYS[:-1])} and {_KEYS[-1]}")]
    found = [InputError("stop_means", name, "one of " + ", ".join(_KEYS)) for name in document if name not in _KEYS]
    for check in (_check_by, _check_seconds):
        try:
            check(document)
        except InputError as error:
            found.append(error)
    return found + _own_problems(document)


def _own_document(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name in own_restart.KEYS}


def _own_problems(document: Mapping[str, Any]) -> list[InputError]:
    if document.get("by") == StopBy.OWN:
        return own_restart.problems(_own_document(document))
    accepted = "nothing, where the program is not stopped by its own means"
    return [InputError(f"stop_means.{name}", value, accepted) for name, value in _own_document(document).items()]


def _check_by(document: Mapping[str, Any]) -> None:
    word = document.get("by") or ""
    try:
        StopBy(word)
    except ValueError as error:
        accepted = ", ".join(each.value for each in StopBy if each)
        raise InputError("stop_means.by", word, f"{accepted}, or nothing") from error


def _check_seconds(document: Mapping[str, Any]) -> None:
    value = document.get("seconds")
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= MOST_SECONDS:
        raise InputError("stop_means.seconds", value, f"seconds from 1 to {MOST_SECONDS:g}")
