"""How many examples a slow property is tried with."""

from __future__ import annotations

from hypothesis import settings


def examples(few: int, *, fuzz: int) -> int:
    """`few` in `make test`, which tries the same ones each time; `fuzz` in each round of `make fuzz`, new ones all."""
    return few if settings.default.derandomize else fuzz
