"""Sentences about matches, made of their values."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from operator import ge, gt, le, lt

from gridportal.base.rates import rate_text
from scheduling.matching.core.answers import (
    AggregateReport,
    ClauseReport,
    MapperReport,
    MatchAnswer,
    MatchExplanation,
    Refusal,
    Rejected,
    RejectedSet,
)
from scheduling.matching.core.language.ad_errors import Notice, NoticeCode
from scheduling.matching.core.sets.set_matching import Method, gap_percent

_REFUSALS = {
    Refusal.NONE: "OK",
    Refusal.NO_RESOURCES: "There are no resources.",
    Refusal.NONE_PASSES: "No resource meets all requirements on each resource.",
    Refusal.NO_SET_PASSES: "No set of resources meets all requirements on the set.",
    Refusal.NO_RANK: "Sets meet the requirements, but none has a rank that is a number.",
    Refusal.TIME: "No set was found in the time given.",
}
_METHODS = {
    Method.SINGLE: "the best single resource",
    Method.EVERY_SET: "every set was tried",
    Method.SWEEP: "by thresholds, which is exact for this rank",
    Method.GREEDY: "by the greedy algorithm; no change of one machine makes it better",
    Method.IMPROVED: "better than the greedy algorithm's set",
}
_MISSES = {
    Rejected.ONE_MORE: "with {joins} too",
    Rejected.ONE_LESS: "without {leaves}",
    Rejected.EXCHANGED: "with {joins} in place of {leaves}",
    Rejected.ALL: "all candidates",
}


def refusal_message(answer: MatchAnswer) -> str:
    """OK, or why there is no set; where no proof says that there is none, that too."""
    message = _REFUSALS[answer.refusal]
    is_open = answer.refusal in (Refusal.NO_SET_PASSES, Refusal.NO_RANK) and not answer.exact
    return f"{message[:-1]} among those that were tried." if is_open else message


def passing_message(passing: int, pool: int, resource: str) -> str:
    """How many resources satisfy the clauses about each.

    >>> passing_message(3, 5, "node"), passing_message(1, 5, "resource")
    ('3 of 5 nodes meet the requirements on each node.', '1 of 5 resources meets the requirements on each resource.')
    """
    return f"{passing} of {pool} {resource}s meet{'s' * (passing == 1)} the requirements on each {resource}."


def method_message(answer: MatchAnswer) -> str:
    """How the set was found, and how far it may be from the best."""
    message = _METHODS[answer.method]
    if answer.exact or answer.bound is None or answer.rank is None:
        return message
    gap, most = gap_percent(answer.rank, answer.bound), rank_text(answer.bound, answer.ranked_by)
    if gap is None:
        return f"{message}; no set has a rank above {most}"
    return f"{message}; at most {math.ceil(10 * gap) / 10:,g} % below the best: no set has a rank above {most}"


def rank_text(rank: float | None, ranked_by: str) -> str:
    """A rank for people: where it is a bandwidth, with its unit.

    >>> rank_text(9.5e7, "Min(other.bandwidth)"), rank_text(1900.0, "Min(other.cpuspeed * other.cpu)")
    ('95 Mbit/s', '1900')
    """
    if rank is None:
        return "no number"
    return rate_text(rank) if rank >= 0 and _is_rate(ranked_by) else f"{rank:.6g}"


def mapper_message(report: MapperReport) -> str:
    """Whose the order and the shares are, or why there are none.

    >>> mapper_message(MapperReport("line"))
    'Order and shares by the mapper line.'
    >>> mapper_message(MapperReport("line", "no answer within 3 s"))
    'The mapper line failed: no answer within 3 s. The set is the same, without shares.'
    """
    unused = f" {shared_name_message(report)}" if report.unused else ""
    if not report.failure:
        return f"Order and shares by the mapper {report.name}.{unused}"
    failure = report.failure.strip().removesuffix(".")
    return f"The mapper {report.name} failed: {failure}. The set is the same, without shares.{unused}"


def shared_name_message(report: MapperReport) -> str:
    """What a package has under the same name is not used.

    >>> shared_name_message(MapperReport("line", unused=("their-mappers",)))
    'Another package has a mapper line too, which is not used: their-mappers.'
    """
    return f"Another package has a mapper {report.name} too, which is not used: {', '.join(report.unused)}."


def late_message(until: datetime, limit: float) -> str:
    """Why a mapper gave nothing that ran into its limit of seconds.

    >>> from datetime import UTC
    >>> late_message(datetime(2026, 1, 5, 0, 31, tzinfo=UTC), 10.0)
    'it did not answer within 10 s; it is asked again after 00:31:00 UTC'
    """
    return f"it did not answer within {limit:g} s; it is asked again after {until:%H:%M:%S} UTC"


def notice_message(notice: Notice) -> str:
    """What was read otherwise than it stands."""
    where = f"{notice.source}, " if notice.source else ""
    more = f" ({notice.more:,} more like this)" if notice.more else ""
    place = f"line {notice.place.line}, column {notice.place.column}: " if notice.place.line else ""
    return f"{where}{place}{_notice_text(notice)}{more}"


def _notice_text(notice: Notice) -> str:
    if notice.code is NoticeCode.ARGUMENT_COUNT:
        return f"{notice.text} takes {_counts_text(notice.counts)}, not {notice.value or 0:.0f}; its value is an error"
    if notice.code is NoticeCode.UNKNOWN_FUNCTION:
        meant = f"; perhaps {notice.meant} is meant" if notice.meant else ""
        return f"there is no function {notice.text}; its value is an error{meant}"
    if notice.code is NoticeCode.UNKNOWN_ATTRIBUTE:
        meant = f"; perhaps {notice.meant} is meant" if notice.meant else ""
        return f"no resource has an attribute {notice.text}; its value is undefined{meant}"
    if notice.code is NoticeCode.NO_TIME:
        return f"{notice.text} is no number above 0 for {notice.meant}, so that the mapper knows no time of it"
    if notice.code is NoticeCode.CUT:
        what = "read" if notice.place.line else "held against the request"
        return f"the time was over when {notice.value or 0:,.0f} resources were {what}; the others are left out"
    if notice.code is NoticeCode.UNKNOWN_TYPE:
        accepted = f'accepted is "Set" for a set, and no {notice.meant} for one'
        return f"{notice.meant} is {notice.text}, so that the best single resource is looked for; {accepted}"
    if notice.code is NoticeCode.NO_LIST:
        meant = (
            'write Type = "Set" for a set' if notice.meant else "write Sum(...) / (1.0 * SetSize) for the set's mean"
        )
        return f"{notice.text} takes a list and stands around something else, so that its value is an error; {meant}"
    messages = {
        NoticeCode.SCALED_NUMBER: f"{notice.text} is read as {notice.value or 0:.15g} (a K is 1024)",
        NoticeCode.BARE_TEXT: f'{notice.text} is read as the text "{notice.text}"',
        NoticeCode.HYPHENATED_NAME: f"{notice.text} is read as one name",
        NoticeCode.LINE_NUMBERS: "the numbers of the lines are left out",
        NoticeCode.DEFINED_TWICE: f"{notice.text} is defined twice; the last one counts",
        NoticeCode.OF_THE_MEMBER: f"{notice.text} is read as other.{notice.text}",
        NoticeCode.SHARES_SUMMED: f"the shares of the mapper {notice.text} have the sum {notice.value or 0:.6g}; "
        "they are brought to 1",
        NoticeCode.TOO_LARGE: "the requirements of some resources are too large to be evaluated; these are left out",
    }
    return messages[notice.code]


def _counts_text(counts: Sequence[int]) -> str:
    """
    >>> _counts_text((1,)), _counts_text((2, 3)), _counts_text((0,))
    ('1 argument', '2 or 3 arguments', 'no argument')
    """
    listed = " or ".join(str(count) for count in counts) if any(counts) else "no"
    return f"{listed} argument{'s' * (max(counts) > 1)}"


def nearest_message(report: ClauseReport) -> str:
    """How near the best that satisfies all else comes to a clause that it fails."""
    if report.best is None or report.asked is None or _holds(report):
        return ""
    if report.best == report.asked:
        rate = _in_units(report.text, report.best)
        return f"best {report.best:.17g}{rate}, asked {report.operator} {report.asked:.17g}{rate}"
    texts = ((f"{report.best:.{digits}g}", f"{report.asked:.{digits}g}") for digits in _DIGITS)
    best, asked = next(each for each in texts if each[0] != each[1] and not _compared(report.operator, *each))
    rates = [_in_units(report.text, value) for value in (report.best, report.asked)]
    return f"best {best}{rates[0]}, asked {report.operator} {asked}{rates[1]}"


#: A bandwidth of an ad, alone or held against a number: its figures are bit/s.
_RATE = re.compile(r"(?:(?:min|max|sum)\()?(?:other\.)?[rl]?bandwidth\)?(?:[<>]=?[\w.+]+)?", re.IGNORECASE)


def _in_units(text: str, value: float) -> str:
    """A figure of this expression as people read it elsewhere, in brackets; empty where it is no bandwidth.

    >>> _in_units("other.bandwidth >= 50000000", 4e7), _in_units("other.memory >= 8", 4.0)
    (' (40 Mbit/s)', '')
    """
    return f" ({rate_text(value)})" if _is_rate(text) else ""


def _is_rate(text: str) -> bool:
    return _RATE.fullmatch("".join(text.split())) is not None


#: Digits of a number, as few as say what is so: 17 are the number itself.
_DIGITS = (6, 9, 12, 15, 17)
_ORDERS: dict[str, Callable[[float, float], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def _holds(report: ClauseReport) -> bool:
    return _ORDERS[report.operator](report.best or 0.0, report.asked or 0.0)


def _compared(order: str, left: str, right: str) -> bool:
    """Whether printed numbers are in an order."""
    return _ORDERS[order](float(left), float(right))


def _reached(value: float, order: str) -> str:
    """A number to ask for that `value` satisfies.

    >>> _reached(2 / 3, ">="), _reached(2 / 3, "<="), _reached(19999999.0, ">=")
    ('0.666666', '0.666667', '19999999')
    """
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    rounding = decimal.ROUND_FLOOR if order == ">=" else decimal.ROUND_CEILING
    rounded = decimal.Context(prec=_DIGITS[0], rounding=rounding).create_decimal(repr(value))
    return f"{float(rounded):.{_DIGITS[0]}g}"


def change_message(explanation: MatchExplanation) -> str:
    """The smallest change with which something would match."""
    reports = [explanation.clauses[number] for number in explanation.smallest_change]
    if not reports:
        return ""
    texts = " and ".join(report.text for report in reports)
    if len(reports) > 1:
        return f"The smallest change: do without {texts}."
    (report,) = reports
    if report.unknown:
        has = f"the attribute{'s' * (len(report.unknown) > 1)} {' and '.join(report.unknown)}"
        return f"The smallest change: do without {texts}; no resource has {has}."
    nearest = report.best if report.best is not None and not _holds(report) else None
    if nearest is None:
        return f"The smallest change: do without {texts}."
    order = f"{report.operator.rstrip('=')}="
    return f"The smallest change: ask for {order} {_reached(nearest, order)}{_in_units(texts, nearest)} in {texts}."


def none_message(answer: MatchAnswer) -> str:
    """Why there is no set, with the smallest change; empty where there is one."""
    if answer.machines:
        return ""
    change = change_message(answer.explanation) if answer.explanation else ""
    return f"{refusal_message(answer)} {change}".strip()


def expired_message(answer: MatchAnswer | None) -> str:
    """Why a request waited for nothing; answer: of the last attempt, None where there was none.

    >>> expired_message(None)
    'It was not tried within its lifetime.'
    """
    if answer is None:
        return "It was not tried within its lifetime."
    return f"No set turned up within its lifetime. {none_message(answer)}".strip()


def conflict_message(explanation: MatchExplanation, report: ClauseReport) -> str:
    """The clauses that nothing satisfies together with this one."""
    return ", ".join(explanation.clauses[number].text for number in report.conflicts)


def aggregate_message(report: AggregateReport) -> str:
    """An aggregate of the set, who has it, and for whom it has no value."""
    value = "no number"
    if report.value is not None:
        value = f"{report.value:.12g}{_in_units(report.text, report.value)}"
    holder = f", of {report.binding}" if report.binding else ""
    missing = f"; without a value: {', '.join(report.missing[:5])}" if report.missing else ""
    more = f" and {len(report.missing) - 5} more" if len(report.missing) > 5 else ""
    return f"{report.text} is {value}{holder}{missing}{more}"


def rejected_message(report: RejectedSet) -> str:
    """How a rejected set differs."""
    return _MISSES[report.how].format(joins=report.joins, leaves=report.leaves)


def rejected_outcome(report: RejectedSet, ranked_by: str) -> str:
    """What it came to."""
    rank = rank_text(report.rank, ranked_by)
    unmet = f", {report.unmet} requirements unmet" if report.unmet > 1 else ", 1 requirement unmet"
    return rank + (unmet if report.unmet else "")


#: The request of a job that has none.
_NOTHING = "[]"


def unmatched_message(node: str, request: str) -> str:
    """A node that somebody named for a job.

    >>> unmatched_message("n7", "[ requirements = other.cpu > 0.5 ]")
    "n7 does not fit: the job's request [ requirements = other.cpu > 0.5 ] or an administrator's ad of n7 excludes it."
    """
    asked = "" if request == _NOTHING else f"the job's request {request} or "
    return f"{node} does not fit: {asked}an administrator's ad of {node} excludes it."
