"""The methods of selection that a job can ask for."""

from __future__ import annotations

from typing import Literal

from gridportal.base.name_lists import either

Method = Literal["random", "compute", "communication", "balanced", "pattern"]
METHODS: tuple[Method, ...] = ("random", "compute", "communication", "balanced", "pattern")
#: So many groups are listed, the chosen one included, unless told: the best three (Pattern 2003, 3.3).
CANDIDATES = 3
#: Those that can take it into account that all pairs talk at once.
CONCURRENT: tuple[Method, ...] = ("pattern", "communication", "balanced")
#: The same as an InputError lists them.
CONCURRENT_METHODS = f"the method {either(CONCURRENT)}"
