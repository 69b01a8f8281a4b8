"""A synthetic fMRI run: slices of a head that moves a little, as the scanner's raw data.

Echo-planar imaging reads every other line backwards, which leaves a ghost; the raw data have that too.
Every number follows from slice and volume alone, so that any rank may compute on any of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]

# Ellipses of the head (brightness, centre and half axes down and across, in fields of view).
ELLIPSES = (
    (1.0, 0.0, 0.0, 0.34, 0.26),
    (-0.4, 0.01, 0.0, 0.31, 0.23),
    (0.3, -0.08, 0.07, 0.09, 0.06),
    (0.3, -0.06, -0.08, 0.10, 0.05),
    (-0.2, 0.12, 0.02, 0.05, 0.08),
    (0.25, 0.17, -0.05, 0.03, 0.04),
)
SOFTNESS = 0.02  # width of the edges, so that the raw data have no sharp cut


class Scan:
    """A run of pictures of `slices` slices of `size` x `size` points."""

    def __init__(self, size: int, slices: int) -> None:
        self.size = size
        self.slices = slices
        self._spectra = [np.fft.fft2(self._head(index)) for index in range(slices)]

    def motion(self, volume: int) -> Floats:
        """How far the head has moved, down and across in points; (2,), zero in the first volume."""
        moved: Floats = 1.6 * np.sin(volume * np.array([0.7, 1.1])) * (volume > 0)
        return moved

    def ghost(self, index: int) -> float:
        """The phase in radians between lines read forwards and backwards."""
        return 0.25 + 0.1 * float(np.sin(1.3 * index))

    def raw(self, index: int, volume: int) -> Complexes:
        """What the scanner delivers of one slice, (size, size)."""
        spectrum = self._spectra[index] * shift_factors(self.size, self.motion(volume))
        spectrum[1::2] *= np.exp(1j * self.ghost(index))
        return spectrum

    def _head(self, index: int) -> Floats:
        """The head at rest: ellipses with soft edges, smaller towards top and bottom."""
        height = (index + 0.5) / self.slices * 2.0 - 1.0
        scale = np.sqrt(1.0 - 0.6 * height**2)
        places = (np.arange(self.size) + 0.5) / self.size - 0.5
        picture = np.zeros((self.size, self.size))
        for brightness, down, across, half_down, half_across in ELLIPSES:
            radius = np.sqrt(
                ((places[:, None] - down) / (half_down * scale)) ** 2
                + ((places[None, :] - across) / (half_across * scale)) ** 2
            )
            picture += brightness / (1.0 + np.exp(np.clip((radius - 1.0) / SOFTNESS * half_down, -40.0, 40.0)))
        return picture


def shift_factors(size: int, shift: Floats) -> Complexes:
    """What a spectrum is multiplied by when its picture moves by `shift` points, (size, size)."""
    frequencies = np.fft.fftfreq(size)
    # The highest frequency of an even size has no sign, and cannot turn: it stays as it is.
    if size % 2 == 0:
        frequencies[size // 2] = 0.0
    down, across = (np.exp(-2j * np.pi * frequencies * by) for by in shift)
    return np.outer(down, across)
