"""The entries of a JSON object that was stored: each read as what it has to be, and named when it is something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from gridportal.base.checked_numbers import is_number, is_whole
from gridportal.base.errors import InputError

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of the object `name`; what is not there, or null, is None.

    >>> trial = Entries({"spent": 4, "by": "skeleton", "apart": [[0, 1]], "budget": "long"}, "trial")
    >>> trial.optional("spent", number), trial.optional("by", text), trial.optional("finding", text)
    (4, 'skeleton', None)
    >>> trial.list_of("apart", whole_pair)
    ((0, 1),)
    >>> trial.optional("budget", number)
    Traceback (most recent call last):
    ...
    gridportal.base.errors.InputError: trial.budget is 'long'; accepted is a number.
    """

    document: object
    name: str

    def optional(self, key: str, read: Callable[[object], Kind]) -> Kind | None:
        """The entry as one of the readers below takes it. Raises InputError for another kind."""
        if not isinstance(self.document, Mapping):
            raise InputError(self.name, self.document, "an object")
        value = self.document.get(key)
        return None if value is None else self._read(key, value, read)

    def required(self, key: str, read: Callable[[object], Kind]) -> Kind:
        """The same for an entry that must be there."""
        found = self.optional(key, read)
        if found is None:
            raise InputError(f"{self.name}.{key}", None, "an entry")
        return found

    def list_of(self, key: str, read: Callable[[object], Kind]) -> tuple[Kind, ...]:
        """The same for a list of them, empty where there is none."""
        items = self.optional(key, sequence) or ()
        return tuple(self._read(f"{key}[{at}]", item, read) for at, item in enumerate(items))

    def has(self, *keys: str) -> bool:
        """Whether all of them are there."""
        return all(self.optional(key, anything) is not None for key in keys)

    def _read(self, key: str, value: object, read: Callable[[object], Kind]) -> Kind:
        try:
            return read(value)
        except TypeError as error:
            raise InputError(f"{self.name}.{key}", value, str(error)) from error


def anything(value: object) -> object:
    """What it is."""
    return value


def number(value: object) -> float:
    """A number; whole ones stay whole. This and the other readers raise TypeError with what they accept."""
    if not is_number(value):
        raise TypeError("a number")
    return value


def whole(value: object) -> int:
    """A whole number."""
    if not is_whole(value):
        raise TypeError("a whole number")
    return value


def text(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError("a text")
    return value


def flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def sequence(value: object) -> tuple[object, ...]:
    """A list of anything."""
    if not isinstance(value, list | tuple):
        raise TypeError("a list")
    return tuple(value)


def whole_pair(value: object) -> tuple[int, int]:
    """Two whole numbers."""
    items = sequence(value)
    if len(items) != 2:
        raise TypeError("a list of two whole numbers")
    return whole(items[0]), whole(items[1])
