"""What pages show of a match: rows of tables and sentences, made of its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduling.matching import match_messages as say
from scheduling.matching.core.answers import MatchAnswer, MatchExplanation
from scheduling.matching.match_documents import number

_MOST_MACHINES = 256


@dataclass(frozen=True, slots=True)
class ClauseRow:
    """A clause as a row of a table."""

    text: str
    passes: str
    left: str
    excludes: str
    nearest: str
    fails: bool


@dataclass(frozen=True, slots=True)
class MachineRow:
    """A machine of the set as a row of a table."""

    name: str
    processors: int
    share: str


@dataclass(frozen=True)
class MatchStory:
    """All that a page says of an answer."""

    finding: str
    has_set: bool
    machines: tuple[MachineRow, ...] = ()
    left_out: int = 0
    has_shares: bool = False
    mapper: str = ""
    mapper_failure: str = ""
    notices: tuple[str, ...] = ()
    passing: str = ""
    clauses: tuple[ClauseRow, ...] = ()
    has_conflicts: bool = False
    has_nearest: bool = False
    change: str = ""
    aggregates: tuple[str, ...] = ()
    rejected: tuple[tuple[str, int, str], ...] = ()


def story_of(answer: MatchAnswer) -> MatchStory:
    """What the page of a request shows, and what stands beside a form."""
    machines = answer.machines[:_MOST_MACHINES]
    failure = answer.mapper.failure if answer.mapper else ""
    why = answer.explanation
    clauses = _clauses(why, is_matched=bool(answer.machines)) if why else ()
    return MatchStory(
        finding=finding(answer),
        has_set=bool(answer.machines),
        machines=tuple(MachineRow(each.dns, each.processors, _share(each.share)) for each in machines),
        left_out=len(answer.machines) - len(machines),
        has_shares=any(each.share is not None for each in machines),
        mapper=say.mapper_message(answer.mapper) if answer.mapper and not failure else "",
        mapper_failure=say.mapper_message(answer.mapper) if answer.mapper and failure else "",
        notices=tuple(f"{_capital(say.notice_message(each))}." for each in answer.notices),
        passing=say.passing_message(answer.passing, answer.pool, "node"),
        clauses=clauses,
        has_conflicts=any(each.excludes for each in clauses),
        has_nearest=any(each.nearest for each in clauses),
        change=say.change_message(why) if why else "",
        aggregates=tuple(f"{say.aggregate_message(each)}." for each in why.aggregates) if why else (),
        rejected=_rejected(why, answer.ranked_by) if why else (),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rejected(why: MatchExplanation, ranked_by: str) -> tuple[tuple[str, int, str], ...]:
    return tuple((say.rejected_message(r), r.size, say.rejected_outcome(r, ranked_by)) for r in why.rejected)


def finding(answer: MatchAnswer) -> str:
    """The set, or why there is none, in a sentence."""
    if not answer.machines:
        return say.refusal_message(answer)
    names = [machine.dns for machine in answer.machines]
    shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    count = "1 machine" if len(names) == 1 else f"{len(names)} machines"
    sure = "Proved best" if answer.exact else "The best that was found"
    rank = say.rank_text(answer.rank or 0.0, answer.ranked_by)
    return f"{count}: {shown}. {sure} with rank {rank} ({say.method_message(answer)})."


def _clauses(why: MatchExplanation, *, is_matched: bool) -> tuple[ClauseRow, ...]:
    made = []
    for each in why.clauses:
        of_sets = ("yes" if each.passing else "no", "" if is_matched else "some" if each.left_without else "none")
        passes, left = of_sets if each.is_collective else (f"{each.passing} of {why.pool}", str(each.left_without))
        nearest = "" if is_matched else say.nearest_message(each)
        fails = not each.passing
        made.append(ClauseRow(each.text, passes, left, say.conflict_message(why, each), nearest, fails))
    return tuple(made)


def _share(share: float | None) -> str:
    value = number(share)
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


#: What each state means, for the page of a request.
STATE_MEANING: Mapping[str, str] = {
    "waiting": "It is tried again as soon as the nodes change, until its lifetime is over.",
    "answered": "It was answered with a set.",
    "unmatched": "It was to be answered at once, and there was no set.",
    "expired": "No set turned up within its lifetime.",
    "cancelled": "Its wait was ended by a person.",
    "failed": "It could not be tried.",
}
