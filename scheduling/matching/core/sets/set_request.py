"""A request taken apart: what each resource has to satisfy, what the set as a whole, and what the best set is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from scheduling.matching.core.columns.pair_evaluation import Pool
from scheduling.matching.core.language.ad_errors import MeaningError
from scheduling.matching.core.language.ad_expressions import PRECEDENCE
from scheduling.matching.core.language.ad_syntax import (
    Binary,
    Call,
    Expression,
    ListOf,
    Name,
    Record,
    Scope,
    children,
    walk,
)
from scheduling.matching.core.language.ad_writer import PEOPLES_WRITER
from scheduling.matching.core.language.paper_forms import AGGREGATES, SET_SIZE, is_set_request

REQUIREMENTS = "requirements"
RANK = "rank"
#: Attributes of attributes that are followed.
_FOLLOWED = 100
_MOST_CLAUSES = 500
_NAMES = {"max": "Max", "min": "Min", "sum": "Sum"}


@dataclass(frozen=True)
class SetRequest:
    """A request in the sight of a pool, which says whether an attribute is a list.

    individual: clauses of `requirements` for each resource; collective: those that use Max, Min, Sum or SetSize; a set
    satisfies the request when all are true. rank: None where the request has none. Source: Set matching 2002, 2.2.
    """

    ad: Record
    pool: Pool

    @cached_property
    def is_set(self) -> bool:
        """Whether it asks for a set; else for the best single resource."""
        return is_set_request(self.ad)

    @cached_property
    def rank(self) -> Expression | None:
        """What the best set has the most of."""
        return self.ad.get(RANK)

    @cached_property
    def clauses(self) -> tuple[Expression, ...]:
        """What `requirements` joins by &&, each once, also through attributes of the request that join clauses about
        the set."""
        requirements = self.ad.get(REQUIREMENTS)
        return () if requirements is None else tuple(dict.fromkeys(self._clauses(requirements)))[:_MOST_CLAUSES]

    @cached_property
    def individual(self) -> tuple[Expression, ...]:
        """The clauses that single resources satisfy or not."""
        return tuple(clause for clause in self.clauses if not self.is_collective(clause))

    @cached_property
    def collective(self) -> tuple[Expression, ...]:
        """The clauses that only sets satisfy."""
        return tuple(clause for clause in self.clauses if self.is_collective(clause))

    @cached_property
    def aggregates(self) -> tuple[Call, ...]:
        """Each Max, Min and Sum over the set, once."""
        return self._aggregates_of([*self.collective, *([self.rank] if self.rank is not None and self.is_set else [])])

    @cached_property
    def of_rank(self) -> tuple[Call, ...]:
        """Those that the rank has."""
        return self._aggregates_of([self.rank] if self.rank is not None and self.is_set else [])

    def is_collective(self, expression: Expression) -> bool:
        """Whether the value is one of a set and not of a resource."""
        return self.is_set and any(self.is_aggregate(part) or self.is_size(part) for part in self._parts(expression))

    def is_aggregate(self, part: Expression) -> bool:
        """Max, Min or Sum of what is no list: over a list they are the library's own."""
        if not isinstance(part, Call) or part.function not in AGGREGATES or len(part.arguments) != 1:
            return False
        return not self.is_list(part.arguments[0])

    def is_size(self, part: Expression) -> bool:
        """SetSize or SetSize(), unless the request has an attribute of that name."""
        if isinstance(part, Call):
            return part.function == SET_SIZE and not part.arguments
        return isinstance(part, Name) and part.key == SET_SIZE and part.scope is Scope.NEAREST and not self._has(part)

    def check(self) -> None:
        """Raises MeaningError for what has no meaning for a set: an aggregate of an aggregate, a resource's attribute
        beside one, a rank that is not of the set."""
        for call in self.aggregates:
            for part in self._parts(call.arguments[0]):
                if self.is_aggregate(part) or self.is_size(part):
                    raise _nested(call, part)
        for expression in self.collective:
            self._refuse_members(expression, "this clause")
        if self.rank is not None and self.is_set:
            self._refuse_members(self.rank, "the rank")

    def _refuse_members(self, expression: Expression, whole: str) -> None:
        of_member = self._of_member(expression)
        if of_member is not None:
            raise _of_one_resource(of_member, whole)

    def _of_member(self, expression: Expression) -> Expression | None:
        """The first part, as large as can be, that is about one resource; None where there is none."""
        parts = list(self._parts(expression, inside=False))
        names = [part for part in parts if isinstance(part, Name) and part.scope is Scope.OTHER]
        whole = [part for part in parts if _is_test(part) and not self.is_collective(part)]
        around = [part for part in whole if any(name in names for name in walk(part))]
        return min(around or names, key=lambda part: (part.start, -part.end), default=None)

    def _clauses(self, expression: Expression, depth: int = 0) -> Iterator[Expression]:
        if isinstance(expression, Binary) and expression.op == "&&":
            pending = [expression.right]
            left: Expression = expression.left
            while isinstance(left, Binary) and left.op == "&&":
                pending.append(left.right)
                left = left.left
            for part in [left, *reversed(pending)]:
                yield from self._clauses(part, depth + 1)
        elif depth < _FOLLOWED and (joined := self._joined(expression)) is not None:
            yield from self._clauses(joined, depth + 1)
        else:
            yield expression

    def _joined(self, expression: Expression) -> Expression | None:
        """The && that an attribute of the request stands for, where it says something about the set."""
        if not isinstance(expression, Name) or expression.scope is Scope.OTHER:
            return None
        definition = self.ad.get(expression.name)
        is_joined = isinstance(definition, Binary) and definition.op == "&&"
        return definition if is_joined and self.is_collective(expression) else None

    def _parts(self, expression: Expression, *, inside: bool = True) -> Iterator[Expression]:
        """All parts, through attributes of the request too; without `inside` not those inside aggregates."""
        pending, followed = [expression], set[str]()
        while pending:
            part = pending.pop()
            yield part
            if not inside and self.is_aggregate(part):
                continue
            pending.extend(children(part))
            if isinstance(part, Name) and part.scope is not Scope.OTHER and part.key not in followed:
                followed.add(part.key)
                definition = self.ad.get(part.key)
                pending.extend([] if definition is None else [definition])

    def _aggregates_of(self, expressions: Sequence[Expression]) -> tuple[Call, ...]:
        calls: dict[Call, None] = {}
        for expression in expressions:
            for part in self._parts(expression, inside=False):
                if isinstance(part, Call) and self.is_aggregate(part):
                    calls[part] = None
        return tuple(sorted(calls, key=lambda call: (call.start, _shown(call))))

    def is_list(self, expression: Expression) -> bool:
        """Whether it is a list, or the name of one, of the request or of a resource."""
        for _ in range(_FOLLOWED):
            if isinstance(expression, ListOf):
                return True
            if not isinstance(expression, Name):
                return False
            if expression.scope is Scope.OTHER:
                return any(isinstance(each, ListOf) for each in self.pool.attribute(expression.key).groups)
            definition = self.ad.get(expression.name)
            if definition is None:
                return False
            expression = definition
        return False

    def _has(self, name: Name) -> bool:
        return name.key in self.ad.attributes


def _shown(expression: Expression) -> str:
    return PEOPLES_WRITER.text(expression)


def _is_test(part: Expression) -> bool:
    """Whether it is true or false by its form."""
    return isinstance(part, Binary) and PRECEDENCE[part.op] <= PRECEDENCE["<"] and part.op not in ("|", "^", "&")


def _nested(call: Call, part: Expression) -> MeaningError:
    message = f"{{part}} is about the whole set, but {_NAMES[call.function]} is over one resource after the other. "
    message += "Write {accepted} inside."
    return MeaningError(_shown(part), (part.start, part.end), message, "an expression of one resource")


def _of_one_resource(part: Expression, whole: str) -> MeaningError:
    """A part about one resource where the rest is about the set; with what to write in its place."""
    instead = "Max({part}), Min({part}) or Sum({part}), or for the mean Sum({part}) / (1.0 * SetSize)"
    if _is_test(part):
        counted = "Sum({part} ? 1 : 0)"
        instead = f"{counted} == SetSize if all resources of the set have to satisfy it, {counted} >= 1 if one has to"
    message = f"{{part}} is about one resource, but {whole} is about the whole set. Write {{accepted}}."
    return MeaningError(_shown(part), (part.start, part.end), message, instead)
