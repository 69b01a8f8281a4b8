"""What a worker does with a slice: remove the ghost, reconstruct, find the motion, undo it, smooth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gridportal.workloads.mri_scan import Complexes, Floats, shift_factors

SMOOTHING = 1.5  # standard deviation in points
PHASES = 61  # trial phases of the ghost
PHASE_LIMIT = 0.6  # radians


@dataclass(frozen=True)
class Result:
    """A slice without ghost and motion, (size, size); and the motion found, down and across in points."""

    picture: Floats
    motion: Floats


def process(raw: Complexes, reference: Complexes, steps: int) -> Result:
    """One slice, against the same slice of the first volume; `steps` Gauss-Newton steps for the motion."""
    spectrum, target = without_ghost(raw), without_ghost(reference)
    motion = find_motion(spectrum, target, steps)
    spectrum *= shift_factors(len(spectrum), -motion)
    return Result(picture=smooth(spectrum), motion=motion)


def without_ghost(raw: Complexes) -> Complexes:
    """Turn every other line back by the phase that leaves least outside the head."""
    ghost = best_phase(raw)
    spectrum = raw.copy()
    spectrum[1::2] *= np.exp(-1j * ghost)
    return spectrum


def best_phase(raw: Complexes) -> float:
    """The phase in radians at which the background is darkest: trials, then a parabola through the best."""
    trials = np.linspace(-PHASE_LIMIT, PHASE_LIMIT, PHASES)
    even, odd = np.zeros_like(raw), np.zeros_like(raw)
    even[0::2], odd[1::2] = raw[0::2], raw[1::2]
    border = max(len(raw) // 16, 1)
    dark, shine = (np.fft.ifft2(part)[:border] for part in (even, odd))
    light = np.array([float((np.abs(dark + np.exp(-1j * trial) * shine) ** 2).sum()) for trial in trials])
    # The background's light is a + b cos(phase - best): its first harmonic gives the minimum exactly.
    columns = np.stack([np.ones_like(trials), np.cos(trials), np.sin(trials)], axis=1)
    _, cosine, sine = np.linalg.lstsq(columns, light, rcond=None)[0]
    return float(np.arctan2(-sine, -cosine))


def find_motion(spectrum: Complexes, target: Complexes, steps: int) -> Floats:
    """The shift in points that takes `target`'s picture to `spectrum`'s, by Gauss-Newton steps."""
    size = len(spectrum)
    frequencies = 2j * np.pi * np.fft.fftfreq(size)
    picture = np.fft.ifft2(target).real
    motion = np.zeros(2)
    for _ in range(steps):
        back = spectrum * shift_factors(size, -motion)
        slopes = np.stack(
            [np.fft.ifft2(back * frequencies[:, None]).real, np.fft.ifft2(back * frequencies[None, :]).real]
        )
        difference = np.fft.ifft2(back).real - picture
        normal = np.einsum("aij,bij->ab", slopes, slopes)
        motion = motion - np.linalg.solve(normal, np.einsum("aij,ij->a", slopes, difference))
    return motion


def smooth(spectrum: Complexes) -> Floats:
    """The picture of a spectrum, blurred by a Gaussian."""
    frequencies = np.fft.fftfreq(len(spectrum))
    blur = np.exp(-2.0 * (np.pi * SMOOTHING * frequencies) ** 2)
    return np.fft.ifft2(spectrum * np.outer(blur, blur)).real
