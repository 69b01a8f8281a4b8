"""FT's field in slabs, and the three-dimensional transforms with the all-to-all between their two halves.

The field is cut along z in space and along y among the frequencies, so that x and y, or z and x, lie whole
on each rank. Source: NAS Parallel Benchmarks, MPI version of FT (fft, transpose_xy_z and back).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mpi4py import MPI

    from gridportal.runtime.phases import CommunicationClock

Complexes = npt.NDArray[np.complex128]


class SlabTransform:
    """Transforms between space, local shape (nz / ranks, ny, nx), and frequencies, (nz, ny / ranks, nx).

    `shape` is (nz, ny, nx), of which nz and ny divide by the number of ranks. Collective.
    """

    def __init__(self, comm: MPI.Intracomm, clock: CommunicationClock, shape: tuple[int, int, int]) -> None:
        self._comm = comm
        self._clock = clock
        ranks = comm.Get_size()
        nz, ny, nx = shape
        self.space_shape = (nz // ranks, ny, nx)
        self.frequency_shape = (nz, ny // ranks, nx)
        self._blocks_shape = (ranks, nz // ranks, ny // ranks, nx)
        self._outgoing = np.empty(self._blocks_shape, dtype=np.complex128)
        self._incoming = np.empty_like(self._outgoing)

    def forward(self, field: Complexes) -> Complexes:
        """The spectrum of `field`, which is overwritten; unscaled, as np.fft.fftn."""
        for plane in field:
            for axis in (1, 0):
                np.fft.fft(plane, axis=axis, out=plane)
        np.copyto(self._outgoing, self._by_owner(field))
        spectrum = np.empty(self.frequency_shape, dtype=np.complex128)
        self._all_to_all(self._outgoing, spectrum.reshape(self._blocks_shape))
        for row in range(spectrum.shape[1]):
            np.fft.fft(spectrum[:, row], axis=0, out=spectrum[:, row])
        return spectrum

    def inverse(self, spectrum: Complexes, out: Complexes) -> None:
        """The field of `spectrum` into `out`, scaled as np.fft.ifftn; `spectrum` is overwritten."""
        for row in range(spectrum.shape[1]):
            np.fft.ifft(spectrum[:, row], axis=0, out=spectrum[:, row])
        self._all_to_all(spectrum.reshape(self._blocks_shape), self._incoming)
        self._by_owner(out)[...] = self._incoming
        for plane in out:
            for axis in (0, 1):  # not ifft2: numpy 2.4 scales it wrongly when it is given `out`
                np.fft.ifft(plane, axis=axis, out=plane)

    def _by_owner(self, field: Complexes) -> Complexes:
        """A view of a field in space whose first index is the rank that owns the rows among the frequencies."""
        ranks, planes, rows, columns = self._blocks_shape
        return field.reshape(planes, ranks, rows, columns).swapaxes(0, 1)

    def _all_to_all(self, outgoing: Complexes, incoming: Complexes) -> None:
        with self._clock:
            self._comm.Alltoall(outgoing, incoming)
