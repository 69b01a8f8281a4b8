"""HTCondor's own ClassAd library (PyPI `htcondor`, module classad2): what an expression means in the end.

The one place that knows it. It evaluates about a million steps of an expression at most and guards its own depth, but
texts may grow to hundreds of megabytes meanwhile: whoever evaluates what strangers wrote does it in a process with
limits (`services/limited_match.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from gridportal.base.errors import GridPortalError, InputError
from scheduling.matching.core.language.ad_errors import MeaningError
from scheduling.matching.core.language.ad_reader import ASKED_EVERY
from scheduling.matching.core.language.ad_syntax import Expression, Literal, Record, Scalar, Special
from scheduling.matching.core.language.ad_writer import PEOPLES_WRITER
from scheduling.matching.core.language.library_text import LibraryWriter, OtherListError

#: What the library says where it gives up an evaluation.
_GIVEN_UP = "failed to evaluate"


class Library:
    """Parses ads, and evaluates what columns do not have.

    Attributes that the library cannot parse, as `absTime("soon")`, are error values. is_over: whether time is up; then
    resources that were not evaluated yet have error values, and `evaluated` says how many were. refuses_large: what the
    library gives up of a request is refused (MeaningError), else it is an error value. has_given_up: it gave up
    requirements of resources.
    """

    def __init__(self, is_over: Callable[[], bool] = lambda: False, *, refuses_large: bool = False) -> None:
        self._is_over = is_over
        self._refuses_large = refuses_large
        self.evaluated: int | None = None
        self.has_given_up = False

    def check(self, ad: Record) -> None:
        """Raises MeaningError, with the attribute, where the library cannot parse an ad."""
        writer = LibraryWriter(ad, Record({}))
        if _is_parsed(_library().ClassAd, writer.ad(ad)):
            return
        name = next((each for each in ad.attributes if not _is_readable(writer, ad, each)), "")
        part = ad.attributes[name].expression if name else ad
        written, accepted = PEOPLES_WRITER.text(part), "an expression that HTCondor's ClassAd library can read"
        raise MeaningError(written, (part.start, part.end), str(InputError(name or "ad", written, accepted)), accepted)

    def of_request(self, request: Record, resources: Sequence[Record], expression: Expression) -> list[Scalar]:
        """The value of an expression of the request about each resource; what is no scalar is an error."""
        try:
            writer = LibraryWriter(request)
            own, tree = _parsed(writer, request), _tree(writer.text(expression))
        except OtherListError:

            def pair(resource: Record) -> Scalar:
                return self._small(expression, lambda: _pair(request, resource, expression))

            return self._each(resources, pair)

        def value(resource: Record) -> Scalar:
            return self._small(expression, lambda: _value(tree, own, _mirror(resource, request)))

        return self._each(resources, value)

    def of_resources(self, request: Record, resources: Sequence[Record], expression: Expression) -> list[Scalar]:
        """The value of an expression of each resource about the request."""
        try:
            other = _parsed(LibraryWriter(request), request)
        except OtherListError:
            return self._each(resources, lambda resource: self._theirs(lambda: _pair(resource, request, expression)))

        def value(resource: Record) -> Scalar:
            writer = LibraryWriter(resource, request)
            return self._theirs(lambda: _value(_tree(writer.text(expression)), _parsed(writer, resource), other))

        return self._each(resources, value)

    def _each(self, resources: Sequence[Record], value: Callable[[Record], Scalar]) -> list[Scalar]:
        made: list[Scalar] = []
        for resource in resources:
            if made and len(made) % ASKED_EVERY == 0 and self._is_over():
                self.evaluated = min(len(made), self.evaluated or len(made))
                break
            made.append(value(resource))
        return [*made, *[Special.ERROR] * (len(resources) - len(made))]

    def of_set(
        self, request: Record, names: Mapping[Expression, str], expression: Expression
    ) -> Callable[[Mapping[str, Scalar]], Scalar]:
        """A function of the values of aggregates: what an expression of the request is with them.

        names: the attribute that stands for each call of an aggregate.
        """
        writer = LibraryWriter(request, Record({}), names)
        own, tree = _parsed(writer, request), _tree(writer.text(expression))

        def value(aggregates: Mapping[str, Scalar]) -> Scalar:
            for name, aggregate in aggregates.items():
                own[name] = _foreign(aggregate)
            return self._small(expression, lambda: _value(tree, own, None))

        return value

    def _small(self, expression: Expression, value: Callable[[], Scalar]) -> Scalar:
        """The value of an expression of the request. Raises MeaningError for one that is given up, where it refuses."""
        try:
            return value()
        except _GivenUpError as error:
            if not self._refuses_large:
                return Special.ERROR
            place, accepted = (expression.start, expression.end), "one that takes a million steps at most"
            sentence = "This expression is too large to be evaluated: {part}; accepted is {accepted}."
            raise MeaningError(PEOPLES_WRITER.text(expression), place, sentence, accepted) from error

    def _theirs(self, value: Callable[[], Scalar]) -> Scalar:
        """The value of an expression of a resource, an error where it is given up: the others may match."""
        try:
            return value()
        except _GivenUpError:
            self.has_given_up = True
            return Special.ERROR


class _GivenUpError(Exception):
    """The library raises only where it gives an evaluation up; what has no value is an error value."""


def is_value(text: str) -> bool:
    """Whether an expression that stands alone is something else than an error."""
    try:
        return _library().ExprTree(text).eval() is not _library().Value.Error
    except _library().ClassAdException:
        return False


@cache
def _library() -> Any:
    """Imported when it is first needed. Raises GridPortalError where it is not installed."""
    try:
        return import_module("classad2")
    except ImportError as error:
        raise GridPortalError(
            "Matching needs HTCondor's ClassAd library, which is not here; install it with pip install htcondor."
        ) from error


def _pair(own: Record, other: Record, expression: Expression) -> Scalar:
    writer = LibraryWriter(own, other)
    return _value(_tree(writer.text(expression)), _parsed(writer, own), _mirror(other, own))


def _mirror(ad: Record, other: Record) -> Any:
    return _parsed(LibraryWriter(ad, other), ad)


def _parsed(writer: LibraryWriter, ad: Record) -> Any:
    """The ad as the library's; what it cannot parse of it is an error."""
    try:
        return _library().ClassAd(writer.ad(ad))
    except _library().ClassAdException:
        readable = {
            name: each if _is_readable(writer, ad, name) else replace(each, expression=Literal(Special.ERROR))
            for name, each in ad.attributes.items()
        }
        return _library().ClassAd(writer.ad(Record(readable)))


def _tree(text: str) -> Any:
    try:
        return _library().ExprTree(text)
    except _library().ClassAdException:
        return _library().ExprTree("error")


def _is_readable(writer: LibraryWriter, ad: Record, name: str) -> bool:
    return _is_parsed(_library().ExprTree, writer.text(ad.attributes[name].expression))


def _is_parsed(parse: Callable[[str], Any], text: str) -> bool:
    try:
        parse(text)
    except _library().ClassAdException:
        return False
    return True


def _value(tree: Any, own: Any, other: Any) -> Scalar:
    """As a value of ours; what has no end is an error. Raises _GivenUpError."""
    try:
        value = tree.eval(own, other)
    except UnicodeDecodeError:
        return Special.ERROR
    except _library().ClassAdException as error:
        if _GIVEN_UP in str(error):
            raise _GivenUpError from error
        return Special.ERROR
    if value is _library().Value.Undefined:
        return Special.UNDEFINED
    if isinstance(value, _library().Value):
        return Special.ERROR
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return Special.ERROR


def _foreign(value: Scalar) -> Any:
    if isinstance(value, Special):
        return _library().Value.Undefined if value is Special.UNDEFINED else _library().Value.Error
    return value
