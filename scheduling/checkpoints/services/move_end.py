"""Ending a continuation."""

from __future__ import annotations

from typing import Any

from gridportal.base.reasons import Reason
from scheduling.jobs.services.advance import advance
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.continuation_states import ContinuationState


def close(row: Continuation, to: ContinuationState, reason: Reason, **fields: Any) -> bool:
    """Take it to `to`, by whoever has its lease; False where that is somebody else."""
    return advance(row, to, holder=row.lease_holder, reason=reason, **fields)
