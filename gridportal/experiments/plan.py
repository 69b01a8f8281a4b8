"""What somebody asks for: which experiment, with which seed, how much of it; and the folder where its trials go."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridportal.base.errors import InputError

#: Larger seeds are not needed, and fit nowhere.
MAX_SEED = 2**31 - 1
#: Of those that the page and the API take.
MAX_SEED_ON_PAGES = 100_000
#: Letters of a program's name.
MAX_NAME = 40


@dataclass(frozen=True, slots=True)
class Plan:
    """The same seed meets the same traffic; `full` is a night's worth in place of some minutes.

    Some experiments have the options `foreign`, programs that are not the project's own, and `only`, a single program,
    part or case.

    Raises InputError for a seed outside 0 to MAX_SEED.
    """

    name: str
    seed: int = 1
    full: bool = False
    foreign: bool = False
    only: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= MAX_SEED:
            raise InputError("seed", self.seed, f"a whole number from 0 to {MAX_SEED}")

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Plan | None:
        """What `document` wrote; None for anything else."""
        name, seed, full = (document.get(key) for key in ("name", "seed", "full"))
        foreign, only = document.get("foreign", False), document.get("only", "")
        if not isinstance(name, str) or type(seed) is not int or not isinstance(full, bool):
            return None
        if not isinstance(foreign, bool) or not isinstance(only, str) or len(only) > MAX_NAME:
            return None
        return cls(name, seed, full, foreign, only) if 0 <= seed <= MAX_SEED else None

    def document(self) -> dict[str, Any]:
        """As it is written into the folder first; what few experiments have stands there where it was asked for."""
        options: dict[str, Any] = {"foreign": True} if self.foreign else {}
        options |= {"only": self.only} if self.only else {}
        return {"name": self.name, "seed": self.seed, "full": self.full, **options}

    def folder_in(self, base: Path) -> Path:
        """Where its trials go in `base`."""
        options = ["foreign"] * self.foreign + [self.only] * bool(self.only) + ["full"] * self.full
        return base / "-".join([self.name, str(self.seed), *options])


def base_folder() -> Path:
    """Where experiments lie when nothing else is said: below GRIDPORTAL_HOME."""
    home = os.environ.get("GRIDPORTAL_HOME")
    return (Path(home) if home else Path(__file__).resolve().parents[2] / "var") / "experiments"
