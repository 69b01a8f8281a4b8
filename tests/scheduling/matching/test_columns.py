"""Columns have the values of HTCondor's library, in all that they compute."""

from __future__ import annotations

import random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduling.matching.adapters.classad_library import Library
from scheduling.matching.core.columns.column import UnsupportedError
from scheduling.matching.core.columns.pair_evaluation import PairEvaluation, Pool
from scheduling.matching.core.language.ad_reader import read_ad, read_ads
from scheduling.matching.core.language.ad_syntax import Expression, Record, Special
from scheduling.matching.core.language.ad_writer import AdWriter
from tests.examples import examples
from tests.scheduling.matching import random_ads
from tests.scheduling.matching.papers_texts import CACTUS_REQUEST

#: Pairs of a request's expression and a resource in each example, so that `make fuzz` tries 100,000 in a round.
EXPRESSIONS, RESOURCES = 5, 10


def differences(request: Record, resources: list[Record], expression: Expression, *, is_resource: bool) -> list[str]:
    """Where columns and the library disagree, of what columns have."""
    try:
        column = PairEvaluation(request, Pool(resources), is_resource=is_resource).value(expression)
    except UnsupportedError:
        return []
    library = Library()
    values = (library.of_resources if is_resource else library.of_request)(request, resources, expression)
    shown, write = AdWriter().text(expression), AdWriter().ad
    return [
        f"{shown} is {column.value(row)!r}, by the library {value!r}, for {write(request)} and {write(resources[row])}"
        for row, value in enumerate(values)
        if repr(column.value(row)) != repr(value)
    ]


@settings(max_examples=examples(36, fuzz=2000))
@given(st.integers(0, 2**64))
@example(355)  # of 0 and -0.0 the first is the highest
def test_expressions_of_requests_are_what_the_library_says(seed: int) -> None:
    rng = random.Random(seed)
    expressions = [random_ads.expression(rng, rng.randrange(1, 5)) for _ in range(EXPRESSIONS)]
    request = random_ads.ad(rng, 2, expressions)
    resources = [random_ads.ad(rng, 1) for _ in range(RESOURCES)]
    for expression in expressions:
        assert differences(request, resources, expression, is_resource=False) == []


@settings(max_examples=examples(24, fuzz=500))
@given(st.integers(0, 2**64))
def test_expressions_of_resources_are_what_the_library_says(seed: int) -> None:
    rng = random.Random(seed)
    request = random_ads.ad(rng, 2)
    expression = random_ads.expression(rng, 3)
    resources = [random_ads.ad(rng, 1, [random_ads.expression(rng, 2)]) for _ in range(RESOURCES)]
    assert differences(request, resources, expression, is_resource=True) == []


def test_what_is_random_is_mostly_computed_in_columns() -> None:
    rng, computed = random.Random(1), 0
    for _ in range(300):
        evaluation = PairEvaluation(random_ads.ad(rng, 2), Pool([random_ads.ad(rng, 1) for _ in range(5)]))
        try:
            evaluation.value(random_ads.expression(rng, 3))
        except UnsupportedError:
            continue
        computed += 1
    assert computed > 200


def test_the_model_of_the_paper_has_the_times_that_the_library_says() -> None:
    resources, _ = read_ads(
        '[machine="torc1.cs.utk.edu"; cpuspeed=547; RLatency=0.1; RBandwidth=12.5; LLatency=0; LBandwidth=9.0]'
        '[machine="o.ucsd.edu"; cpuspeed=400.5; MemorySize=256; RLatency=0.1; RBandwidth=1; LLatency=0.2; Lbandwidth=2]'
        '[machine="x.uiuc.edu"; cpuspeed="fast"]'
    )
    ad = read_ad(CACTUS_REQUEST).ad
    evaluation = PairEvaluation(ad, Pool(resources))
    values = [evaluation.own("exectime").value(row) for row in range(3)]
    expression = ad.get("exectime")
    assert expression is not None
    assert values == Library().of_request(ad, resources, expression)
    assert values[2] is Special.ERROR


def test_an_attribute_defined_by_itself_is_left_to_the_library() -> None:
    ad = read_ad("[ a = b; b = a; c = other.d ]").ad
    resource, _ = read_ads("[ d = other.c ]")
    for name in "abc":
        expression = ad.get(name)
        assert expression is not None
        assert differences(ad, resource, expression, is_resource=False) == []
        assert Library().of_request(ad, resource, expression) == [Special.UNDEFINED]
