"""Attributes that a request asks of resources and none of them has: its value is undefined then, without a word, and a
name with a slip of the pen finds nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches

from scheduling.matching.core.language.ad_errors import Notice, NoticeCode, TextPlace
from scheduling.matching.core.language.ad_reader import AdText
from scheduling.matching.core.language.ad_syntax import Name, Record, Scope, walk
from scheduling.matching.core.language.paper_forms import SET_SIZE

#: Names that have a value everywhere.
_EVERYWHERE = {SET_SIZE, "currenttime"}


def unknown_attributes(read: AdText, source: str, attributes: Collection[str]) -> Iterator[Notice]:
    """A notice for each name, where it stands first. attributes: those of all resources, in small letters.

    >>> from scheduling.matching.core.language.ad_reader import read_ad
    >>> text = "[ requirements = other.opsis == 1 && other.cpus > x; x = 2 ]"
    >>> [(each.text, each.meant) for each in unknown_attributes(read_ad(text), "request", {"opsys", "cpus"})]
    [('opsis', 'opsys')]
    """
    seen: set[str] = set()
    for name in sorted(_asked_of_resources(read.ad), key=lambda name: name.start):
        if name.key in seen or name.key in attributes or name.key in _EVERYWHERE:
            continue
        seen.add(name.key)
        near = get_close_matches(name.key, attributes, n=1, cutoff=0.75)
        place = TextPlace.of(read.text, name.start)
        yield Notice(NoticeCode.UNKNOWN_ATTRIBUTE, place, name.name, source=source, meant=near[0] if near else "")


def _asked_of_resources(ad: Record) -> Iterator[Name]:
    for attribute in ad.attributes.values():
        for part in walk(attribute.expression):
            if not isinstance(part, Name) or not part.end or part.scope is Scope.MY:
                continue
            if part.scope is Scope.OTHER or part.key not in ad.attributes:
                yield part
