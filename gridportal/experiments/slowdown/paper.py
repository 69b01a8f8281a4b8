"""What Pattern 2003 measured: figure 3 and the text of section 3.4; fractions. `pattern` is with skeletons."""

from __future__ import annotations

PAPER = {"mean_slowdown": {"random": 0.40, "all-all": 0.276, "pattern": 0.202}}
