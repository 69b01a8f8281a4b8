"""What came of a request, as values that go between processes as JSON: the set, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from scheduling.matching.core.language.ad_errors import Notice
from scheduling.matching.core.mapping.mapper_interface import MapperQuestion
from scheduling.matching.core.sets.set_matching import Method


class StatusCode(IntEnum):
    """How a request was answered, in the numbers of the paper's XML. Source: Set matching 2002, 3.3."""

    OK = 200
    NO_SET = 404
    OUT_OF_TIME = 504


class Refusal(StrEnum):
    """Why no set was found."""

    NONE = ""
    NO_RESOURCES = "no_resources"
    NONE_PASSES = "none_passes"  # no resource passes all clauses for single resources
    NO_SET_PASSES = "no_set_passes"  # no set of those that do satisfies the clauses about the set
    NO_RANK = "no_rank"  # sets satisfy the requirements, but their rank is no number
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Machine:
    """A resource of the set. processors: 1 where its ad does not say. share: of the work, as a mapper has it."""

    dns: str
    processors: int
    share: float | None = None


@dataclass(frozen=True, slots=True)
class ClauseReport:
    """A clause of the requirements.

    line, column: where it stands, 0 for the resources' own requirements. is_collective: it is about the set.
    passing: how many resources satisfy it by themselves; of a collective clause 1 where some set does. left_without:
    how many resources, or sets, would match without it. conflicts: the numbers of clauses that no resource (no set)
    satisfies together with it though some satisfy each. best: of those that satisfy all else, the nearest that the
    left side comes to `asked`, the right side. unknown: attributes of it that no resource has.
    """

    text: str
    line: int
    column: int
    is_collective: bool
    passing: int
    left_without: int
    conflicts: tuple[int, ...] = ()
    operator: str = ""
    asked: float | None = None
    best: float | None = None
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AggregateReport:
    """A Max, Min or Sum over the set that was found. binding: the machine that has a Max or Min; missing: members for
    which the expression has no value, so that they do not count in it."""

    text: str
    value: float | None
    binding: str = ""
    missing: tuple[str, ...] = ()


class Rejected(StrEnum):
    """How another set differs from the one that was found."""

    ONE_MORE = "one_more"
    ONE_LESS = "one_less"
    EXCHANGED = "exchanged"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class RejectedSet:
    """The best of the sets that differ so. rank: None for no number; unmet: clauses that it does not satisfy."""

    how: Rejected
    joins: str
    leaves: str
    size: int
    rank: float | None
    unmet: int


@dataclass(frozen=True, slots=True)
class MatchExplanation:
    """Why: the clauses with what they leave, and for a set its aggregates and the best sets beside it.

    smallest_change: the fewest clauses without which something would match, their numbers.
    """

    pool: int
    passing: int
    clauses: tuple[ClauseReport, ...] = ()
    smallest_change: tuple[int, ...] = ()
    aggregates: tuple[AggregateReport, ...] = ()
    rejected: tuple[RejectedSet, ...] = ()


@dataclass(frozen=True, slots=True)
class MapperReport:
    """The mapper that a request names, and what it said where it failed. seconds: how long it took; unused: packages
    that have another mapper of this name."""

    name: str
    failure: str = ""
    seconds: float = 0.0
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MappingRequest:
    """A mapper by name, and the question for it: its machines are those of the answer, in their order."""

    name: str
    question: MapperQuestion


@dataclass(frozen=True, slots=True)
class MatchAnswer:
    """All of it. mapping: the name of the mapper that is still to be asked, and what. pool: how many resources there
    were, passing: how many satisfy all requirements for single resources; candidates: those by name, where that was
    asked for. ranked_by: the rank of the request, as it stands there."""

    status: StatusCode
    refusal: Refusal
    machines: tuple[Machine, ...]
    rank: float | None
    exact: bool
    method: Method
    seconds: float
    bound: float | None = None
    greedy_rank: float | None = None
    mapper: MapperReport | None = None
    notices: tuple[Notice, ...] = ()
    explanation: MatchExplanation | None = None
    mapping: MappingRequest | None = None
    pool: int = 0
    passing: int = 0
    candidates: tuple[str, ...] = ()
    ranked_by: str = ""


@dataclass(frozen=True, slots=True)
class TextFault:
    """A text that cannot be read, or a request without a meaning: a TextError as a value; message: its sentence."""

    field: str
    value: str
    accepted: str
    message: str = ""
    pointer: str = ""
    line: int = 0
    column: int = 0
