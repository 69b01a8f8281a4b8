"""Which jobs take which profile: said as it is chosen."""

from __future__ import annotations

from itertools import product

from scheduling.profiles.core.profile_uses import Candidate, ProfileUse, uses


def taken(candidates: list[Candidate], key: str, ranks: int) -> int | None:
    """The place of the one that a job takes: the newest of its parameters, else the newest."""
    fitting = [place for place, each in enumerate(candidates) if each.ranks == ranks and not each.stale]
    same = [place for place in fitting if candidates[place].key == key]
    return next(iter(same + fitting), None)


def test_what_is_said_of_each_profile_is_what_jobs_take() -> None:
    kinds = [Candidate(4, "a", False), Candidate(4, "b", False), Candidate(4, None, False), Candidate(4, "a", True)]
    for some in product(kinds, repeat=4):
        candidates = list(some)
        found = uses(candidates)
        for place, (each, use) in enumerate(zip(candidates, found, strict=True)):
            by_own = each.key is not None and taken(candidates, each.key, 4) == place
            by_others = taken(candidates, "neither", 4) == place
            assert (use in (ProfileUse.ALL, ProfileUse.SAME)) == by_own
            assert (use in (ProfileUse.ALL, ProfileUse.OTHERS)) == by_others
            assert (use is ProfileUse.STALE) == each.stale


def test_other_numbers_of_ranks_are_chosen_among_themselves() -> None:
    assert uses([Candidate(4, "a", False), Candidate(2, "a", False)]) == [ProfileUse.ALL] * 2
