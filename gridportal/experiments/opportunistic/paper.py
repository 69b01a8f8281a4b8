"""What Migration 2003, 8.2, says of figure 6: both were moved, and it paid. Of the single times it gives no numbers."""

from __future__ import annotations

PAPER = {
    "cases": [{"case": str(size), "cost": "worst-case", "decided": "move", "right": True} for size in (13_000, 14_000)],
    "wrong": {"worst-case": 0, "predicted": 0},
    "better": 0.0,
}
