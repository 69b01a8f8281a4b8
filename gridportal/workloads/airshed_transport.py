"""Transport by the wind: second-order upwind fluxes, limited so that no new peaks arise, planes apart."""

from __future__ import annotations

import numpy as np

from gridportal.workloads.airshed_input import SPECIES, Floats, Hour


def transport(by_planes: Floats, planes: range, hour: Hour, steps: int) -> Floats:
    """`steps` transport steps of a rank's planes, (own planes, points); what leaves a cell enters another."""
    size = hour.sun.shape[0]
    layers = [plane // len(SPECIES) for plane in planes]
    east, north = hour.east[layers], hour.north[layers].transpose(0, 2, 1)
    # Eastwards alone the wind piles up air, which it takes away northwards: what northwards carries is the
    # share of it, so that even air stays even.
    air = 1.0 - np.diff(east, axis=2)
    field = by_planes.reshape(len(planes), size, size)
    for _ in range(steps):
        field = field - np.diff(_fluxes(field, east), axis=2)
        shares = (field / air).transpose(0, 2, 1)
        field = field - np.diff(_fluxes(shares, north), axis=2).transpose(0, 2, 1)
    return field.reshape(by_planes.shape)


def _fluxes(field: Floats, wind: Floats) -> Floats:
    """Through the faces along the last axis; `wind` has one more place there, and is 0 at both ends."""
    slopes = _slopes(field)
    fluxes = np.zeros(wind.shape)
    inner = wind[..., 1:-1]
    from_left = field[..., :-1] + 0.5 * (1.0 - inner) * slopes[..., :-1]
    from_right = field[..., 1:] - 0.5 * (1.0 + inner) * slopes[..., 1:]
    fluxes[..., 1:-1] = inner * np.where(inner > 0.0, from_left, from_right)
    return fluxes


def _slopes(field: Floats) -> Floats:
    """The smaller of the differences to both neighbours where they agree in sign, else 0 (minmod)."""
    slopes = np.zeros_like(field)
    steps = np.diff(field, axis=-1)
    before, after = steps[..., :-1], steps[..., 1:]
    smaller = np.where(np.abs(before) < np.abs(after), before, after)
    slopes[..., 1:-1] = np.where(before * after > 0.0, smaller, 0.0)
    return slopes
