"""Trials of opportunistic as they might have been recorded."""

from __future__ import annotations

import random
from typing import Any

from tests.gridportal.experiments.moves.recorded_moves import recorded


def trials(rng: random.Random) -> dict[str, dict[str, Any]]:
    return recorded("opportunistic", rng)
