"""What the match of a request has to say of a choice: among which nodes it was made, and what its mapper did wrong.

Source: Set matching 2002, 3.1: the set is chosen first, by the request; nodes outside it are not compared any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from gridportal.base.reasons import NOTHING, Code, Reason
from scheduling.matching.core.answers import MatchAnswer


@dataclass(frozen=True)
class MatchNotes:
    """among: between which sets or nodes the choice was made, none where all nodes could be had. left_out: why each
    other node was none of them. remarks: what is not used of a mapper's answer, and why."""

    among: Reason = NOTHING
    left_out: Mapping[str, Reason] = field(default_factory=dict)
    remarks: tuple[Reason, ...] = ()


#: Where no request was matched.
NO_NOTES = MatchNotes()


def notes_of(
    answer: MatchAnswer, usable: Sequence[str], *, is_set: bool, by_request: bool, with_ads: Collection[str]
) -> MatchNotes:
    """Of an answer among the nodes `usable`.

    is_set: the request chose the set itself. by_request: the job has a request, else it is matched for administrators'
    ads alone. with_ads: the nodes that have such an ad, "" for all of them.
    """
    matched = set(answer.candidates)
    chosen = {machine.dns for machine in answer.machines} if is_set else matched
    left_out = {
        name: Reason.of(Code.NODE_NOT_IN_SET if name in matched else _excluding(name, with_ads, by_request=by_request))
        for name in usable
        if name not in chosen
    }
    among = _among(answer, is_set=is_set, by_request=by_request) if left_out else NOTHING
    return MatchNotes(among, left_out, tuple(_remarks(answer)))


def _excluding(name: str, with_ads: Collection[str], *, by_request: bool) -> Code:
    """Who keeps the job from a node; both may where both say something of it."""
    if not by_request:
        return Code.NODE_KEPT_BY_AD
    return Code.NODE_NOT_MATCHED if name in with_ads or "" in with_ads else Code.NODE_NOT_REQUESTED


def _among(answer: MatchAnswer, *, is_set: bool, by_request: bool) -> Reason:
    is_ranked = is_set and bool(answer.ranked_by)
    return Reason.of(Code.AMONG_MATCHED, is_set=is_ranked, is_exact=answer.exact, by_request=by_request)


def _remarks(answer: MatchAnswer) -> list[Reason]:
    if answer.mapper is None:
        return []
    name, failure = answer.mapper.name, answer.mapper.failure
    if failure:
        return [Reason.of(Code.MAPPER_FAILED, mapper=name, error=failure)]
    without = [machine.dns for machine in answer.machines if machine.share == 0]
    return [Reason.of(Code.MAPPER_ZERO_SHARES, mapper=name, nodes=without)] if without else []
