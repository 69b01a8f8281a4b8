"""The error family. Every message is one sentence that says what is wrong and what to do next."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_LONGEST = 200  # characters of a value that a sentence repeats


class GridPortalError(Exception):
    """Something failed for a reason that a person can act on. Exit code 1 on the command line."""

    exit_code = 1


class InputError(GridPortalError):
    """A value that cannot be accepted. Exit code 2; names the field, the value and what would do.

    >>> str(InputError("nodes", 0, "a whole number from 1 to 10"))
    'nodes is 0; accepted is a whole number from 1 to 10.'
    >>> str(InputError("nodes", None, "a whole number from 1 to 10"))
    'nodes is empty; accepted is a whole number from 1 to 10.'
    """

    exit_code = 2

    def __init__(self, field: str, value: object, accepted: str) -> None:
        self.field = field
        self.value = value
        self.accepted = accepted
        super().__init__(f"{field} is {shown(value)}; accepted is {accepted.rstrip('.')}.")


class TextError(InputError):
    """A fault inside a longer text. line, column: where, from 1, both 0 where it has no place; pointer: that line with
    a mark below the character."""

    def __init__(self, field: str, value: object, accepted: str, message: str = "") -> None:
        super().__init__(field, value, accepted)
        self.line = self.column = 0
        self.pointer = ""
        if message:
            self.args = (message,)


class SeveralInputsError(InputError):
    """Several values that cannot be accepted; it reads as the first."""

    def __init__(self, errors: Sequence[InputError]) -> None:
        self.errors = tuple(errors)
        super().__init__(errors[0].field, errors[0].value, errors[0].accepted)

    def by_field(self) -> dict[str, list[str]]:
        """All sentences, each by the field that it names."""
        sentences: dict[str, list[str]] = {}
        for error in self.errors:
            sentences.setdefault(error.field, []).append(str(error))
        return sentences


class ImpossibleError(GridPortalError):
    """A well-formed request that nothing here can satisfy; names what fails and the best to be had."""

    exit_code = 2


class ShellError(GridPortalError):
    """A command could not be started, failed, or ran out of time."""


class BackendError(GridPortalError):
    """A backend could not be reached or refused."""


class RefusedError(BackendError):
    """The backend was reached and said no; asking the same again will not help."""


class ConflictError(GridPortalError):
    """Somebody else was faster: what was asked for does not go with what is under way."""


class BusyError(GridPortalError):
    """There is too much to do for more of this now. `retry_after`: seconds after which to ask again."""

    def __init__(self, message: str, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class SubmissionBusyError(BusyError):
    """The portal takes in no more jobs now."""


class LaterError(BackendError):
    """Refused for now: the backend asks that it be tried again, and has done nothing."""


class Described(str):
    """What a thing is, in our own words: no text that somebody sent, so it is repeated without quotes.

    >>> InputError("job", Described("7, which is queued"), "one that runs").args[0]
    'job is 7, which is queued; accepted is one that runs.'
    """

    __slots__ = ()


def shown(value: object) -> str:
    """A value as a sentence repeats it: words in quotes, numbers bare however they were typed, nothing as "empty".

    >>> shown(None), shown(""), shown([])
    ('empty', 'empty', 'empty')
    >>> shown("best"), shown("10"), shown(10), shown(True)
    ("'best'", '10', '10', 'true')
    >>> from pathlib import PurePath
    >>> shown(["n1", 3]), shown(PurePath("/logs/a.swf"))
    ("'n1', 3", "'/logs/a.swf'")
    """
    if isinstance(value, os.PathLike):  # a depot does without pathlib
        value = os.fspath(value)
    if value is None or (isinstance(value, (str, list, tuple, dict, set, frozenset)) and not value):
        return "empty"
    if isinstance(value, str):
        text = str(value) if isinstance(value, Described) or _NUMBER.fullmatch(value) else repr(value)
    elif isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, (list, tuple)):
        text = ", ".join(map(shown, value))
    else:
        text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
