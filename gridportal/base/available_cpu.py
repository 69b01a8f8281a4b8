"""How much of a processor is left, from the load of its node."""

from __future__ import annotations


def available_cpu(load: float) -> float:
    """The fraction 0..1 of a processor that one more process gets beside `load` runnable ones for each processor.

    Source: Selection 1999, 3.1: cpu = 1 / (1 + loadaverage).

    >>> available_cpu(0.0), available_cpu(1.0)
    (1.0, 0.5)
    """
    return 1.0 / (1.0 + load)


def without_processes(cpu: float, processes: float) -> float:
    """The same once `processes` for each processor, which always compute, have left.

    >>> without_processes(available_cpu(11.0), 1.0) == available_cpu(10.0), without_processes(0.7, 1.0)
    (True, 1.0)
    """
    return available_cpu(max(0.0, round(1.0 / cpu - 1.0 - processes, 9))) if cpu > 0 else cpu
