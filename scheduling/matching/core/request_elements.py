"""The six elements of a resource request, as they stand in its ad. Source: Set matching 2002, 3.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from gridportal.base.errors import InputError
from scheduling.matching.core.language.ad_errors import MeaningError
from scheduling.matching.core.language.ad_syntax import (
    Attribute,
    Binary,
    Expression,
    ListOf,
    Literal,
    Name,
    Record,
    Scope,
)
from scheduling.matching.core.language.ad_writer import AdWriter
from scheduling.matching.core.language.paper_forms import is_set_request, rewritten
from scheduling.matching.core.sets.set_request import RANK, REQUIREMENTS

_SERVICE, _LIFETIME, _MAPPER, _OWNER, _GROUPS = "service", "lifetime", "mapper", "owner", "groups"
_NO_JOB = {_SERVICE, _LIFETIME, _MAPPER, _OWNER, _GROUPS, REQUIREMENTS, RANK, "type", "matchtype"}
_INSTANT, _SYNCHRONOUS, _ASYNCHRONOUS = "instant", "synchronous", "asynchronous"
_MAPPER_NAMES, _TIME = ("libraryname", "name"), "time"
_A_MAPPER = 'the name of a mapper in quotes, or an ad with it, such as [ libraryname = "line"; total = 100 ]'
#: Seconds that a request may wait at most: thirty days.
LONGEST_LIFETIME = 30 * 24 * 3600


@dataclass(frozen=True, slots=True)
class RequestElements:
    """Owner, job description (attributes by name), type of service (lifetime in seconds, None: synchronous), mapper,
    constraint and rank, as text; empty where the ad has none. is_set: for a set, else the best single resource."""

    owner: str
    job: Mapping[str, str]
    lifetime: int | None
    mapper: str
    constraint: str
    rank: str
    is_set: bool


def elements(ad: Record, owner: str, lifetime: int | None, text: str = "") -> RequestElements:
    """The elements of a request that was sent by `owner` with a lifetime; as they stand in the text it was read from.

    >>> from scheduling.matching.core.language.ad_reader import read_ad
    >>> text = '[ x = 10; Mapper = "line"; requirements = other.cpus >= 2 ]'
    >>> made = elements(read_ad(text).ad, "ada", None, text)
    >>> dict(made.job), made.mapper, made.constraint
    ({'x': '10'}, '"line"', 'other.cpus >= 2')
    """
    job = {each.name: _text(each.expression, text) for key, each in ad.attributes.items() if key not in _NO_JOB}
    parts = {name: _text(ad.get(name), text) for name in (_MAPPER, REQUIREMENTS, RANK)}
    return RequestElements(owner, job, lifetime, parts[_MAPPER], parts[REQUIREMENTS], parts[RANK], is_set_request(ad))


def lifetime_of(ad: Record, asked: int | None) -> int | None:
    """Seconds for which a request waits: as asked, else its attribute `lifetime`; None: it is answered at once.

    Raises InputError for what is no lifetime, and for one beside the paper's Service = "InstantService"; MeaningError
    where it stands in the ad.
    """
    stated = ad.get(_LIFETIME) if asked is None else None
    lifetime = asked if stated is None else ad.literal(_LIFETIME)
    if lifetime is None and stated is None:
        return None
    if isinstance(lifetime, bool) or not isinstance(lifetime, int) or not 1 <= lifetime <= LONGEST_LIFETIME:
        raise _no_lifetime(lifetime, stated, f"a whole number of seconds from 1 to {LONGEST_LIFETIME}")
    if _is_instant(ad):
        accepted = f"nothing beside Service = {ad.literal(_SERVICE)!r}, which is answered at once"
        raise _no_lifetime(lifetime, stated, accepted)
    return lifetime


def placed_lifetime(text: str, ad: Record, asked: int | None, source: str) -> int | None:
    """As `lifetime_of` the ad of a text. Raises InputError, with the place where the lifetime stands in the text."""
    try:
        lifetime, stated = lifetime_of(ad, asked), ad.get(_SERVICE)
        if lifetime is None and stated is not None and _is_asynchronous(ad):
            raise _wrong("Service", stated, "that word together with a lifetime in seconds")
        return lifetime
    except MeaningError as error:
        raise error.placed(text, source) from error


def _no_lifetime(value: object, stated: Expression | None, accepted: str) -> InputError:
    return InputError(_LIFETIME, value, accepted) if stated is None else _wrong("lifetime", stated, accepted)


def mapper_of(ad: Record) -> tuple[str, Record]:
    """The name of the mapper and its options: `Mapper = "line"`, or an ad with libraryname or name. Empty without one.

    Raises MeaningError for a mapper of another kind, and for an option `time` that is no attribute of the request.
    """
    stated = ad.get(_MAPPER)
    if stated is None:
        return "", Record({})
    options = stated if isinstance(stated, Record) else Record({})
    named = next((each for name in _MAPPER_NAMES if (each := options.get(name))), stated)
    if not isinstance(named, Literal) or not isinstance(named.value, str) or not named.value:
        raise _wrong("Mapper", named, _A_MAPPER)
    time = options.get(_TIME)
    if time is None or (isinstance(time, Literal) and isinstance(time.value, str) and ad.get(time.value) is not None):
        return named.value, options
    raise _wrong("The mapper's option time", time, 'the name of an attribute of the request, such as "exectime"')


def check_elements(ad: Record) -> None:
    """Raises MeaningError for a mapper, a service or a lifetime of a wrong kind."""
    mapper_of(ad)
    lifetime_of(ad, None)
    stated = ad.get(_SERVICE)
    if stated is not None and not _is_instant(ad) and not _is_asynchronous(ad):
        raise _wrong("Service", stated, '"InstantService", or no Service and a lifetime in seconds')


def _is_instant(ad: Record) -> bool:
    return (service := _service_of(ad)).startswith(_INSTANT) or service == _SYNCHRONOUS


def _is_asynchronous(ad: Record) -> bool:
    return _service_of(ad) == _ASYNCHRONOUS


def _service_of(ad: Record) -> str:
    """In small letters; empty for none and for what is no text."""
    service = ad.literal(_SERVICE)
    return service.lower() if isinstance(service, str) else ""


def check_job_elements(ad: Record) -> None:
    """Raises MeaningError for how long a request waits, in one that a job asks its nodes by."""
    for key in (_SERVICE, _LIFETIME):
        if (stated := ad.get(key)) is not None:
            accepted = f"a request without {key.capitalize()}: a job waits until it is placed or cancelled"
            raise _wrong(key.capitalize(), stated, accepted)


def _wrong(element: str, stated: Expression, accepted: str) -> MeaningError:
    place = (stated.start, stated.end)
    return MeaningError(_text(stated), place, f"{element} is {{part}}; accepted is {{accepted}}.", accepted)


def sent_by(ad: Record, owner: str, groups: tuple[str, ...] = ()) -> Record:
    """A request with who sends it: `owner` and `groups` are the portal's word, whatever the text says."""
    listed = ListOf(tuple(Literal(group) for group in groups))
    added: dict[str, Expression] = {_OWNER: Literal(owner), _GROUPS: listed}
    return Record({**ad.attributes, **{name: Attribute(name, value) for name, value in added.items()}})


def with_sizes(ad: Record, sizes: Sequence[tuple[int, int]]) -> Record:
    """A request for a set that may have only so many members: runs of sizes from the least to the most.

    >>> from scheduling.matching.core.language.ad_reader import read_ad
    >>> ad = read_ad('[ type = "set"; requirements = Sum(other.cpus) > 4 ]').ad
    >>> elements(with_sizes(ad, [(1, 2), (4, 4)]), "", None).constraint
    'sum(TARGET.cpus) > 4 && (SetSize >= 1 && SetSize <= 2 || SetSize == 4)'
    """
    if not is_set_request(ad) or not sizes:
        return ad
    clause = reduce(lambda left, right: Binary("||", left, right), [_of_size(*each) for each in sizes])
    requirements = ad.get(REQUIREMENTS)
    joined = clause if requirements is None else Binary("&&", requirements, clause)
    return Record({**ad.attributes, REQUIREMENTS: Attribute(REQUIREMENTS, joined)})


def with_requirements(ad: Record, besides: Record) -> Record:
    """A request with what another asks besides. Beside one for a set it asks for a set too, and where it did not
    before nothing tells one set from another.

    >>> from scheduling.matching.core.language.ad_reader import read_ad
    >>> ad, besides = read_ad("[ requirements = other.a > 1 ]").ad, read_ad("[ requirements = other.b > 2 ]").ad
    >>> elements(with_requirements(ad, besides), "", None).constraint
    'TARGET.a > 1 && TARGET.b > 2'
    """
    own, more = ad.get(REQUIREMENTS), besides.get(REQUIREMENTS)
    attributes = dict(ad.attributes)
    if is_set_request(besides) and not is_set_request(ad):
        attributes.pop(RANK, None)
        attributes["type"] = Attribute("Type", Literal("Set"))
    if more is not None:
        more = rewritten(more, lambda part: replace(part, start=0, end=0))
        attributes[REQUIREMENTS] = Attribute(REQUIREMENTS, more if own is None else Binary("&&", own, more))
    return Record(attributes)


def _of_size(least: int, most: int) -> Expression:
    size = Name(Scope.NEAREST, "SetSize")
    if least == most:
        return Binary("==", size, Literal(least))
    return Binary("&&", Binary(">=", size, Literal(least)), Binary("<=", size, Literal(most)))


def _text(expression: Expression | None, text: str = "") -> str:
    """As it stands in the text, where it stands there in one piece; else as the language writes it."""
    if expression is None:
        return ""
    part = text[expression.start : expression.end]
    is_whole = bool(part) and part.count("(") == part.count(")") and not isinstance(expression, Literal)
    return " ".join(part.split()) if is_whole else AdWriter().text(expression)
