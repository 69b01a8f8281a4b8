"""The methods of selection that a job can ask for."""

from __future__ import annotations

from typing import Literal

Method = Literal["random", "compute", "communication", "balanced", "pattern"]
METHODS: tuple[Method, ...] = ("random", "compute", "communication", "balanced", "pattern")
#: Those that can take it into account that all pairs talk at once.
CONCURRENT: tuple[Method, ...] = ("pattern", "communication", "balanced")
#: The same as an InputError lists them.
CONCURRENT_METHODS = f"the method {', '.join(CONCURRENT[:-1])} or {CONCURRENT[-1]}"
