"""Staying against moving as bars of seconds, and predicted gains against real ones; colours are style sheet tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduling.rescheduling.core.move_cost import CostKind, CostPhase, MoveCost
from scheduling.rescheduling.decision_messages import COSTS, PHASES
from scheduling.rescheduling.models import MoveDecision

_REMAINING = "remaining run"
_COLOURS: Mapping[str, str] = {
    CostPhase.WRITE: "--r4",
    CostPhase.TELEMETRY: "--wait",
    CostPhase.RESOURCES: "--wait",
    CostPhase.SCHEDULE: "--wait",
    CostPhase.OTHER: "--wait",
    CostPhase.QUEUE: "--rule",
    CostPhase.START: "--r3",
    CostPhase.REDISTRIBUTION: "--r2",
    _REMAINING: "--r1",
}
#: The same for people: colour and words.
LEGEND = (
    ("--r4", "stop and write"),
    ("--wait", "telemetry, resource information, schedule, other"),
    ("--rule", "queue"),
    ("--r3", "start"),
    ("--r2", "read with redistribution"),
    ("--r1", "remaining run"),
)
_MOST_POINTS = 500


def ways(decision: MoveDecision) -> dict[str, Any] | None:
    """A bar for each way, its parts one after the other; None where there are no figures for both."""
    if decision.ret_current is None or decision.ret_new is None:
        return None
    costs = decision.costs_by_kind
    rows: list[tuple[str, float, MoveCost | None]] = [("stay", decision.ret_current, None)]
    rows += [(f"move, {COSTS[CostKind(kind)]}", decision.ret_new, cost) for kind, cost in costs.items()]
    names = [name for name, _, _ in rows]
    phases = [phase for phase in CostPhase if any(phase in cost.seconds for cost in costs.values())]
    traces = [_trace(PHASES[phase], phase, names, [_of(cost, phase) for _, _, cost in rows]) for phase in phases]
    traces.append(_trace("Remaining run", _REMAINING, names, [rest for _, rest, _ in rows]))
    return {"data": traces, "layout": _layout(decision.ret_current * (1 - decision.threshold))}


def calibration(decisions: Iterable[MoveDecision]) -> dict[str, Any] | None:
    """Predicted gain against the real one of each move, in percent; None while no move is verified."""
    points = [
        (each, each.gain, each.outcome["gain"])
        for each in decisions
        if each.gain is not None and isinstance(each.outcome.get("gain"), int | float)
    ][:_MOST_POINTS]
    if not points:
        return None
    low = min(0.0, *(min(predicted, real) for _, predicted, real in points)) * 100
    high = max(max(predicted, real) for _, predicted, real in points) * 100
    return {
        "data": [
            {"type": "scatter", "mode": "lines", "x": [low, high], "y": [low, high], "line": {"color": "--rule"}},
            {
                "type": "scatter",
                "mode": "markers",
                "x": [round(predicted * 100, 1) for _, predicted, _ in points],
                "y": [round(real * 100, 1) for _, _, real in points],
                "marker": {"color": "--accent", "size": 8},
                "customdata": [each.pk for each, _, _ in points],
                "hovertemplate": "decision %{customdata}: %{x} % predicted, %{y} % real<extra></extra>",
            },
        ],
        "layout": {
            "showlegend": False,
            "xaxis": {"title": {"text": "predicted gain, %"}},
            "yaxis": {"title": {"text": "real gain, %"}},
            "margin": {"l": 56, "r": 12, "t": 8, "b": 40},
        },
    }


def _of(cost: MoveCost | None, phase: CostPhase) -> float:
    return cost.seconds.get(phase, 0.0) if cost else 0.0


def _trace(name: str, key: str, rows: list[str], seconds: list[float]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": rows,
        "x": [round(each, 2) for each in seconds],
        "marker": {"color": _COLOURS[key]},
        "hovertemplate": f"{name}: %{{x:,.1f}} s<extra></extra>",
    }


def _layout(pays_below: float) -> dict[str, Any]:
    """`pays_below`: seconds; a bar that ends before them is a move that pays."""
    line = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": pays_below, "x1": pays_below}
    return {
        "barmode": "stack",
        "bargap": 0.35,
        "xaxis": {"title": {"text": "seconds"}, "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "type": "category", "showgrid": False, "automargin": True},
        "shapes": [{**line, "line": {"color": "--risk", "dash": "dash", "width": 2}}],
        "showlegend": False,
        "margin": {"l": 8, "r": 12, "t": 8, "b": 40},
    }
