"""File systems are filled to the last byte, and freed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.chaos import world
from tests.chaos.disturbances.base import Disturbance, Scene

_FILLER = ".chaos-filler"
_PIECES = (2**24, 2**20, 2**16, 4096)


def known(scene: Scene) -> Iterable[Disturbance]:
    """One for each file system of this portal."""
    for name in world.FILE_SYSTEMS:
        if name != "postgres" or scene.has_postgres:
            yield Fill(name)


@dataclass(frozen=True, slots=True)
class Fill:
    """One file takes all that is free."""

    where: str

    @property
    def name(self) -> str:
        """As it stands in the table."""
        return f"fill {self.where}"

    def begin(self, scene: Scene) -> str:
        """Write until nothing more fits."""
        path = self._path()
        with path.open("wb", buffering=0) as filler:
            for piece in _PIECES:
                _write(filler.fileno(), b"\0" * piece)
        return f"{path.stat().st_size >> 20} MB in {path.parent}"

    def end(self, scene: Scene) -> None:
        """Free it."""
        self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        return world.FILE_SYSTEMS[self.where][0] / _FILLER


def _write(descriptor: int, piece: bytes) -> None:
    try:
        while os.write(descriptor, piece):
            pass
    except OSError:  # it is full, which is what is wanted
        return
