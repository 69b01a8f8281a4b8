"""The bound of a rank: no set is above it, by every set of small pools, and it is no higher than trivial ones."""

from __future__ import annotations

import math
import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.matching.adapters.classad_library import Library
from scheduling.matching.core.language.ad_reader import read_ad
from scheduling.matching.core.sets.rank_bounds import rank_bound
from scheduling.matching.core.sets.set_candidates import Candidates, PairValues, candidates, filtered
from scheduling.matching.core.sets.set_matching import match
from scheduling.matching.core.sets.set_request import SetRequest
from scheduling.matching.match_documents import document
from scheduling.matching.match_messages import method_message
from scheduling.matching.services.match_texts import MatchQuestion, answer
from tests.examples import examples
from tests.scheduling.matching.naive_sets import RANKS, REQUIREMENTS, pool, request, resources

LIBRARY = Library()
MORE_RANKS = (
    *RANKS,
    "Sum(other.gain)/SetSize",
    "Sum(other.mem)/SetSize",
    "Min(other.bw)*Sum(other.cpu)",
    "Max(other.bw)/Sum(other.gain)",
    "Sum(other.gain)*Min(other.t) - SetSize*SetSize",
    "2*Sum(other.gain) - Sum(other.cost)/4.0 + Min(other.bw)/8.0",
    "3 - (Sum(other.cpu) - Min(other.t)) * 2 - Max(other.bw) + SetSize",
    "half * Sum(other.gain) + Max(other.gain); half = 0.5",
    "Sum(other.gain)*Sum(other.gain)",
    "(Sum(other.cpu) - 7)*(Sum(other.cpu) - 7)",
    "-((Sum(other.gain) - 2)*(Sum(other.gain) - 2))",
    "pow(Sum(other.gain)/50, 2)",
    "pow(Min(other.t) - 20, 3)",
    "-pow(Sum(other.mem) - 100, 2) - SetSize",
    "pow(Sum(other.cost), 0.5)",
    "pow(Sum(other.cpu), -1)",
    "floor(Sum(other.gain)) + round(Min(other.bw)/7.0) - ceiling(Max(other.t)/9.0) + int(Sum(other.gain)/3)",
)
MORE_REQUIREMENTS = (
    *REQUIREMENTS,
    "SetSize > 1 && SetSize < 4 || SetSize == 5",
    "few; few = SetSize <= 3 && Sum(other.mem) > 20",
    "Min(other.cpu) >= 0.5 && Max(other.t) < 70",
    "Sum(other.gain) >= 2 && Sum(other.gain) <= 4",
    "2*SetSize < Sum(other.cost)",
    "Sum(other.mem) == 60 || Min(other.bw) > 40",
    "Sum(other.cost) <= 3*SetSize && !(SetSize == 2)",
)


def chosen(text: str, requirements: str, rank: str) -> Candidates:
    machines = pool(text)
    asked = SetRequest(read_ad(f'[Type="Set"; requirements={requirements}; rank={rank}]').ad, machines)
    pairs = PairValues(asked, LIBRARY)
    return candidates(asked, pairs, filtered(asked, pairs).rows)


@settings(max_examples=examples(90, fuzz=2000))
@given(st.integers(0, 2**64))
def test_no_set_has_a_higher_rank(seed: int) -> None:
    rng = random.Random(seed)
    text = resources(rng, rng.randrange(1, 10))
    rank, requirements = rng.choice(MORE_RANKS), rng.choice(MORE_REQUIREMENTS)
    bound = rank_bound(chosen(text, requirements, rank))
    best = match(request(rank, requirements), pool(text), LIBRARY)
    assert best.exact
    if best.rank is not None:
        assert best.rank <= bound


@pytest.mark.parametrize(
    ("requirements", "rank", "most"),
    [
        ("SetSize == 3", "Sum(other.a)", 297.0),
        ("SetSize >= 2 && SetSize < 4", "Sum(other.a)", 297.0),
        ("SetSize == 1 || SetSize == 2", "Sum(other.a)", 199.0),
        ("SetSize >= 10", "Min(other.a)", 91.0),
        ("true", "1.0*Sum(other.a)/SetSize", 100.0),
        ("Max(other.a) <= 50 && SetSize <= 2", "Sum(other.a)", 99.0),
        ("Sum(other.one) <= 4", "SetSize", 4.0),
        ("Sum(other.a) <= 60", "Sum(other.a)", 60.0),
        ("Sum(other.one) <= 0", "SetSize", -math.inf),
        ("SetSize > 100", "SetSize", -math.inf),
        ("true", "Sum(other.a) - 50*Sum(other.one)", 1275.0),
        ("true", "Sum(other.a) - 60*SetSize - Max(other.a)/2.0", 770.0),
        ("Sum(other.a) >= 150", "0 - Sum(other.one)", -2.0),
        ("true", "pow(Sum(other.a), Sum(other.one))", math.inf),
        ("true", "pow(Sum(other.a)/1e5, 2)", 0.0505**2),
        ("true", "0 - (Sum(other.a) - 300)*(Sum(other.a) - 300)", 0.0),
        ("true", "0 - pow(Sum(other.a) - 300, 2)", 0.0),
        ("SetSize == 2", "Sum(other.a)*Sum(other.a)", 199.0**2),
        ("Sum(other.a) - 50*Sum(other.one) <= 10", "Sum(other.a)*Sum(other.a)", 4970.0**2),
        ("true", "floor(Min(other.a)/1000.0)", 0.0),
        ("SetSize == 2", "round(Sum(other.a)/1000.0)", 0.0),
    ],
)
def test_it_is_no_higher_than_sizes_and_requirements_allow(requirements: str, rank: str, most: float) -> None:
    text = "".join(f"[a = {number}; one = 1]" for number in range(1, 101))
    assert rank_bound(chosen(text, requirements, rank)) == pytest.approx(most, rel=1e-9)


def test_large_pools_are_bounded_over_ranges_of_sizes() -> None:
    text = "".join(f"[a = {number}; b = {number % 17}]" for number in range(1, 1001))
    bound = rank_bound(chosen(text, "SetSize >= 1", "Min(other.a) * SetSize"))
    best = max((1001 - size) * size for size in range(1, 1001))
    assert best <= bound <= 1.1 * best


def test_how_far_a_set_may_be_from_the_best_is_told_in_per_cent() -> None:
    rng = np.random.default_rng(3)
    text = "".join(f"[a = {a:.3f}; b = {b:.3f}]" for a, b in rng.uniform(1, 100, (60, 2)).tolist())
    made = answer(MatchQuestion('[Type="Set"; requirements = SetSize == 5; rank = Sum(other.a)/Sum(other.b)]', text))
    assert not made.exact
    assert made.rank is not None
    assert made.bound is not None
    gap = document(made)["gap_percent"]
    assert gap == pytest.approx(100 * (made.bound - made.rank) / made.bound)
    told = re.search(r"; at most ([0-9.]+) % below the best: no set has a rank above ([0-9.]+)$", method_message(made))
    assert told is not None
    assert gap <= float(told[1]) < gap + 0.1
    assert told[2] == f"{made.bound:.6g}"


def test_a_set_that_reaches_the_bound_but_for_rounding_is_proved_best() -> None:
    values = ("0.1", "0.7", "-0.3", "0.2", "-1.1", "0.6", *["0.1"] * 12)
    made = answer(MatchQuestion('[Type="Set"; rank = Sum(other.a)]', "".join(f"[a = {value}]" for value in values)))
    assert (made.exact, made.bound, len(made.machines)) == (True, made.rank, 16)
    assert made.rank == pytest.approx(2.8)


def test_a_gap_over_zero_is_told_without_per_cent() -> None:
    rng = np.random.default_rng(5)
    text = "".join(f"[a = {value:.4f}]" for value in rng.uniform(1, 100, 40).tolist())
    rank = "0 - (Sum(other.a) - 777.7777)*(Sum(other.a) - 777.7777)"
    made = answer(MatchQuestion(f'[Type="Set"; requirements = SetSize <= 30; rank = {rank}]', text))
    assert (made.exact, made.bound) == (False, 0.0)
    assert document(made)["gap_percent"] is None
    assert method_message(made).endswith("; no set has a rank above 0")
