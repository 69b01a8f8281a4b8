"""What a mapper is: a function that puts the machines of a set in order and gives each its share of the work.

A package makes one known by an entry point of the group `gridportal.mappers`; a request names it:
`Mapper = [libraryname = "line"]` or `Mapper = "line"`. It runs in a process of its own with a time limit; whatever it
raises is reported in its own words. Source: Set matching 2002, 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

#: The group of entry points.
GROUP = "gridportal.mappers"

PlainValue = bool | int | float | str


@dataclass(frozen=True, slots=True)
class MapperMachine:
    """A machine of the set. seconds: the time that the request predicts for it; None where it predicts none.

    attributes: the plain values of its ad, by names in small letters.
    """

    dns: str
    processors: int
    seconds: float | None = None
    attributes: dict[str, PlainValue] = field(default_factory=dict)

    def number(self, *names: str) -> float | None:
        """The first of these attributes that is a number above 0."""
        for name in names:
            value = self.attributes.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                return float(value)
        return None

    @property
    def speed(self) -> float:
        """How fast its processor is: by its ad, else by the predicted time, else 1."""
        stated = self.number("cpuspeed", "speed", "mips", "kflops")
        if stated is not None:
            return stated
        return 1 / self.seconds if self.seconds else 1.0


@dataclass(frozen=True, slots=True)
class MapperQuestion:
    """What a mapper is asked.

    options: the plain values of the request's Mapper; request: those of the request itself; names in small letters.
    bandwidths: of pairs of machines by their places, bit/s or any unit, where it was measured; a missing pair is
    judged by the names and the ads.
    """

    machines: tuple[MapperMachine, ...]
    options: dict[str, PlainValue] = field(default_factory=dict)
    request: dict[str, PlainValue] = field(default_factory=dict)
    bandwidths: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MappedShare:
    """One machine in the order of a mapper. place: in the question; share: of the work, a whole number where it was
    asked to deal out a whole number of parts, else a fraction of 1."""

    place: int
    share: float


Mapper = Callable[[MapperQuestion], Sequence[MappedShare]]


def checked(shares: Sequence[MappedShare], machines: int) -> tuple[MappedShare, ...]:
    """The answer of a mapper. Raises ValueError unless each machine stands in it once, with a share of 0 or more,
    and one of them with more."""
    places = sorted(share.place for share in shares)
    if places != list(range(machines)):
        raise ValueError(f"it gave the machines {places[:20]}, not each of 0 to {machines - 1} once")
    for share in shares:
        if not 0 <= share.share < float("inf"):
            raise ValueError(f"it gave machine {share.place} the share {share.share}")
    if shares and not any(share.share for share in shares):
        raise ValueError("it gave each machine the share 0; one has to be above 0")
    return tuple(shares)
