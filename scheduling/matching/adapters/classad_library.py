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
from scheduling.matching.core.language.ad_syntax import Expression, Literal, Record, Scalar, Special
from scheduling.matching.core.language.ad_writer import AdWriter
from scheduling.matching.core.language.library_text import LibraryWriter, OtherListError


class Library:
    """Parses ads, and evaluates what columns do not have.

    Attributes that the library cannot parse, as `absTime("soon")`, are error values.
    """

    def check(self, ad: Record) -> None:
        """Raises InputError, with the attribute, where the library cannot parse an ad."""
        writer = LibraryWriter(ad, Record({}))
        if _is_parsed(_library().ClassAd, writer.ad(ad)):
            return
        name = next((each for each in ad.attributes if not _is_readable(writer, ad, each)), "")
        written = AdWriter().text(ad.attributes[name].expression) if name else AdWriter().ad(ad)
        raise InputError(name or "ad", written, "an expression that HTCondor's ClassAd library can read")

    def of_request(self, request: Record, resources: Sequence[Record], expression: Expression) -> list[Scalar]:
        """The value of an expression of the request about each resource; what is no scalar is an error."""
        try:
            writer = LibraryWriter(request)
            own, tree = _parsed(writer, request), _tree(writer.text(expression))
        except OtherListError:
            return [_pair(request, resource, expression) for resource in resources]
        return [_value(tree, own, _mirror(resource, request)) for resource in resources]

    def of_resources(self, request: Record, resources: Sequence[Record], expression: Expression) -> list[Scalar]:
        """The value of an expression of each resource about the request."""
        try:
            other = _parsed(LibraryWriter(request), request)
        except OtherListError:
            return [_pair(resource, request, expression) for resource in resources]
        made = []
        for resource in resources:
            writer = LibraryWriter(resource, request)
            made.append(_value(_tree(writer.text(expression)), _parsed(writer, resource), other))
        return made

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
