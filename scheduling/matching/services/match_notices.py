"""What an answer says beside the set: what was read otherwise than it stands, functions that are not there, and what
time did not do for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from scheduling.matching.adapters.library_functions import argument_counts, takes
from scheduling.matching.core.language.ad_errors import NO_PLACE, Notice, NoticeCode, TextPlace
from scheduling.matching.core.language.ad_reader import ASKED_EVERY, AdText
from scheduling.matching.core.language.ad_syntax import Expression, Record
from scheduling.matching.core.language.attribute_checks import unknown_attributes
from scheduling.matching.core.language.function_checks import FunctionChecks
from scheduling.matching.core.language.paper_forms import unknown_kinds
from scheduling.matching.core.mapping.mapper_interface import MapperMachine

#: Notices of each kind that are listed.
_MOST_LISTED = 20


def of_request(read: AdText, source: str, is_list: Callable[[Expression], bool]) -> Iterator[Notice]:
    """About the type and the functions of a request. is_list: of its own names and those of resources."""
    checks = FunctionChecks(read.text, source, takes, argument_counts)
    kinds = unknown_kinds(read.ad, read.text, source)
    notices = [*kinds, *checks.of(read.ad), *checks.without_list(read.ad, is_list)]
    yield from sorted(notices, key=lambda notice: notice.place.offset)


def of_attributes(read: AdText, source: str, attributes: Collection[str]) -> Iterator[Notice]:
    """About names that are none of the resources' attributes."""
    return unknown_attributes(read, source, attributes)


def of_resources(ads: Sequence[Record], text: str, source: str, is_over: Callable[[], bool]) -> Iterator[Notice]:
    """About the functions of ads that were read from a text; of the first ones where time is up."""
    checks = FunctionChecks(text, source, takes, argument_counts)
    for number, ad in enumerate(ads):
        if number and number % ASKED_EVERY == 0 and is_over():
            return
        yield from checks.of(ad)


def of_times(machines: Sequence[MapperMachine], time: str, request: Record, text: str, source: str) -> Iterator[Notice]:
    """About machines whose predicted time is no number above 0. time: the attribute of the request; empty for none."""
    stated = request.get(time) if time else None
    if stated is None:
        return
    place = TextPlace.of(text, stated.start) if stated.end else NO_PLACE
    for machine in machines:
        if machine.seconds is None:
            yield Notice(NoticeCode.NO_TIME, place, time, source=source, meant=machine.dns)


def of_library(evaluated: int | None, *, has_given_up: bool) -> list[Notice]:
    """Of resources that were not held against the request any more, `evaluated`: how many were, None: all; and of those
    whose requirements the library gave up."""
    cut = [] if evaluated is None else [Notice(NoticeCode.CUT, NO_PLACE, value=evaluated)]
    return [*cut, *[Notice(NoticeCode.TOO_LARGE, NO_PLACE)] * has_given_up]


def is_cut(notices: Sequence[Notice]) -> bool:
    """Whether some of the resources were left out for want of time."""
    return any(notice.code is NoticeCode.CUT for notice in notices)


def listed(notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """Equal ones once, where they stand first; of each kind the first ones, the last of these with how many more there
    are: ten thousand ads may have one each."""
    kept: dict[object, list[Notice]] = {}
    for notice in _folded(notices):
        kept.setdefault((notice.code, notice.source), []).append(notice)
    return tuple(notice for same in kept.values() for notice in _first(same))


def _first(same: Sequence[Notice]) -> list[Notice]:
    *first, last = same[:_MOST_LISTED]
    left = sum(1 + notice.more for notice in same[_MOST_LISTED:])
    return [*first, replace(last, more=last.more + left)]


def _folded(notices: Sequence[Notice]) -> list[Notice]:
    """The first of those that differ in their places alone, with how many more there are."""
    first: dict[Notice, Notice] = {}
    more: Counter[Notice] = Counter()
    for notice in notices:
        alike = replace(notice, place=NO_PLACE, more=0)
        first.setdefault(alike, notice)
        more[alike] += 1 + notice.more
    return [replace(notice, more=more[alike] - 1) for alike, notice in first.items()]
