"""One run of a case as a value: which jobs, which load and when, and whether the portal decides or is overruled.

Cases of an experiment have the paper's minutes, and become seconds of this machine by `MoveCase.scaled`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from gridportal.experiments.moves.scaled_grid import COST

#: So that the ranks compute as slowly as in 2003, as far as numpy lets them: without the wide registers of today.
ENVIRONMENT = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}


class Rule(StrEnum):
    """Who decides on moves in a run."""

    PORTAL = "portal"
    STAY = "stay"  # the portal only watches
    MOVE = "move"  # an operator moves the job when the portal has declined


@dataclass(frozen=True, slots=True)
class CaseJob:
    """A QR factorization of so many rows on so many ranks, submitted so long `after` the first job runs."""

    rows: int
    ranks: int
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class CaseLoad:
    """Busy processes on each node of the first job, so long `after` it runs, for `seconds`; None: to the end."""

    processes: int
    after: float
    seconds: float | None = None

    def scaled(self, minute: float) -> CaseLoad:
        """As MoveCase.scaled."""
        seconds = None if self.seconds is None else self.seconds * minute
        return replace(self, after=self.after * minute, seconds=seconds)


@dataclass(frozen=True, slots=True)
class MoveCase:
    """The last of the jobs is the one that is moved or not. `cost_scale`: of the worst case that decides nothing here,
    but is weighed beside. `patience`: seconds. `to`: where an operator moves it; empty: where the portal would.
    `enough`: seconds after which a job that stays has shown that it takes longer, and is ended; None: it may take as
    long as it does.
    """

    jobs: tuple[CaseJob, ...]
    load: CaseLoad | None = None
    rule: Rule = Rule.PORTAL
    cost_scale: float = COST
    patience: float = 1500.0
    to: tuple[str, ...] = ()
    enough: float | None = None

    def scaled(self, minute: float) -> MoveCase:
        """With seconds in place of the paper's minutes, each of which takes so many."""
        jobs = tuple(replace(job, after=job.after * minute) for job in self.jobs)
        load = self.load and self.load.scaled(minute)
        return replace(self, jobs=jobs, load=load)

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read`."""
        return asdict(self)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> MoveCase:
        """From a document of `document`."""
        load = document["load"]
        return cls(
            tuple(CaseJob(**each) for each in document["jobs"]),
            CaseLoad(**load) if load else None,
            Rule(document["rule"]),
            document["cost_scale"],
            document["patience"],
            tuple(document["to"]),
            document["enough"],
        )
