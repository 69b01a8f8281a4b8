"""What Set matching 2002, 5, says, in the shape of a result. Of single runs it prints no figures."""

from __future__ import annotations

PAPER = {
    "computing": {"mean_error": 0.062, "worst_error": None},
    "communication": {"mean_error": 0.1313, "worst_error": 0.59},
    "shares": {"division": [146, 54], "above_best": 0.012},
    "selection": {
        "one-site": {"selected": ["mystere", "o", "saltimbanco"], "is_fastest": True},
        "two-sites": {"selected": ["torc6"], "is_fastest": True},
    },
}
