"""Sets of resources: against every set by HTCondor's library, and against the paper's listing."""

from __future__ import annotations

import random
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.matching.adapters.classad_library import Library
from scheduling.matching.core.columns.pair_evaluation import Pool
from scheduling.matching.core.language.ad_reader import read_ad, read_ads
from scheduling.matching.core.language.ad_syntax import Attribute, Call, Expression, Literal, Name, Record, Scope
from scheduling.matching.core.language.ad_writer import AdWriter
from scheduling.matching.core.language.paper_forms import rewritten
from scheduling.matching.core.sets import every_set
from scheduling.matching.core.sets.greedy_sets import GreedyWay, greedy
from scheduling.matching.core.sets.set_candidates import PairValues, candidates, filtered
from scheduling.matching.core.sets.set_matching import Method, SetMatch, match
from scheduling.matching.core.sets.set_request import SetRequest
from scheduling.matching.core.sets.set_values import SetValues, sizes_of
from tests.examples import examples
from tests.scheduling.matching import random_ads
from tests.scheduling.matching.naive_sets import RANKS, REQUIREMENTS, NaiveSets, as_ours, pool, request, resources
from tests.scheduling.matching.papers_texts import CACTUS_REQUEST

SEEDS = st.integers(0, 2**64)
LIBRARY = Library()


def greedy_way(text: str, machines: Pool) -> GreedyWay:
    asked = SetRequest(read_ad(text).ad, machines)
    pairs = PairValues(asked, LIBRARY)
    chosen = candidates(asked, pairs, filtered(asked, pairs).rows)
    return greedy(chosen, SetValues(asked, LIBRARY), lambda: False)


def is_close(one: float | None, other: float | None) -> bool:
    return one is other is None or (one is not None and other is not None and one == pytest.approx(other, rel=1e-9))


@settings(max_examples=examples(15, fuzz=100))
@given(SEEDS)
def test_the_best_of_all_sets_is_found_in_small_pools(seed: int) -> None:
    rng = random.Random(seed)
    machines, ad = pool(resources(rng, rng.randrange(1, 7))), request(rng.choice(RANKS), rng.choice(REQUIREMENTS))
    outcome, naive = match(ad, machines, LIBRARY), NaiveSets(ad, machines)
    assert outcome.exact
    assert is_close(outcome.rank, naive.best(range(machines.size)))
    if outcome.members:
        assert naive.meets(outcome.members)
        assert is_close(naive.rank(outcome.members), outcome.rank)


def both_ways(seed: int) -> tuple[SetMatch, SetMatch]:
    """What every set says, and what larger pools are searched by."""
    rng = random.Random(seed)
    machines = pool(resources(rng, rng.randrange(1, 11)))
    ad = request(rng.choice(RANKS), f"other.mem > 3 && {rng.choice(REQUIREMENTS)}")
    best, most = match(ad, machines, LIBRARY), every_set.MOST
    every_set.MOST = -1
    try:
        return best, match(ad, machines, LIBRARY)
    finally:
        every_set.MOST = most


@settings(max_examples=examples(60, fuzz=1000))
@given(SEEDS)
def test_what_is_called_exact_is_the_best_of_all_sets(seed: int) -> None:
    best, searched = both_ways(seed)
    if searched.exact:
        assert is_close(best.rank, searched.rank)
    if best.rank is not None and searched.bound is not None:
        assert best.rank <= searched.bound + 1e-9 * abs(searched.bound)
    if searched.rank is not None:
        assert best.rank is not None
        assert searched.rank <= best.rank + 1e-9 * abs(best.rank)


@settings(max_examples=examples(24, fuzz=200))
@given(SEEDS)
def test_the_greedy_way_is_the_papers(seed: int) -> None:
    rng = random.Random(seed)
    machines = pool(resources(rng, rng.randrange(1, 7)))
    rank, requirements = rng.choice(RANKS), rng.choice(REQUIREMENTS)
    naive = NaiveSets(request(rank, requirements), machines).greedy(range(machines.size))
    best = greedy_way(f'[Type="Set"; requirements={requirements}; rank={rank}]', machines).best
    assert (best is None) == (naive is None)
    if best is not None and naive is not None:
        assert is_close(best.rank, naive[1])


def test_the_exact_kinds_of_rank_are_exact_at_any_size() -> None:
    machines = pool(resources(random.Random(3), 400))
    for rank in ("Min(other.bw)", "1/Max(5.0/other.bw)", "Min({Min(other.bw), Sum(other.cpu)*20})"):
        outcome = match(request(rank, "Sum(other.mem) > 100"), machines, LIBRARY)
        assert (outcome.exact, outcome.method, outcome.gap) == (True, Method.SWEEP, 0.0), rank
    rising = match(request("Sum(other.gain)"), machines, LIBRARY)
    assert (rising.exact, rising.method) == (True, Method.SWEEP)
    limited = match(request("Min(other.bw)*Sum(other.cpu)", "SetSize <= 9 && Sum(other.mem) > 10"), machines, LIBRARY)
    assert not limited.exact
    assert limited.bound is not None
    assert limited.rank is not None
    assert limited.gap is not None
    assert limited.gap > 0
    assert match(request("Min(other.bw)*Sum(other.cpu)", "SetSize <= 9"), machines, LIBRARY).exact


def test_what_is_found_is_never_below_the_greedy_set() -> None:
    better = 0
    for seed in range(12):
        machines = pool(resources(random.Random(seed), 40))
        outcome = match(request("Min(other.bw)/Sum(other.cost)", "Sum(other.mem) > 100"), machines, LIBRARY)
        assert outcome.rank is not None
        assert outcome.greedy_rank is not None
        assert outcome.rank >= outcome.greedy_rank
        better += outcome.rank > outcome.greedy_rank
    assert better > 6


def test_ranks_below_nothing_are_ranks() -> None:
    outcome = match(request("-Sum(other.cost)", "SetSize >= 2"), pool("[cost=5][cost=3][cost=4]"), LIBRARY)
    assert (set(outcome.members), outcome.rank) == ({1, 2}, -7.0)
    way = greedy_way('[Type="Set"; rank=-Sum(other.cost)]', pool("[cost=5][cost=3]"))
    assert way.best is not None
    assert (way.best.members, way.best.rank) == ((1,), -3.0)


def test_requirements_of_both_sides_count() -> None:
    machines = pool(
        '[n=1; requirements = other.owner == "ada"] [n=2; requirements = TARGET.size > 3] [n=3]'
        "[n=4; requirements = undefined] [n=5; limit = 2; requirements = my.limit > other.size] [n=0]"
    )
    ad = read_ad('[Type="SET"; Owner="Ada"; size=2; requirements = other.n > 0; rank = SetSize]').ad
    assert match(ad, machines, LIBRARY).members == (0, 2)


def test_names_are_the_same_in_letters_of_any_size() -> None:
    outcome = match(
        read_ad('[TYPE="set"; Requirements = SUM(OTHER.Memory) >= 3 && sEtSiZe == 2; RANK=min(Other.SPEED)]').ad,
        pool("[memory=1; Speed=3] [MEMORY=2; speed=2] [Memory=2; SPEED=1]"),
        LIBRARY,
    )
    assert (outcome.members, outcome.rank) == ((0, 1), 2.0)


def test_undefined_values_are_passed_over_and_errors_are_not() -> None:
    machines = pool('[a=1; b=5] [b=7] [a="x"; b=1]')
    outcome = match(request("Sum(other.a) + SetSize"), machines, LIBRARY)
    assert (outcome.members, outcome.rank) == ((0, 1), 3.0)
    nothing = match(request("Min(other.c)"), machines, LIBRARY)
    assert (nothing.members, nothing.rank, nothing.exact) == ((), None, True)


def test_aggregates_over_lists_stay_the_librarys() -> None:
    machines = pool("[speeds={1,9}] [speeds={3,4}]")
    ad = read_ad('[Type="Set"; few={2,8}; requirements = Max(other.speeds) > Max(few); rank = Max({SetSize, 7})]').ad
    outcome = match(ad, machines, LIBRARY)
    assert (outcome.members, outcome.rank) == ((0,), 7.0)


def test_functions_that_only_the_library_has_are_its_own() -> None:
    rank = 'pow(Sum(other.n), 2) + size("ab")'
    ad = read_ad(f'[Type="Set"; requirements = strcat(other.a, "b") == "ab"; rank = {rank}]').ad
    outcome = match(ad, pool('[a="a"; n=2] [a="c"; n=9] [a="A"; n=-1]'), LIBRARY)
    assert (outcome.members, outcome.rank) == ((0,), 6.0)


def test_a_request_that_is_not_about_sets_gets_the_best_resource() -> None:
    ad = read_ad("[requirements = other.cpus > 1; rank = other.speed]").ad
    outcome = match(ad, pool("[cpus=1; speed=9] [cpus=2; speed=5] [cpus=2; speed=7] [cpus=4]"), LIBRARY)
    assert (outcome.members, outcome.rank, outcome.method) == ((2,), 7.0, Method.SINGLE)
    assert match(ad, pool("[cpus=1]"), LIBRARY).members == ()


def test_clauses_about_the_set_may_stand_in_attributes() -> None:
    joined = "total = Sum(other.m); big = total > 4 && other.ok; requirements = big; rank = -total"
    outcome = match(
        read_ad(f'[Type="Set"; {joined}]').ad, pool("[m=3; ok=true] [m=4; ok=true] [m=9; ok=false]"), LIBRARY
    )
    assert (outcome.members, outcome.rank) == ((0, 1), -7.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rank = Min(Sum(other.a))", "about the whole set, but Min is over one"),
        ("rank = Sum(other.a) / other.b", r"other\.b"),
        ("requirements = Sum(other.a) > other.b", r"other\.b"),
        ("rank = other.b", r"other\.b"),
    ],
)
def test_what_has_no_meaning_for_a_set_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        match(read_ad(f'[Type="Set"; {text}]').ad, pool("[a=1; b=2]"), LIBRARY)


def test_no_resources_and_none_that_passes_are_no_match() -> None:
    assert match(request("SetSize"), pool(""), LIBRARY).members == ()
    none = match(request("SetSize", "other.a > 5"), pool("[a=1] [b=1]"), LIBRARY)
    assert (none.members, none.exact) == ((), True)


def test_time_that_is_up_leaves_the_best_so_far() -> None:
    machines = pool(resources(random.Random(1), 100))
    steps = count()
    outcome = match(request("Min(other.bw) / Sum(other.cost)"), machines, LIBRARY, is_over=lambda: next(steps) > 3)
    assert outcome.members
    assert not outcome.exact


def test_the_request_of_the_paper_takes_the_machines_of_its_domains() -> None:
    text = "".join(
        f'[machine="{name}"; MemorySize={memory}; cpuspeed={speed}; RLatency=1; LLatency=1; '
        "RBandwidth=100.0; LBandwidth=100.0]"
        for name, memory, speed in (
            ("torc1.cs.utk.edu", 5, 547),
            ("torc2.cs.utk.edu", 5, 547),
            ("fast.uiuc.edu", 64, 2000),
            ("o.ucsd.edu", 4, 400),
            ("mystere.ucsd.edu", 9, 450),
        )
    )
    outcome = match(read_ad(CACTUS_REQUEST).ad, Pool(read_ads(text)[0]), LIBRARY)
    assert set(outcome.members) == {0, 1, 4}  # 15.557 MB are needed; o is slower than mystere
    assert outcome.exact


def test_filtering_keeps_what_each_clause_says() -> None:
    machines = pool("[a=1] [a=2; requirements = false] [a=3]")
    asked = SetRequest(request("SetSize", "other.a > 1 && other.a < 3"), machines)
    kept = filtered(asked, PairValues(asked, LIBRARY))
    assert [mask.tolist() for _, mask in kept.clauses] == [[False, True, True], [True, True, False]]
    assert kept.accepting.tolist() == [True, False, True]
    assert np.array_equal(kept.rows, [])


AGGREGATES = ("max", "min", "sum")


def about_sets(rng: random.Random, expression: Expression) -> Expression:
    """The expression with an aggregate, or the size, in the place of each name."""

    def change(part: Expression) -> Expression:
        if not isinstance(part, Name):
            return part
        if rng.random() < 0.2:
            return Name(Scope.NEAREST, "SetSize")
        return Call(rng.choice(AGGREGATES), (Name(Scope.OTHER, rng.choice(random_ads.NAMES)),))

    return rewritten(expression, change)


@settings(max_examples=examples(36, fuzz=1000))
@given(SEEDS)
def test_expressions_about_sets_are_what_the_library_says_over_lists(seed: int) -> None:
    rng = random.Random(seed)
    rank = about_sets(rng, random_ads.expression(rng, rng.randrange(1, 4), foreign=rng.random() < 0.3))
    ad = Record({"type": Attribute("type", Literal("set")), "rank": Attribute("rank", rank)})
    machines = Pool([random_ads.ad(rng, 0) for _ in range(4)])
    asked = SetRequest(ad, machines)
    chosen = candidates(asked, PairValues(asked, LIBRARY), np.arange(4))
    members = rng.sample(range(4), rng.randrange(1, 5))
    state = chosen.nothing()
    for member in members:
        state = chosen.added(state, np.array([member]))
    value = SetValues(asked, LIBRARY).value(rank, state, sizes_of(np.array([len(members)]))).value(0)
    naive = NaiveSets(ad, machines).value(rank, members)
    assert repr(value) == repr(as_ours(naive)), (AdWriter().text(rank), members)
