"""Whole answers, with explanations, for whatever is asked: an answer that says what holds, or an InputError."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.matching.core.answers import MatchAnswer, MatchExplanation, Refusal, StatusCode
from scheduling.matching.core.language.ad_syntax import (
    Attribute,
    Binary,
    Call,
    Expression,
    Literal,
    Name,
    Record,
    Scope,
)
from scheduling.matching.core.language.ad_writer import AdWriter
from scheduling.matching.core.language.paper_forms import rewritten
from scheduling.matching.match_documents import document, xml
from scheduling.matching.match_messages import aggregate_message, change_message, nearest_message, rank_text
from scheduling.matching.services.match_texts import MatchQuestion, answer
from scheduling.resource_requests.commands.match_tables import show_answer
from scheduling.resource_requests.match_story import finding
from tests.examples import examples
from tests.scheduling.matching import random_ads

CLAUSES = (
    "other.a > 1",
    "other.os == redhat6.1",
    'Postfix(other.c, {"edu", "a"})',
    "Sum(other.a) >= 3",
    "SetSize <= 2",
    "Min(other.mem) < Max(other.b)",
    "1/0 > 2",
    "Max({1, 2}) == 2",
    "pow(Sum(other.a), 2) > 5",
)


def random_request(rng: random.Random) -> str:
    """A request of clauses, some random, with a rank that may make no sense."""
    clauses = [rng.choice(CLAUSES) for _ in range(rng.randrange(4))]
    if rng.random() < 0.3:
        clauses.append(f"({AdWriter().text(random_ads.expression(rng, 2, foreign=True))})")
    rank = _about_sets(rng, random_ads.expression(rng, rng.randrange(3), foreign=True))
    kind = rng.choice(('Type = "Set"; ', 'MatchType = "SET"; ', 'Type = "Job"; '))
    requirements = f"requirements = {' && '.join(clauses)}; " if clauses else ""
    return f"[{kind}{requirements}rank = {AdWriter().text(rank)}; a = 3; b = other.mem]"


def _about_sets(rng: random.Random, expression: Expression) -> Expression:
    def change(part: Expression) -> Expression:
        is_name = isinstance(part, Name) and rng.random() < 0.9
        return Call(rng.choice(("max", "min", "sum")), (Name(Scope.OTHER, "a"),)) if is_name else part

    return rewritten(expression, change)


def random_pool(rng: random.Random) -> str:
    ads = [random_ads.ad(rng, 1, foreign=True) for _ in range(rng.randrange(25))]
    own = Attribute("requirements", Binary(">", Name(Scope.OTHER, "a"), Literal(rng.randrange(6))))
    made = [Record({**ad.attributes, "requirements": own}) if rng.random() < 0.2 else ad for ad in ads]
    return "\n".join(map(AdWriter().ad, made))


def answered(question: MatchQuestion) -> MatchAnswer | None:
    try:
        return answer(question)
    except InputError:
        return None


@settings(max_examples=examples(24, fuzz=400))
@given(st.integers(0, 2**64))
def test_every_request_is_answered_or_refused(seed: int) -> None:
    rng = random.Random(seed)
    made = answered(MatchQuestion(random_request(rng), random_pool(rng), explain=True, seconds=5))
    if made is None:
        return
    assert (made.status is StatusCode.OK) == bool(made.machines) == (made.refusal is Refusal.NONE)
    assert msgspec.json.decode(msgspec.json.encode(made), type=MatchAnswer) == made
    shown: dict[str, Any] = json.loads(json.dumps(document(made), allow_nan=False))
    assert shown["status"]["message"]
    assert xml(made).startswith("<virtualMachine>")
    explanation = made.explanation
    assert explanation is not None
    assert 0 <= explanation.passing <= explanation.pool
    assert all(0 <= number < len(explanation.clauses) for number in explanation.smallest_change)
    show_answer(made)


def test_the_smallest_change_is_one_that_matches() -> None:
    resources = '[name = 1; speed = 5; memory = 10; os = "a"][speed = 7; memory = 2; os = "b"] [speed = 1; memory = 3]'
    clauses = ["other.speed >= 6", "other.memory >= 5", 'other.os == "a"']
    made = answer(MatchQuestion(f'[Type="Set"; requirements = {" && ".join(clauses)}]', resources, explain=True))
    assert made.explanation is not None
    (change,) = made.explanation.smallest_change
    report = made.explanation.clauses[change]
    assert (report.text, report.best, report.left_without) == ("other.speed >= 6", 5.0, 1)
    left = [clause for number, clause in enumerate(clauses) if number != change]
    again = answer(MatchQuestion(f'[Type="Set"; requirements = {" && ".join(left)}]', resources))
    assert again.status is StatusCode.OK


def explained(requirements: str, resources: str) -> MatchExplanation:
    made = answer(MatchQuestion(f'[Type="Set"; requirements = {requirements}]', resources, explain=True))
    assert made.status is StatusCode.NO_SET
    assert made.explanation is not None
    return made.explanation


def test_for_a_set_a_clause_about_each_gives_way_until_there_are_enough() -> None:
    resources = "".join(f"[name = {name}; cpu = {name / 10}; memory = 8]" for name in range(1, 9))
    why = explained("other.cpu >= 0.7 && other.memory >= 8 && SetSize >= 4", resources)
    (change,) = why.smallest_change
    assert (why.clauses[change].text, why.clauses[change].best) == ("other.cpu >= 0.7", 0.5)
    assert change_message(why) == "The smallest change: ask for >= 0.5 in other.cpu >= 0.7."


@pytest.mark.parametrize("rank", ["Min(other.sped)", "nothing", '"fast"'])
@pytest.mark.parametrize("requirements", ["Sum(other.cpus) >= 6", "other.cpus >= 2", "SetSize >= 2 && other.cpus > 1"])
def test_where_only_the_rank_is_no_number_no_clause_is_to_give_way(rank: str, requirements: str) -> None:
    request = f'[Type="Set"; requirements = {requirements}; rank = {rank}]'
    made = answer(MatchQuestion(request, "[cpus = 4; speed = 1][cpus = 4; speed = 2]", explain=True))
    assert made.refusal is Refusal.NO_RANK
    assert made.explanation is not None
    assert made.explanation.smallest_change == ()
    assert all(report.left_without for report in made.explanation.clauses)


def test_where_a_clause_and_the_rank_fail_the_clause_is_named() -> None:
    request = '[Type="Set"; requirements = Sum(other.cpus) >= 60; rank = Min(other.sped)]'
    assert answer(MatchQuestion(request, "[cpus = 4][cpus = 4]")).refusal is Refusal.NO_SET_PASSES


def test_without_time_one_resource_that_is_enough_is_found_all_the_same() -> None:
    resources = "".join(f"[price = {number}; a = {number % 7}; c = {number % 5}]" for number in range(1, 200))
    request = '[Type="Set"; requirements = Sum(other.price) <= 300; rank = Sum(other.a) / (1.0 + Max(other.c))]'
    made = answer(MatchQuestion(request, resources, seconds=0.0))
    assert (made.status, len(made.machines), made.exact) == (StatusCode.OK, 1, False)


def test_a_set_that_nobody_is_good_enough_for_is_not_promised_by_one_resource() -> None:
    why = explained("other.cpu >= 0.9 && SetSize >= 2", "[cpu = 0.8][cpu = 0.3][cpu = 0.2]")
    assert [why.clauses[number].best for number in why.smallest_change] == [0.3]


def test_the_clauses_to_do_without_match_and_none_can_be_put_back() -> None:
    resources = '[os = "a"; cpu = 1; memory = 1][os = "b"; cpu = 2; memory = 1]'
    clauses = ['other.os == "c"', "other.cpu >= 9", "other.memory >= 1", "SetSize >= 2"]
    why = explained(" && ".join(clauses), resources)
    assert [why.clauses[number].text for number in why.smallest_change] == clauses[:2]


def test_figures_have_digits_enough_to_be_true() -> None:
    close = explained("other.rate > 20000000 && SetSize >= 1", "[rate = 19999999]")
    assert nearest_message(close.clauses[0]) == "best 19999999, asked > 20000000"
    assert change_message(close) == "The smallest change: ask for >= 19999999 in other.rate > 20000000."
    made = answer(MatchQuestion('[Type="Set"; rank = Min(other.rate)]', "[rate = 19999999]", explain=True))
    assert made.explanation is not None
    assert [aggregate_message(each) for each in made.explanation.aggregates] == ["Min(other.rate) is 19999999, of #1"]


def test_bandwidths_are_told_in_the_units_of_all_other_places() -> None:
    why = explained("other.bandwidth >= 50000000 && SetSize >= 1", "[bandwidth = 40000000]")
    assert nearest_message(why.clauses[0]) == "best 4e+07 (40 Mbit/s), asked >= 5e+07 (50 Mbit/s)"
    assert change_message(why) == (
        "The smallest change: ask for >= 40000000 (40 Mbit/s) in other.bandwidth >= 50000000."
    )
    made = answer(MatchQuestion('[Type="Set"; rank = Min(other.RBandwidth)]', "[RBandwidth = 2000000]", explain=True))
    assert made.explanation is not None
    assert [aggregate_message(each) for each in made.explanation.aggregates] == [
        "Min(other.RBandwidth) is 2000000 (2 Mbit/s), of #1"
    ]


def test_a_rank_that_is_a_bandwidth_is_told_with_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    pool = "[machine = 1; bandwidth = 90000000] [machine = 2; bandwidth = 4.0e7]"
    text = '[Type = "Set"; requirements = SetSize >= 1; rank = Min( other.bandwidth )]'
    found = answer(MatchQuestion(text, pool, explain=True))
    show_answer(found)
    printed = capsys.readouterr().out
    assert "Rank 90 Mbit/s (" in printed
    assert "40 Mbit/s" in printed.partition("The best other sets")[2]
    assert finding(found).startswith("1 machine: #1. Proved best with rank 90 Mbit/s (")
    assert document(found)["rank"] == 9e7
    assert rank_text(9e7, "Min(other.bandwidth) + 1") == rank_text(9e7, "other.memory") == "9e+07"
