"""JSON from people: of a sensible size, depth and length of numbers, so that reading it always ends in a value or a
sentence."""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any, NoReturn

from gridportal.base.errors import InputError

MAX_DEPTH = 64
TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"
MAX_DIGITS = 300  # of a whole number: as many as still fit a float
MAX_FILE = 64 * 2**20


class UnreadableError(ValueError):
    """The text is no JSON that is read here; the message says why, as the end of a sentence."""

    @property
    def sentence(self) -> str:
        """The message as a sentence of its own."""
        message = str(self)
        return f"{message[:1].upper()}{message[1:]}."


class TooDeepError(UnreadableError):
    """JSON, as far as one can see, that is nested too deep."""


def loads(text: str | bytes, *, lenient: bool = False) -> Any:
    """The value of a JSON text; Raises UnreadableError.

    `lenient`: what is no finite number becomes None, letters may be halves of letters, and of keys that stand twice
    in an object the last one counts.

    >>> loads('{"a": [1]}')
    {'a': [1]}
    >>> loads('[1,')
    Traceback (most recent call last):
    gridportal.base.bounded_json.UnreadableError: line 1, column 4: Expecting value
    """
    try:
        if lenient:
            document = json.loads(text, parse_int=_whole_or_none, parse_float=_finite_or_none, parse_constant=_nothing)
        else:
            document = json.loads(
                text,
                object_pairs_hook=_each_key_once,
                parse_int=_whole,
                parse_float=_finite,
                parse_constant=_no_number,
            )
    except UnreadableError:
        raise
    except json.JSONDecodeError as error:
        raise UnreadableError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise _too_deep() from error
    except UnicodeDecodeError as error:
        raise UnreadableError("it is not UTF-8") from error
    _check_depth(document)
    if not lenient and "\\u" in (text if isinstance(text, str) else text.decode("utf-8", "replace")):
        _check_letters(document)
    return document


def load(path: str | Path, field: str, form: str = "a readable JSON file") -> Any:
    """The JSON value of a plain file of at most MAX_FILE bytes. Raises InputError that names `field` and the file."""
    try:
        return loads(_read(path))
    except OSError as error:
        raise InputError(field, str(path), f"a readable file ({error.strerror})") from error
    except ValueError as error:  # also a path with a null character
        raise InputError(field, str(path), f"{form} ({error})") from error


def text(path: str | Path, field: str) -> str:
    """The text of a plain UTF-8 file of at most MAX_FILE bytes. Raises InputError that names `field` and the file."""
    try:
        return _read(path).decode("utf-8")
    except OSError as error:
        raise InputError(field, str(path), f"a readable file ({error.strerror})") from error
    except ValueError as error:
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error
        raise InputError(field, str(path), f"a readable text file ({why})") from error


def is_there(path: str | Path) -> bool:
    """Whether a path names anything; also when its folder may not be read, so that reading it says so."""
    try:
        os.stat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _read(path: str | Path) -> bytes:
    # Asked before it is opened: opening a pipe or a device may already wait, or do something.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise UnreadableError("it is no plain file")
    with open(path, "rb") as file:
        content = file.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise UnreadableError(f"it has more than {MAX_FILE // 2**20} MiB")
    return content


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise UnreadableError(f"the key {twice[:40]!r} stands twice in one object")
    return value


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise UnreadableError(f"a number has more than {MAX_DIGITS} digits")
    return int(digits)


def _whole_or_none(digits: str) -> int | None:
    return int(digits) if len(digits) <= MAX_DIGITS else None


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise UnreadableError(f"the number {digits[:20]} is too large")
    return value


def _finite_or_none(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def _nothing(word: str) -> None:
    """NaN and Infinity, which Python's reader takes and JSON has not."""


def _no_number(word: str) -> NoReturn:
    raise UnreadableError(f"{word} is no number of JSON")


def _check_depth(document: Any) -> None:
    level = [document]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise _too_deep()


def _check_letters(document: Any) -> None:
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UnreadableError("it holds half a letter (a lone surrogate)") from error


def _too_deep() -> TooDeepError:
    return TooDeepError(f"it is {TOO_DEEP}")
