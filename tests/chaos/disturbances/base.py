"""What a disturbance is, and what it may touch."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Protocol

from tests.chaos.portal import Portal


@dataclass(frozen=True, slots=True)
class Scene:
    """The portal, and a seed's worth of choices."""

    portal: Portal
    rng: random.Random

    @property
    def has_postgres(self) -> bool:
        """Whether its database is a PostgreSQL of its own."""
        return self.portal.kind == "production"


class Disturbance(Protocol):
    """`begin` does it and says what it hit; `end` takes it back, after the seconds that the schedule says."""

    name: str

    def begin(self, scene: Scene) -> str: ...
    def end(self, scene: Scene) -> None: ...
