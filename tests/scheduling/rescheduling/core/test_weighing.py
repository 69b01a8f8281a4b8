"""Whether a move pays and may be made: the paper's arithmetic, and rules against moves that come too often."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.contracts.core.outlook import Outlook, break_even
from scheduling.rescheduling.core.move_cost import CostPhase, MoveCost, predicted, worst_case
from scheduling.rescheduling.core.move_windows import MoveWindows, Window
from scheduling.rescheduling.core.weighing import (
    MoveFigures,
    MoveHistory,
    MoveMode,
    MoveRules,
    Verdict,
    Weighing,
    weigh,
)

NOON = datetime(2026, 11, 23, 12)  # a Monday
MINUTE = timedelta(minutes=1)
PAYS = MoveFigures(ret_current=6000.0, ret_new=1000.0, nodes=("n1", "n2"))


def weighed(
    figures: MoveFigures = PAYS,
    rules: MoveRules | None = None,
    history: MoveHistory | None = None,
    mode: MoveMode = MoveMode.ON_REQUEST,
) -> Weighing:
    return weigh(figures, worst_case(), rules or MoveRules(), history or MoveHistory(), NOON, mode)


def test_the_papers_gain() -> None:
    """(6000 - (1000 + 900)) / 6000."""
    answer = weighed()
    assert answer.verdict is Verdict.MOVE
    assert answer.gain == pytest.approx(41 / 60)
    assert answer.saves == 4100.0


def test_the_worst_case_refuses_what_the_predicted_cost_allows() -> None:
    """Size 8000 of figure 3: 900 s assumed, 420 s real."""
    figures = MoveFigures(ret_current=1500.0, ret_new=500.0)
    cheap = predicted({CostPhase.REDISTRIBUTION: 20.0}, worst_case())
    assert cheap.total == pytest.approx(420.0)
    assert weighed(figures).verdict is Verdict.TOO_LITTLE_GAIN
    assert weigh(figures, cheap, MoveRules(), MoveHistory(), NOON).verdict is Verdict.MOVE


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        (MoveFigures(6000.0, None), Verdict.NO_NODES),
        (MoveFigures(6000.0, None, ("n3", "n4")), Verdict.NO_PREDICTION),
        (MoveFigures(None, None, ("n3", "n4")), Verdict.NO_PREDICTION),
        (MoveFigures(None, 1000.0), Verdict.NO_FORECAST),
        (MoveFigures(899.0, 0.0), Verdict.TOO_LATE),
        (MoveFigures(0.0, 0.0), Verdict.TOO_LATE),
        (MoveFigures(6000.0, 5900.0), Verdict.TOO_LITTLE_GAIN),
    ],
)
def test_what_does_not_pay_is_refused_by_its_figures(figures: MoveFigures, verdict: Verdict) -> None:
    assert weighed(figures).verdict is verdict
    assert weighed(figures, history=MoveHistory(opted_out=True)).verdict is verdict


@pytest.mark.parametrize(
    ("history", "verdict", "until"),
    [
        (MoveHistory(opted_out=True), Verdict.OPTED_OUT, None),
        (MoveHistory(job_moved=NOON - 9 * MINUTE), Verdict.JOB_COOLS_DOWN, NOON + MINUTE),
        (MoveHistory(job_moved=NOON - 11 * MINUTE), Verdict.MOVE, None),
        (MoveHistory(job_moved=NOON - 11 * MINUTE, failures=1), Verdict.JOB_COOLS_DOWN, NOON + 9 * MINUTE),
        (MoveHistory(nodes_moved={"n2": NOON - 4 * MINUTE}), Verdict.NODE_COOLS_DOWN, NOON + MINUTE),
        (MoveHistory(nodes_moved={"n3": NOON}), Verdict.MOVE, None),
        (MoveHistory(job_moves=10), Verdict.TOO_MANY_MOVES, None),
        (MoveHistory(starts=(NOON - 50 * MINUTE,) * 20), Verdict.TOO_MANY_MOVES, NOON + 10 * MINUTE),
        (MoveHistory(starts=(NOON - 61 * MINUTE,) * 20), Verdict.MOVE, None),
    ],
)
def test_rules_refuse_what_would_pay(history: MoveHistory, verdict: Verdict, until: datetime | None) -> None:
    answer = weighed(history=history)
    assert (answer.verdict, answer.until) == (verdict, until)
    assert answer.gain == pytest.approx(41 / 60), "what it would have gained is told all the same"


@pytest.mark.parametrize(
    ("allow", "deny", "verdict"),
    [
        ("mon 08:00-18:00", "", Verdict.MOVE),
        ("tue 08:00-18:00", "", Verdict.NOT_ALLOWED_HOURS),
        ("mon 08:00-18:00", "daily 11:00-12:01", Verdict.DENIED_HOURS),
        ("", "mon 12:01-13:00", Verdict.MOVE),
        ("sun 22:00-13:00", "", Verdict.MOVE),
    ],
)
def test_deny_wins_over_allow(allow: str, deny: str, verdict: Verdict) -> None:
    allowed, denied = ((Window.parse(text),) if text else () for text in (allow, deny))
    assert weighed(rules=MoveRules(windows=MoveWindows(tuple(allowed), tuple(denied)))).verdict is verdict


#: Hours with a zone of their own cannot be compared with the time of the site.
ZONED = ["daily 08:00z-18:00z", "daily 08:00+02:00-18:00", "mon 08:00-18:00+00:00"]


@pytest.mark.parametrize(
    "text", ["", "mon", "mon 8-9h", "moon 08:00-09:00", "mon 08:00", "mon 08:00-25:00", "mon 24:00-25:00", *ZONED]
)
def test_a_window_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(InputError, match="window"):
        Window.parse(text)


def test_a_window_may_end_at_midnight() -> None:
    window = Window.parse("fri 22:00-24:00")
    friday = datetime(2026, 11, 27)
    held = [window.holds(friday + timedelta(hours=hours)) for hours in (21, 22, 23.9, 24, 46)]
    assert held == [False, True, True, False, False]


def test_an_operator_moves_whatever_the_rules_say_but_not_to_nowhere() -> None:
    history = MoveHistory(opted_out=True, job_moved=NOON, starts=(NOON,) * 50)
    assert weighed(MoveFigures(10.0, 10.0), history=history, mode=MoveMode.OPERATOR).verdict is Verdict.MOVE
    assert weighed(MoveFigures(10.0, None), mode=MoveMode.OPERATOR).verdict is Verdict.NO_NODES


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0.01, 50), st.floats(0, 0.9))
def test_a_move_ends_the_job_sooner(ret_current: float, ret_new: float, scale: float, threshold: float) -> None:
    figures, cost = MoveFigures(ret_current, ret_new), worst_case(scale)
    answer = weigh(figures, cost, MoveRules(threshold=threshold), MoveHistory(), NOON)
    if answer.moves:
        assert ret_new + cost.total < ret_current
        assert answer.saves is not None
        assert answer.saves > threshold * ret_current * (1 - 1e-9)


@given(st.floats(1, 1e5), st.floats(0.1, 30), st.floats(0, 1e5), st.floats(0, 0.9))
def test_the_contracts_break_even_is_where_the_rescheduler_says_move(
    left: float, ratio: float, ret_new: float, threshold: float
) -> None:
    cost, rules = worst_case(0.1), MoveRules(threshold=threshold)
    even = break_even(Outlook(0.5, left, ratio, 0.0), ret_new, cost.total, threshold)
    assert even is not None
    above, below = (MoveFigures(left * even * factor, ret_new) for factor in (1.0001, 0.9999))
    assert weigh(above, cost, rules, MoveHistory(), NOON).verdict is Verdict.MOVE
    assert weigh(below, cost, rules, MoveHistory(), NOON).verdict is not Verdict.MOVE


def test_costs_come_back_from_their_documents() -> None:
    cost = predicted({CostPhase.QUEUE: 3.0}, worst_case(0.2))
    assert MoveCost.read(cost.document()) == cost
    for wrong in ({}, {"kind": "predicted", "seconds": {"walk": 1}}):
        with pytest.raises(InputError, match="cost"):
            MoveCost.read(wrong)
    with pytest.raises(InputError, match="cost scale"):
        worst_case(0)
