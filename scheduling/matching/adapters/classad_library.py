"""HTCondor's own ClassAd library (PyPI `htcondor`, module classad2): what an expression means in the end.

The one place that knows it. It evaluates about a million steps of an expression at most and guards its own depth, but
texts may grow to hundreds of megabytes meanwhile: whoever evaluates what strangers wrote does it in a process with
limits (`services/limited_match.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from gridportal.base.errors import GridPortalError
from scheduling.matching.core.language.ad_syntax import Expression, Record, Scalar, Special
from scheduling.matching.core.language.library_text import LibraryWriter, OtherListError


class UnreadableAdError(ValueError):
    """The library cannot parse what our reader took for an ad: one of the two is wrong."""


class Library:
    """Parses ads, and evaluates what columns do not have."""

    def check(self, ad: Record) -> None:
        """Raises UnreadableAdError where the library cannot parse an ad."""
        _parsed(LibraryWriter(ad, Record({})).ad(ad))

    def of_request(self, request: Record, resources: Sequence[Record], expression: Expression) -> list[Scalar]:
        """The value of an expression of the request about each resource; what is no scalar is an error."""
        try:
            writer = LibraryWriter(request)
            own, tree = _parsed(writer.ad(request)), _tree(writer.text(expression))
        except OtherListError:
            return [_pair(request, resource, expression) for resource in resources]
        return [_value(tree, own, _parsed(_mirror(resource, request))) for resource in resources]

    def of_resources(self, request: Record, resources: Sequence[Record], expression: Expression) -> list[Scalar]:
        """The value of an expression of each resource about the request."""
        try:
            other = _parsed(LibraryWriter(request).ad(request))
        except OtherListError:
            return [_pair(resource, request, expression) for resource in resources]
        made = []
        for resource in resources:
            writer = LibraryWriter(resource, request)
            made.append(_value(_tree(writer.text(expression)), _parsed(writer.ad(resource)), other))
        return made

    def of_set(
        self, request: Record, names: Mapping[Expression, str], expression: Expression
    ) -> Callable[[Mapping[str, Scalar]], Scalar]:
        """A function of the values of aggregates: what an expression of the request is with them.

        names: the attribute that stands for each call of an aggregate.
        """
        writer = LibraryWriter(request, Record({}), names)
        own, tree = _parsed(writer.ad(request)), _tree(writer.text(expression))

        def value(aggregates: Mapping[str, Scalar]) -> Scalar:
            for name, aggregate in aggregates.items():
                own[name] = _foreign(aggregate)
            return _value(tree, own, None)

        return value


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
    return _value(_tree(writer.text(expression)), _parsed(writer.ad(own)), _parsed(_mirror(other, own)))


def _mirror(ad: Record, other: Record) -> str:
    return LibraryWriter(ad, other).ad(ad)


def _parsed(text: str) -> Any:
    try:
        return _library().ClassAd(text)
    except _library().ClassAdException as error:
        raise UnreadableAdError(text) from error


def _tree(text: str) -> Any:
    try:
        return _library().ExprTree(text)
    except _library().ClassAdException as error:
        raise UnreadableAdError(text) from error


def _value(tree: Any, own: Any, other: Any) -> Scalar:
    """As a value of ours; what the library gives up on, and what has no end, is an error."""
    try:
        value = tree.eval(own, other)
    except (_library().ClassAdException, UnicodeDecodeError):
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
