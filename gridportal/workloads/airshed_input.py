"""What Airshed reads at the start of every hour: winds, sunlight and emissions; made up, smooth, exact.

Rank 0 alone makes them, as the program of Selection 1999 read them from files by one process.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LAYERS = 5
SPECIES = ("no", "no2", "o3", "voc", "ro2", "hno3", "pan", "co")
PLANES = LAYERS * len(SPECIES)
BACKGROUND = (0.002, 0.004, 0.04, 0.05, 1e-5, 0.001, 0.0005, 0.2)  # ppm
EMITTED = {"no": 0.012, "no2": 0.002, "voc": 0.03, "co": 0.08}  # ppm an hour in the busiest place
FASTEST = 0.45  # cells a transport step, the largest wind that stays stable


@dataclass(frozen=True)
class Hour:
    """One hour's weather and emissions on a square of `size` points a side.

    `east` (layers, size, size + 1) and `north` (layers, size + 1, size) are winds through the cells' faces
    in cells per transport step, 0 at the border; `sun` (size, size) is in 0 .. 1; `emissions`
    (species, size, size) in ppm an hour.
    """

    east: Floats
    north: Floats
    sun: Floats
    emissions: Floats

    def pack(self) -> Floats:
        """All of it in one buffer for one broadcast."""
        return np.concatenate([part.ravel() for part in (self.east, self.north, self.sun, self.emissions)])


def shapes(size: int) -> list[tuple[int, ...]]:
    """Of the parts of `pack`."""
    return [
        (LAYERS, size, size + 1),
        (LAYERS, size + 1, size),
        (size, size),
        (len(SPECIES), size, size),
    ]


def unpack(buffer: Floats, size: int) -> Hour:
    lengths = np.cumsum([int(np.prod(shape)) for shape in shapes(size)])
    parts = np.split(buffer, lengths[:-1])
    return Hour(*(part.reshape(shape) for part, shape in zip(parts, shapes(size), strict=True)))


def read_hour(hour: int, size: int) -> Hour:
    """The input of `hour`, counted from 0 at six in the morning."""
    corners = np.arange(size + 1) / size
    east, north = np.empty(shapes(size)[0]), np.empty(shapes(size)[1])
    for layer in range(LAYERS):
        # Winds are the differences of a stream function that vanishes at the border: no air is lost.
        stream = np.outer(_roll(corners, 1, hour), _roll(corners, 1 + layer % 2, hour + 2))
        scale = FASTEST * (0.5 + 0.1 * layer) / max(np.abs(np.diff(stream, axis=a)).max() for a in (0, 1))
        east[layer] = scale * np.diff(stream, axis=0)
        north[layer] = -scale * np.diff(stream, axis=1)
    return Hour(east, north, _sunlight(hour, size), _emissions(hour, size))


def first_field(size: int) -> Floats:
    """Concentrations at the start in ppm, planes (layer, species) by points, (PLANES, size * size)."""
    column = np.tile(np.array(BACKGROUND), LAYERS)
    return np.repeat(column[:, None], size * size, axis=1)


def _roll(corners: Floats, waves: int, hour: int) -> Floats:
    roll = np.sin(np.pi * corners) * (1.0 + 0.4 * np.sin(waves * np.pi * corners + 0.5 * hour))
    roll[-1] = 0.0  # sin(pi) is not quite
    return roll


def _sunlight(hour: int, size: int) -> Floats:
    height = np.maximum(np.sin(np.pi * (hour + 0.5) / 14.0), 0.0)
    cloud = np.linspace(0.0, 2.0 * np.pi, size)
    light: Floats = height * (0.8 + 0.2 * np.outer(np.cos(cloud + hour), np.sin(cloud)))
    return light


def _emissions(hour: int, size: int) -> Floats:
    places = (np.arange(size) + 0.5) / size
    rush = 0.4 + 0.6 * np.exp(-((hour % 12 - 2.0) ** 2) / 4.0)
    city = np.exp(-((places[:, None] - 0.4) ** 2 + (places[None, :] - 0.35) ** 2) / 0.02)
    harbour = 0.6 * np.exp(-((places[:, None] - 0.7) ** 2 + (places[None, :] - 0.8) ** 2) / 0.005)
    return np.stack([EMITTED.get(name, 0.0) * rush * (city + harbour) for name in SPECIES])
