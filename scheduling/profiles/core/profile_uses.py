"""Which jobs take which profile of an application: of so many ranks the newest of their parameters, else the newest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class ProfileUse(StrEnum):
    """Which jobs on as many ranks take a profile."""

    SAME = "same"  #: those with its parameters
    ALL = "all"  #: those too whose parameters have no profile of their own
    OTHERS = "others"  #: only these, for no job can have its own parameters any more
    NEWER = "newer"  #: none: newer ones are taken
    STALE = "stale"  #: none: the program starts in another way now
    FAILED = "failed"  #: none: its run failed before all ranks had called MPI_Finalize


@dataclass(frozen=True, slots=True)
class Candidate:
    """A profile; `key`: of its parameters, None where no job can have them any more; `failed`: its run did, before all
    ranks had called MPI_Finalize."""

    ranks: int
    key: str | None
    stale: bool
    failed: bool = False


def uses(candidates: Sequence[Candidate]) -> list[ProfileUse]:
    """Of each, as `stored_profiles.best` chooses among all of them; the newest comes first.

    >>> [use.value for use in uses([Candidate(4, "a", False), Candidate(4, "b", False), Candidate(4, "a", False)])]
    ['all', 'same', 'newer']
    """
    keys, ranks, found = set[tuple[int, str]](), set[int](), []
    for each in candidates:
        if each.failed or each.stale:
            found.append(ProfileUse.FAILED if each.failed else ProfileUse.STALE)
            continue
        is_first, is_of_key = each.ranks not in ranks, each.key is not None and (each.ranks, each.key) not in keys
        found.append(_use(is_first, is_of_key))
        ranks.add(each.ranks)
        keys |= {(each.ranks, each.key)} if each.key is not None else set()
    return found


def _use(is_first: bool, is_of_key: bool) -> ProfileUse:
    if is_first:
        return ProfileUse.ALL if is_of_key else ProfileUse.OTHERS
    return ProfileUse.SAME if is_of_key else ProfileUse.NEWER
