"""Folders in which nothing can be made or removed any more, for anybody: the kernel's immutable flag, root or not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gridportal.base import processes as shell
from tests.chaos import world
from tests.chaos.disturbances.base import Disturbance, Scene

_FOLDERS = {"home": world.HOME, "runs": world.HOME / "runs", "log": world.HOME / "log"}


def known(scene: Scene) -> Iterable[Disturbance]:
    """One for each folder."""
    return [Lock(name) for name in _FOLDERS]


@dataclass(frozen=True, slots=True)
class Lock:
    """One folder is read-only."""

    where: str

    @property
    def name(self) -> str:
        """As it stands in the table."""
        return f"lock {self.where}"

    def begin(self, scene: Scene) -> str:
        """Lock it."""
        self._set("+i")
        return str(_FOLDERS[self.where])

    def end(self, scene: Scene) -> None:
        """Unlock it."""
        self._set("-i")

    def _set(self, flag: str) -> None:
        shell.run(["chattr", flag, str(_FOLDERS[self.where])], timeout=10)
