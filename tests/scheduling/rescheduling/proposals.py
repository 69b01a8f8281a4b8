"""Proposals of moves, as a weighing leaves them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from scheduling.rescheduling.core.move_cost import CostKind, CostPhase, predicted, worst_case
from scheduling.rescheduling.models import DecisionEvent, MoveDecision


def propose(job: Any, **fields: Any) -> MoveDecision:
    """A proposal to move a running job to n3 and n4: 4,178 s if it stays, 2,043 there, 420 for the move."""
    worst = worst_case()
    likely = predicted({CostPhase.REDISTRIBUTION: 20.0}, worst)
    values: dict[str, Any] = {
        "cluster": job.cluster,
        "run_number": 1,
        "mode": "on-request",
        "policy": "ask",
        "state": "proposed",
        "verdict": "move",
        "nodes_now": ["n1", "n2"],
        "nodes": ["n3", "n4"],
        "complete": 0.488,
        "ret_current": 4178.0,
        "ret_new": 2043.0,
        "cost": likely.total,
        "cost_kind": CostKind.PREDICTED,
        "costs": {"predicted": likely.document(), "worst-case": worst.document()},
        "gain": (4178.0 - 2043.0 - likely.total) / 4178.0,
        "threshold": 0.3,
        "average": 2.43,
        "expires_at": timezone.now() + timedelta(minutes=10),
    }
    decision = MoveDecision.objects.create(job=job, **(values | fields))
    DecisionEvent.objects.create(decision=decision, to_state=decision.state)
    return decision
