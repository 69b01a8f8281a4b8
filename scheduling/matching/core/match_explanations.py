"""Why a request found nothing, or the set that it found: clause by clause, and against the sets beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.answers import (
    AggregateReport,
    ClauseReport,
    MatchExplanation,
    Rejected,
    RejectedSet,
)
from scheduling.matching.core.columns.column import REAL, Column
from scheduling.matching.core.columns.pair_evaluation import Pool
from scheduling.matching.core.language.ad_errors import TextPlace
from scheduling.matching.core.language.ad_syntax import (
    Attribute,
    Binary,
    Expression,
    Literal,
    Name,
    Record,
    Scope,
    Special,
    walk,
)
from scheduling.matching.core.language.ad_writer import PEOPLES_WRITER
from scheduling.matching.core.sets.improvement import rejected_changes
from scheduling.matching.core.sets.library_port import AdLibrary
from scheduling.matching.core.sets.set_candidates import Filtered, Mask, PairValues
from scheduling.matching.core.sets.set_matching import SetMatch, SetSearch, match
from scheduling.matching.core.sets.set_request import RANK, REQUIREMENTS, SetRequest
from scheduling.matching.core.smallest_changes import DroppedClauses, level_that_matches, smallest_change

#: Clauses that are held against each other.
_MOST_PAIRED = 30
_ORDERED = ("<", "<=", ">", ">=")
OWN_REQUIREMENTS = "requirements of the resource"


def _is_any(rows: Mask) -> bool:
    return bool(rows.any())


class Explainer:
    """Explains a match of one request with one pool. `text`: what the request was read from."""

    def __init__(self, text: str, request: SetRequest, library: AdLibrary, is_over: Callable[[], bool]) -> None:
        self.text = text
        self.request = request
        self._library = library
        self._is_over = is_over
        self._pairs = PairValues(request, library)

    def of(self, outcome: SetMatch, names: Sequence[str], *, is_by_rank: bool = False) -> MatchExplanation:
        """What there is to say. names: of the resources of the pool. is_by_rank: nothing was found because of the rank,
        so that no other clause would help."""
        kept, is_matched = outcome.filtered, bool(outcome.members)
        reports, masks = self._individual(kept)
        if self.request.is_set and self.request.pool.size:
            reports += self._collective(kept, first=len(reports), is_matched=is_matched)
        if not is_matched and self.request.pool.size and not is_by_rank:
            reports, change = self._changed(reports, masks)
            return MatchExplanation(self.request.pool.size, len(kept.rows), tuple(reports), change)
        made = MatchExplanation(self.request.pool.size, len(kept.rows), tuple(reports))
        if not is_matched or outcome.search is None:
            return made
        return replace(
            made,
            aggregates=_aggregates(outcome, outcome.search, names, self._shown),
            rejected=_rejected(outcome, outcome.search, names),
        )

    def _individual(self, kept: Filtered) -> tuple[list[ClauseReport], list[Mask]]:
        """The clauses about single resources, and which resources satisfy each."""
        masks = [mask for _, mask in kept.clauses]
        expressions: list[Expression | None] = [clause for clause, _ in kept.clauses]
        if not self.request.pool.size or self._has_own_requirements():
            masks, expressions = [*masks, kept.accepting], [*expressions, None]
        failing = sum((~mask).astype(np.int64) for mask in masks) if masks else np.zeros(self.request.pool.size)
        reports = []
        for number, (expression, mask) in enumerate(zip(expressions, masks, strict=True)):
            others = (failing - ~mask) == 0
            report = self._report(expression, is_collective=False, passing=int(mask.sum()))
            report = replace(report, left_without=int(others.sum()), conflicts=_conflicts(number, masks))
            reports.append(self._with_nearest(report, expression, others))
        return reports, masks

    def _changed(
        self, reports: Sequence[ClauseReport], masks: Sequence[Mask]
    ) -> tuple[list[ClauseReport], tuple[int, ...]]:
        """The clauses, those about single resources with how far each has to give way for a set, and the smallest
        change."""
        about_sets = [report for report in reports if report.is_collective]
        dropped = DroppedClauses(self.request.pool.size, masks, len(about_sets), self._feasible)
        made, singles = list(reports), [number for number in range(len(reports)) if dropped.without(number)]
        everything = range(len(about_sets))
        for number in singles:
            if number < len(masks) and reports[number].operator and self.request.is_set:
                others = np.logical_and.reduce([np.ones(self.request.pool.size, bool), *_without(masks, number)])
                clause = self.request.individual[number]
                enough = partial(self._feasible, collective=everything)
                made[number] = self._with_nearest(reports[number], clause, others, enough)
        return made, smallest_change(made, singles) or dropped.fewest()

    def _feasible(self, rows: Mask, collective: Sequence[int]) -> bool:
        """Whether some of the resources make a set that satisfies clauses about the set."""
        if not rows.any():
            return False
        clauses = [self.request.collective[number] for number in collective]
        clauses += self.request.collective[_MOST_PAIRED:]
        if not clauses:
            return True
        return bool(self._matched(self._plain.subset(np.flatnonzero(rows)), clauses, Literal(0)).members)

    @cached_property
    def _plain(self) -> Pool:
        """The resources without requirements of their own."""
        ads = self.request.pool.ads
        return Pool([Record({key: e for key, e in ad.attributes.items() if key != REQUIREMENTS}) for ad in ads])

    def _has_own_requirements(self) -> bool:
        return any(each is not None for each in self.request.pool.attribute(REQUIREMENTS).attributes)

    def _report(self, expression: Expression | None, *, is_collective: bool, passing: int) -> ClauseReport:
        if expression is None or not expression.end:
            text = OWN_REQUIREMENTS if expression is None else PEOPLES_WRITER.text(expression)
            return ClauseReport(text, 0, 0, is_collective, passing, 0)
        place = TextPlace.of(self.text, expression.start)
        report = ClauseReport(self._shown(expression), place.line, place.column, is_collective, passing, 0)
        return replace(report, unknown=self._unknown(expression))

    def _unknown(self, expression: Expression) -> tuple[str, ...]:
        """Attributes of resources in it that none of them has."""
        names = {
            part.key: part.name for part in walk(expression) if isinstance(part, Name) and part.scope is Scope.OTHER
        }
        attribute = self.request.pool.attribute
        return tuple(name for key, name in names.items() if not any(attribute(key).attributes))

    def _shown(self, expression: Expression) -> str:
        """An expression as it stands in the text, where it stands there in one piece."""
        text = self.text[expression.start : expression.end]
        is_whole = bool(text) and text.count("(") == text.count(")")
        return " ".join(text.split()) if is_whole else PEOPLES_WRITER.text(expression)

    def _with_nearest(
        self,
        report: ClauseReport,
        expression: Expression | None,
        others: Mask,
        is_enough: Callable[[Mask], bool] = _is_any,
    ) -> ClauseReport:
        """With both sides of a comparison, for the resource that comes nearest of those that satisfy all else; or for
        the one with which those that come as near are enough."""
        if not isinstance(expression, Binary) or expression.op not in _ORDERED or not others.any():
            return report
        size = self.request.pool.size
        left, right = (_numbers(self._pairs.of_request(side), size) for side in (expression.left, expression.right))
        short = np.where(others, (left - right) * (1.0 if expression.op in (">", ">=") else -1.0), -np.inf)
        level = level_that_matches(short, is_enough)
        if level is None:
            return report
        place = int(np.flatnonzero(short == level)[0])
        return replace(report, operator=expression.op, asked=float(right[place]), best=float(left[place]))

    def _collective(self, kept: Filtered, *, first: int, is_matched: bool) -> list[ClauseReport]:
        """The clauses about the set: which some set satisfies, alone, in pairs, and how near one comes to the rest."""
        clauses = self.request.collective[:_MOST_PAIRED]
        pool = self._plain.subset(kept.rows) if len(kept.rows) else self._plain
        alone = [not self._is_impossible(pool, [clause]) for clause in clauses]
        reports = []
        for number, clause in enumerate(clauses):
            report = self._report(clause, is_collective=True, passing=int(alone[number]))
            if not is_matched:
                others = [each for place, each in enumerate(clauses) if place != number]
                report = replace(
                    report,
                    left_without=int(bool(len(kept.rows) and self._matched(pool, others, Literal(0)).members)),
                    conflicts=tuple(
                        first + place
                        for place, other in enumerate(clauses)
                        if place != number
                        and alone[place]
                        and alone[number]
                        and self._is_impossible(pool, [clause, other])
                    ),
                )
                report = self._with_best_set(report, clause, others, pool)
            reports.append(report)
        return reports

    def _is_impossible(self, pool: Pool, clauses: Sequence[Expression]) -> bool:
        """Whether surely no set satisfies them."""
        outcome = self._matched(pool, clauses, Literal(0))
        return outcome.exact and not outcome.members

    def _with_best_set(
        self, report: ClauseReport, clause: Expression, others: Sequence[Expression], pool: Pool
    ) -> ClauseReport:
        """How near a set that satisfies all else comes to a comparison, by a search with that as its rank."""
        if not isinstance(clause, Binary) or clause.op not in _ORDERED or not report.left_without:
            return report
        sides = (clause.left, clause.right) if clause.op in (">", ">=") else (clause.right, clause.left)
        nearest = self._matched(pool, others, Binary("-", *sides))
        if nearest.search is None or nearest.rank is None:
            return report
        search = nearest.search
        places = {int(row): number for number, row in enumerate(search.candidates.rows)}
        members = np.array([places[row] for row in nearest.members], np.int64)
        sizes = Column.of([len(members)])
        of_last = [column.take(np.array([len(members) - 1])) for column in search.candidates.running(members)]
        if len(of_last) != len(search.request.aggregates):
            return report
        left, right = (search.values.value(side, of_last, sizes) for side in (clause.left, clause.right))
        best, asked = _number(left.value(0)), _number(right.value(0))
        return replace(report, operator=clause.op, best=best, asked=asked)

    def _matched(self, pool: Pool, clauses: Sequence[Expression], rank: Expression) -> SetMatch:
        requirements: Expression = Literal(True)
        for clause in clauses:
            requirements = clause if requirements == Literal(True) else Binary("&&", requirements, clause)
        attributes = dict(self.request.ad.attributes)
        attributes[REQUIREMENTS] = Attribute(REQUIREMENTS, requirements)
        attributes[RANK] = Attribute(RANK, rank)
        return match(Record(attributes), pool, self._library, is_over=self._is_over)


def _without(masks: Sequence[Mask], number: int) -> list[Mask]:
    return [mask for place, mask in enumerate(masks) if place != number]


def _conflicts(number: int, masks: Sequence[Mask]) -> tuple[int, ...]:
    """The clauses that nobody satisfies together with one, though some satisfy each."""
    own = masks[number]
    if not own.any():
        return ()
    each = enumerate(masks[:_MOST_PAIRED])
    return tuple(place for place, mask in each if place != number and mask.any() and not (own & mask).any())


def _numbers(column: Column, size: int) -> NDArray[np.float64]:
    """The values as numbers, not a number elsewhere."""
    return np.broadcast_to(np.where(column.is_number, column.as_reals, np.nan), size)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _aggregates(
    outcome: SetMatch, search: SetSearch, names: Sequence[str], shown: Callable[[Expression], str]
) -> tuple[AggregateReport, ...]:
    """Each Max, Min and Sum over the set, and who has it."""
    chosen = search.candidates
    places = {int(row): number for number, row in enumerate(chosen.rows)}
    members = np.array([places[row] for row in outcome.members], np.int64)
    made = []
    for call, column, running in zip(search.request.aggregates, chosen.columns, chosen.running(members), strict=True):
        values = column.take(members).spread(len(members))
        value = _number(running.value(len(members) - 1 if len(running.kinds) > 1 or _is_long(running) else 0))
        binding = ""
        if call.function != "sum" and value is not None:
            holders = [row for place, row in enumerate(outcome.members) if _number(values.value(place)) == value]
            binding = names[holders[0]] if holders else ""
        missing = tuple(
            names[row] for place, row in enumerate(outcome.members) if values.value(place) is Special.UNDEFINED
        )
        made.append(AggregateReport(shown(call), value, binding, missing))
    return tuple(made)


def _is_long(column: Column) -> bool:
    return len(column.ints) > 1 or (column.one_kind == REAL and len(column.reals) > 1)


def _rejected(outcome: SetMatch, search: SetSearch, names: Sequence[str]) -> tuple[RejectedSet, ...]:
    """The best of the sets with one more, one less, one other, and all candidates."""
    chosen = search.candidates
    places = {int(row): number for number, row in enumerate(chosen.rows)}
    members = np.array([places[row] for row in outcome.members], np.int64)
    clauses = len(search.request.collective)

    def name(place: int | None) -> str:
        return "" if place is None else names[int(chosen.rows[place])]

    made = []
    for change in rejected_changes(chosen, search.values, members):
        leaves = None if change.leaves is None else int(members[change.leaves])
        how = Rejected.EXCHANGED if leaves is not None else Rejected.ONE_MORE
        how = Rejected.ONE_LESS if change.joins is None else how
        size = len(members) + (change.joins is not None) - (leaves is not None)
        rank = change.score[1] if np.isfinite(change.score[1]) else None
        made.append(RejectedSet(how, name(change.joins), name(leaves), size, rank, clauses - change.score[0]))
    return tuple(made)
