"""What Migration 2003, 8.1 and 8.3, says of figure 5. Of the single times it gives no numbers. At 15 minutes the wrong
decision came of a faulty performance model."""

from __future__ import annotations

PAPER = {
    "cases": [
        {"case": "15", "cost": "worst-case", "decided": "stay", "right": False},
        {"case": "15", "cost": "predicted", "decided": "move", "right": True},
        {"case": "20", "cost": "worst-case", "decided": "stay", "right": False},
        {"case": "20", "cost": "predicted", "decided": "move", "right": True},
        {"case": "23", "cost": "worst-case", "decided": "stay", "right": True},
    ],
    "wrong": {"worst-case": 2, "predicted": 0},
    "better": 0.3,
}
