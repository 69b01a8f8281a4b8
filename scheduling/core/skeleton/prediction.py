"""How long the application takes where a skeleton ran, by what both took where the skeleton was made.

What a skeleton foretells by itself is off by what it does otherwise than its application: it meets others' work at
other moments, and its memory is warm. On one machine that is off alike everywhere, communication by one factor and work
by another; where the run of the skeleton on the application's own nodes is known, both are taken out.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Less work than this, in seconds, tells no pace.
_LEAST_WORK = 1e-3


def calibrated(
    seconds: float, application: Mapping[str, float], found: Mapping[str, float], reference: Mapping[str, float]
) -> float:
    """Seconds of the application where the skeleton's run told `found`.

    `seconds` is what the application took where the skeleton told `reference`; both have `communicating` and `working`,
    as gridportal.runtime.skeleton prints them, and so has `application` (see document) for how it divides.

    >>> told = {"communicating": 3.0, "working": 2.0}
    >>> calibrated(10.0, {"communicating": 4.0, "working": 1.0}, {"communicating": 6.0, "working": 1.0}, told)
    17.0
    """
    whole = application["communicating"] + application["working"]
    part = application["communicating"] / whole if whole > 0 else 0.0
    slower = found["communicating"] / reference["communicating"] if reference["communicating"] > 0 else 1.0
    pace = found["working"] / reference["working"] if reference["working"] > _LEAST_WORK else 1.0
    return seconds * (part * slower + (1.0 - part) * pace)
