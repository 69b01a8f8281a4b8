"""Whether a move pays, and whether it may be made now: one answer with all its figures, for every job and mode.

Source: Migration 2003, 6.2: gain = (ret_current - (ret_new + cost)) / ret_current, threshold 30 %. The paper has no
rules against moves that come too often; ours are in `MoveRules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from scheduling.rescheduling.core.move_cost import MoveCost
from scheduling.rescheduling.core.move_windows import MoveWindows

THRESHOLD = 0.3


class MoveMode(StrEnum):
    """Who asks for a move."""

    ON_REQUEST = "on-request"
    OPPORTUNISTIC = "opportunistic"
    OPERATOR = "operator"


class Verdict(StrEnum):
    """The answer. All but MOVE are refusals; those from NOT_STOPPABLE on are of rules, not of figures."""

    MOVE = "move"
    NO_NODES = "no_nodes"
    NO_PREDICTION = "no_prediction"
    NO_FORECAST = "no_forecast"
    TOO_LATE = "too_late"
    TOO_LITTLE_GAIN = "too_little_gain"
    NOT_STOPPABLE = "not_stoppable"
    OPTED_OUT = "opted_out"
    DENIED_HOURS = "denied_hours"
    NOT_ALLOWED_HOURS = "not_allowed_hours"
    JOB_COOLS_DOWN = "job_cools_down"
    NODE_COOLS_DOWN = "node_cools_down"
    TOO_MANY_MOVES = "too_many_moves"


@dataclass(frozen=True, slots=True)
class MoveRules:
    """When moves are not made although they pay. Per job: a cooldown that doubles with each move that failed, and
    so many moves at most, whatever became of them."""

    threshold: float = THRESHOLD
    job_cooldown: timedelta = timedelta(minutes=10)
    most_cooldown: timedelta = timedelta(hours=4)
    node_cooldown: timedelta = timedelta(minutes=5)
    most_per_hour: int = 20
    most_per_job: int = 10
    windows: MoveWindows = field(default_factory=MoveWindows)

    def cooldown(self, failures: int) -> timedelta:
        """How long a job stays where it is after a move, `failures` of which in a row went wrong.

        >>> rules = MoveRules()
        >>> [rules.cooldown(failures) // timedelta(minutes=1) for failures in (0, 1, 2, 99)]
        [10, 20, 40, 240]
        """
        return min(self.job_cooldown * (1 << min(failures, 20)), self.most_cooldown)


@dataclass(frozen=True, slots=True)
class MoveHistory:
    """What moved before: the job's last move and its number of moves, failures in a row, each node's last move.

    `starts`: when moves of the whole cluster began, of the last hour at least.
    """

    job_moved: datetime | None = None
    job_moves: int = 0
    failures: int = 0
    nodes_moved: Mapping[str, datetime] = field(default_factory=dict)
    starts: tuple[datetime, ...] = ()
    opted_out: bool = False


@dataclass(frozen=True, slots=True)
class MoveFigures:
    """Seconds: ret_current None where nobody can foretell the rest; ret_new None where no nodes can take the job, or
    where `nodes` can and nobody can foretell the rest there."""

    ret_current: float | None
    ret_new: float | None
    nodes: tuple[str, ...] = ()

    def gain(self, cost: float) -> float | None:
        """The rescheduling gain of Migration 2003, 6.2; None without both figures, or with nothing left to do.

        >>> MoveFigures(ret_current=3000.0, ret_new=600.0).gain(900.0)
        0.5
        """
        if self.ret_new is None or not self.ret_current:
            return None
        return (self.ret_current - (self.ret_new + cost)) / self.ret_current


@dataclass(frozen=True, slots=True)
class Weighing:
    """A verdict with its facts. `until`: when a rule's refusal ends; `node`: which one has to cool down."""

    verdict: Verdict
    figures: MoveFigures
    cost: MoveCost
    gain: float | None
    threshold: float
    until: datetime | None = None
    node: str = ""

    @property
    def moves(self) -> bool:
        """Whether the job is to be moved."""
        return self.verdict is Verdict.MOVE

    @property
    def saves(self) -> float | None:
        """Seconds by which the job would end sooner; below 0: later."""
        figures = self.figures
        if figures.ret_current is None or figures.ret_new is None:
            return None
        return figures.ret_current - figures.ret_new - self.cost.total


def weigh(
    figures: MoveFigures,
    cost: MoveCost,
    rules: MoveRules,
    history: MoveHistory,
    now: datetime,
    mode: MoveMode = MoveMode.ON_REQUEST,
) -> Weighing:
    """Weigh one move. `now` in the time of the site.

    Figures first: that a move would not pay is a better answer than that it may not be made now. Whom an operator asks
    to move, moves without a threshold, cooldowns, caps and windows; but not where no nodes can
    take it, or nobody can predict what it takes there.

    >>> from scheduling.rescheduling.core.move_cost import worst_case
    >>> figures = MoveFigures(ret_current=1200.0, ret_new=200.0, nodes=("n1",))
    >>> noon = datetime(2026, 11, 23, 12)
    >>> weigh(figures, worst_case(), MoveRules(), MoveHistory(), noon).verdict.value
    'too_little_gain'
    >>> weigh(figures, worst_case(0.1), MoveRules(), MoveHistory(), noon).verdict.value
    'move'
    """
    gain = figures.gain(cost.total)
    verdict, until, node = _by_figures(figures, cost, gain, rules.threshold, mode), None, ""
    if verdict is Verdict.MOVE and mode is not MoveMode.OPERATOR:
        verdict, until, node = _by_rules(figures.nodes, rules, history, now)
    return Weighing(verdict, figures, cost, gain, rules.threshold, until, node)


def _by_figures(figures: MoveFigures, cost: MoveCost, gain: float | None, threshold: float, mode: MoveMode) -> Verdict:
    if figures.ret_new is None:
        return Verdict.NO_PREDICTION if figures.nodes else Verdict.NO_NODES
    if mode is MoveMode.OPERATOR:
        return Verdict.MOVE
    if figures.ret_current is None:
        return Verdict.NO_FORECAST
    if gain is None or figures.ret_current <= cost.total:
        return Verdict.TOO_LATE
    return Verdict.MOVE if gain > threshold else Verdict.TOO_LITTLE_GAIN


def _by_rules(
    nodes: tuple[str, ...], rules: MoveRules, history: MoveHistory, now: datetime
) -> tuple[Verdict, datetime | None, str]:
    if history.opted_out:
        return Verdict.OPTED_OUT, None, ""
    if rules.windows.denied(now):
        return Verdict.DENIED_HOURS, None, ""
    if not rules.windows.allowed(now):
        return Verdict.NOT_ALLOWED_HOURS, None, ""
    if history.job_moves >= rules.most_per_job:
        return Verdict.TOO_MANY_MOVES, None, ""
    if history.job_moved and (until := history.job_moved + rules.cooldown(history.failures)) > now:
        return Verdict.JOB_COOLS_DOWN, until, ""
    recent = [(history.nodes_moved[node] + rules.node_cooldown, node) for node in nodes if node in history.nodes_moved]
    if recent and (latest := max(recent))[0] > now:
        return Verdict.NODE_COOLS_DOWN, *latest
    return _by_cap(rules.most_per_hour, history, now)


def _by_cap(most: int, history: MoveHistory, now: datetime) -> tuple[Verdict, datetime | None, str]:
    hour = timedelta(hours=1)
    within = sorted(start for start in history.starts if start > now - hour)
    if len(within) < most:
        return Verdict.MOVE, None, ""
    return Verdict.TOO_MANY_MOVES, within[-most] + hour if most else None, ""
