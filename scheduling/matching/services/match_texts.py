"""From the texts of a request and of resources to an answer, in this process; `limited_match` does it in another."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scheduling.matching.adapters.classad_library import Library
from scheduling.matching.core.answers import Machine, MappingRequest, MatchAnswer, Refusal, StatusCode
from scheduling.matching.core.columns.column import Column
from scheduling.matching.core.columns.pair_evaluation import Pool
from scheduling.matching.core.language.ad_errors import MeaningError, Notice
from scheduling.matching.core.language.ad_reader import read_ad, read_ads
from scheduling.matching.core.language.ad_syntax import Literal, Record, Scope, Special
from scheduling.matching.core.language.ad_syntax import Name as AttributeName
from scheduling.matching.core.mapping.mapper_interface import MapperMachine, MapperQuestion, PlainValue
from scheduling.matching.core.match_explanations import Explainer
from scheduling.matching.core.request_elements import (
    check_elements,
    elements,
    mapper_of,
    sent_by,
    with_requirements,
    with_sizes,
)
from scheduling.matching.core.sets.set_candidates import PairValues
from scheduling.matching.core.sets.set_matching import SetMatch, match, passes_without_rank
from scheduling.matching.core.sets.set_request import SetRequest
from scheduling.matching.services import match_notices

RESOURCE_NAMES = ("machine", "dns", "name", "hostname")
_PROCESSORS = ("processors", "cpus", "cpucount", "totalcpus", "detectedcpus")
_TIMES = ("exectime", "computetime")


@dataclass(frozen=True)
class MatchQuestion:
    """request, resources: texts of ads; *_source: their names in messages. seconds: for reading, filtering and the
    search together, from asked_at on (on the monotonic clock; None: from now); an explanation may take as long again.

    owner, groups: who asks, which the request has as attributes where they are given. sizes: how many members a set may
    have, in runs from the least to the most; empty: any number. names_candidates: answer also who satisfies all
    requirements for single resources. besides: an ad whose requirements have to hold too, empty for none.
    """

    request: str
    resources: str
    request_source: str = "request"
    resources_source: str = "resources"
    explain: bool = False
    seconds: float = 60.0
    owner: str = ""
    groups: tuple[str, ...] = ()
    sizes: tuple[tuple[int, int], ...] = ()
    names_candidates: bool = False
    besides: str = ""
    asked_at: float | None = None


def answer(question: MatchQuestion, records: Sequence[Record] | None = None) -> MatchAnswer:
    """The best set, its shares of the work, and on demand why. `records`: the resources, where they need not be read
    from the question's text. Raises InputError."""
    started, until = time.monotonic(), (question.asked_at or time.monotonic()) + question.seconds

    def is_over() -> bool:
        return time.monotonic() > until

    ads, notices = _resources(question, records, is_over)
    attributes = {key for ad in ads for key in ad.attributes}
    hyphenated = {key for key in attributes if "-" in key}
    read = read_ad(question.request, question.request_source, hyphenated)
    library, pool = Library(is_over, refuses_large=True), Pool(ads)
    request = _as_sent(read.ad, question)
    outcome = _matched(question, request, pool, library, is_over)
    about = match_notices.of_request(read, question.request_source, SetRequest(request, pool).is_list)
    names = match_notices.of_attributes(read, question.request_source, attributes) if ads else ()
    notices = [
        *match_notices.of_library(library.evaluated, has_given_up=library.has_given_up),
        *read.notices,
        *about,
        *names,
        *notices,
    ]
    if match_notices.is_cut(notices):
        outcome = replace(outcome, exact=False, bound=None)
    made = _answered(outcome, ads, notices, time.monotonic() - started, is_late=is_over())
    if made.refusal is Refusal.NO_SET_PASSES and passes_without_rank(outcome, library, is_over=is_over):
        made = replace(made, refusal=Refusal.NO_RANK)
    made = replace(made, ranked_by=elements(read.ad, "", None, question.request).rank)
    if question.names_candidates:
        made = replace(made, candidates=tuple(dns(ads[row], row) for row in outcome.filtered.rows.tolist()))
    if outcome.members:
        made = _with_question(made, outcome, request, pool, question)
    return _explained(made, outcome, question, request, pool) if question.explain else made


def _resources(
    question: MatchQuestion, records: Sequence[Record] | None, is_over: Callable[[], bool]
) -> tuple[Sequence[Record], list[Notice]]:
    """The resources, with what there is to say of their text."""
    if records is not None:
        return records, []
    text, source = question.resources, question.resources_source
    ads, notices = read_ads(text, source, is_over)
    return ads, [*notices, *match_notices.of_resources(ads, text, source, is_over)]


def _matched(
    question: MatchQuestion, request: Record, pool: Pool, library: Library, is_over: Callable[[], bool]
) -> SetMatch:
    """The best set. Raises InputError, with the place where something means nothing."""
    try:
        check_elements(request)
        library.check(request)
        return match(request, pool, library, is_over=is_over)
    except MeaningError as error:
        raise error.placed(question.request, question.request_source) from error


def _explained(
    made: MatchAnswer, outcome: SetMatch, question: MatchQuestion, request: Record, pool: Pool
) -> MatchAnswer:
    """With why, within as long as the match had."""
    until, names = time.monotonic() + question.seconds, [dns(ad, row) for row, ad in enumerate(pool.ads)]
    asked = SetRequest(request, pool)
    explainer = Explainer(question.request, asked, Library(), lambda: time.monotonic() > until)
    return replace(made, explanation=explainer.of(outcome, names, is_by_rank=made.refusal is Refusal.NO_RANK))


def _as_sent(ad: Record, question: MatchQuestion) -> Record:
    """The request with who sends it, and with the sizes that a set may have."""
    ad = sent_by(ad, question.owner, question.groups) if question.owner else ad
    ad = with_requirements(ad, read_ad(question.besides, "besides").ad) if question.besides else ad
    return with_sizes(ad, question.sizes) if question.sizes else ad


def dns(ad: Record, row: int) -> str:
    """The name of a resource, or its place in the pool where its ad has none."""
    names = (value for name in RESOURCE_NAMES if isinstance(value := ad.literal(name), str) and value)
    return next(names, f"#{row + 1}")


def _answered(
    outcome: SetMatch, ads: Sequence[Record], notices: list[Notice], seconds: float, *, is_late: bool
) -> MatchAnswer:
    machines = tuple(Machine(dns(ads[row], row), _processors(ads[row])) for row in outcome.members)
    refusal = Refusal.NONE if machines else _refusal(outcome, len(ads), is_late=is_late)
    status = StatusCode.OK if machines else StatusCode.NO_SET
    return MatchAnswer(
        status=StatusCode.OUT_OF_TIME if refusal is Refusal.TIME else status,
        refusal=refusal,
        machines=machines,
        rank=outcome.rank,
        exact=outcome.exact,
        method=outcome.method,
        seconds=seconds,
        bound=outcome.bound,
        greedy_rank=outcome.greedy_rank,
        notices=match_notices.listed(notices),
        pool=len(ads),
        passing=len(outcome.filtered.rows),
    )


def _refusal(outcome: SetMatch, resources: int, *, is_late: bool) -> Refusal:
    if not resources:
        return Refusal.NO_RESOURCES
    if is_late and not outcome.exact:
        return Refusal.TIME
    if not len(outcome.filtered.rows):
        return Refusal.NONE_PASSES
    if outcome.search is not None and not outcome.search.request.collective:
        return Refusal.NO_RANK
    return Refusal.NO_SET_PASSES


def _processors(ad: Record) -> int:
    values = (ad.literal(name) for name in _PROCESSORS)
    counts = [value for value in values if isinstance(value, int) and not isinstance(value, bool) and value > 0]
    return counts[0] if counts else 1


def _with_question(
    made: MatchAnswer, outcome: SetMatch, request: Record, pool: Pool, question: MatchQuestion
) -> MatchAnswer:
    """With what the mapper that the request names is to be asked."""
    name, stated = mapper_of(request)
    if not name:
        return made
    options = _plain(stated)
    time = _time_name(request, options)
    machines = _machines(made, outcome, request, pool, time)
    text = (question.request, question.request_source)
    notices = (*made.notices, *match_notices.of_times(machines, time, request, *text))
    asked = MappingRequest(name, MapperQuestion(machines, options, _plain(request)))
    return replace(made, mapping=asked, notices=match_notices.listed(notices))


def _time_name(request: Record, options: dict[str, PlainValue]) -> str:
    """The attribute of the request that predicts the time on a machine; empty without one."""
    if "time" in options:
        return str(options["time"])
    return next((name for name in _TIMES if name in request.attributes), "")


def _plain(ad: Record) -> dict[str, PlainValue]:
    """The plain values of an ad."""
    values = ((key, each.expression) for key, each in ad.attributes.items())
    return {key: e.value for key, e in values if isinstance(e, Literal) and not isinstance(e.value, Special)}


def _machines(
    made: MatchAnswer,
    outcome: SetMatch,
    request: Record,
    pool: Pool,
    time: str,
) -> tuple[MapperMachine, ...]:
    rows = list(outcome.members)
    chosen = pool.subset(np.array(rows, np.int64))
    times = Column.constant(Special.UNDEFINED)
    if time:
        pairs = PairValues(SetRequest(request, chosen), Library())
        times = pairs.of_request(AttributeName(Scope.NEAREST, time))
    return tuple(
        MapperMachine(machine.dns, machine.processors, _seconds(times, place), _plain(ad))
        for place, (machine, ad) in enumerate(zip(made.machines, chosen.ads, strict=True))
    )


def _seconds(times: Column, place: int) -> float | None:
    value = times.value(place)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and isinstance(value, int | float) and value > 0 else None
