"""How much of a processor is left, from the load of its node."""

from __future__ import annotations


def available_cpu(load: float) -> float:
    """The fraction 0..1 of a processor that one more process gets beside `load` runnable ones for each processor.

    Source: Selection 1999, 3.1: cpu = 1 / (1 + loadaverage).

    >>> available_cpu(0.0), available_cpu(1.0)
    (1.0, 0.5)
    """
    return 1.0 / (1.0 + load)
