"""What Migration 2003, 8.1 and 8.3, says of figure 4. Of the single times it gives no numbers; with 3 processes no move
could be forced, for the application was over first."""

from __future__ import annotations

PAPER = {
    "cases": [
        {"case": "5", "cost": "worst-case", "decided": "stay", "right": False},
        {"case": "5", "cost": "predicted", "decided": "move", "right": True},
        {"case": "10", "cost": "worst-case", "decided": "move", "right": True},
        {"case": "20", "cost": "worst-case", "decided": "move", "right": True},
    ],
    "wrong": {"worst-case": 1, "predicted": 0},
    "better": 0.3,
}
