"""Staying against moving as bars of seconds."""

from __future__ import annotations

from collections.abc import Mapping
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
#: The same for people: words by colour.
_WORDS: Mapping[str, str] = {
    "--r4": "stop and write",
    "--wait": "telemetry, resource information, schedule, other",
    "--rule": "queue",
    "--r3": "start",
    "--r2": "read with redistribution",
    "--r1": "remaining run",
}


def legend(decision: MoveDecision) -> list[tuple[str, str]]:
    """Colour and words of the parts that the bars have."""
    costs = decision.costs_by_kind.values()
    drawn = {_COLOURS[phase] for cost in costs for phase, seconds in cost.seconds.items() if seconds}
    return [(colour, words) for colour, words in _WORDS.items() if colour in drawn | {_COLOURS[_REMAINING]}]


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
