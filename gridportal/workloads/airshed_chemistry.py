"""Chemistry of smog, emissions and mixing between layers, in every column of air by itself.

A handful of reactions in the manner of the textbooks, with rates per hour and ppm. Each turns over a
bounded part of what it consumes, so that nothing becomes negative and nitrogen is kept.
"""

from __future__ import annotations

import numpy as np

from gridportal.workloads.airshed_input import LAYERS, SPECIES, Floats

NO, NO2, O3, VOC, RO2, HNO3, PAN, CO = range(len(SPECIES))
NITROGEN = (NO, NO2, HNO3, PAN)
MIXING = 0.8  # exchanges with the next layer an hour


def react(by_columns: Floats, sun: Floats, emissions: Floats, hours: float, steps: int) -> Floats:
    """`hours` of air columns, (planes, points), in `steps` steps; sun (points,), emissions (species, points)."""
    air = by_columns.reshape(LAYERS, len(SPECIES), -1).copy()
    step = hours / steps
    for _ in range(steps):
        air[0] += step * emissions
        _mix(air, step * MIXING)
        _react_once(air, sun, step)
    return air.reshape(by_columns.shape)


def nitrogen(planes: Floats) -> float:
    """All nitrogen in a field (planes, points)."""
    return float(planes.reshape(LAYERS, len(SPECIES), -1)[:, NITROGEN].sum())


def _mix(air: Floats, share: float) -> None:
    """Exchange between neighbouring layers, explicit; stable up to a share of one half."""
    flow = share * np.diff(air, axis=0)
    air[:-1] += flow
    air[1:] -= flow


def _react_once(air: Floats, sun: Floats, step: float) -> None:
    no, no2, o3, voc, ro2, hno3, pan, co = (air[:, index] for index in range(len(SPECIES)))
    hydroxyl = 0.35 * step * sun  # its reactions' common share
    turned = _decay(no2, 24.0 * step * sun)  # NO2 + light -> NO + O3
    no2 -= turned
    no += turned
    o3 += turned
    turned = _meet(no, o3, 1500.0 * step)  # NO + O3 -> NO2
    no -= turned
    o3 -= turned
    no2 += turned
    for fuel, rate in ((voc, 1.0), (co, 0.05)):  # fuel + OH -> RO2
        turned = _decay(fuel, rate * hydroxyl)
        fuel -= turned
        ro2 += turned
    turned = _meet(ro2, no, 9000.0 * step)  # RO2 + NO -> NO2
    ro2 -= turned
    no -= turned
    no2 += turned
    turned = _meet(ro2, no2, 4000.0 * step)  # RO2 + NO2 -> PAN
    ro2 -= turned
    no2 -= turned
    pan += turned
    turned = _decay(pan, 0.6 * step)  # PAN -> RO2 + NO2
    pan -= turned
    ro2 += turned
    no2 += turned
    turned = _decay(no2, 0.8 * hydroxyl)  # NO2 + OH -> HNO3
    no2 -= turned
    hno3 += turned
    ro2 -= _meet(ro2, ro2, 800.0 * step)  # RO2 + RO2 -> products that do not matter


def _decay(substance: Floats, rate: Floats | float) -> Floats:
    """What reacts at `rate` (implicit step): always less than there is."""
    return substance * (rate / (1.0 + rate))


def _meet(one: Floats, other: Floats, rate: float) -> Floats:
    """What reacts of two substances: always less than there is of either."""
    return rate * one * other / (1.0 + rate * (one + other))
