"""What Migration 2003, 8.1 and 8.3, says of figure 3. Of the single times it gives no numbers."""

from __future__ import annotations

PAPER = {
    "cases": [
        {"case": "8000", "cost": "worst-case", "decided": "stay", "right": False},
        {"case": "8000", "cost": "predicted", "decided": "move", "right": True},
    ],
    "wrong": {"worst-case": 1, "predicted": 0},
    "better": 0.3,
    "assumed_cost": {"worst-case": 900.0, "real": 420.0},
}
