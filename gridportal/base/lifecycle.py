"""The life of a noun as a value: which states there are, and which may follow which."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

S = TypeVar("S", bound=StrEnum)


@dataclass(frozen=True)
class Lifecycle(Generic[S]):
    """`steps`: for each state those that may follow it; a state that none may follow is final. `again`: those that may
    follow a final state after all, when a person asks for it.

    >>> class Light(StrEnum):
    ...     GREEN, RED, OFF = "green", "red", "off"
    >>> life = Lifecycle({Light.GREEN: {Light.RED}, Light.RED: {Light.GREEN, Light.OFF}, Light.OFF: ()})
    >>> life.may_follow(Light.GREEN, Light.RED), life.may_follow("off", "red"), life.is_final("off")
    (True, False, True)
    """

    steps: Mapping[S, Collection[S]]
    again: Mapping[S, Collection[S]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ValueError for a table that misses a state."""
        kind = type(next(iter(self.steps)))
        if missing := [state for state in kind if state not in self.steps]:
            raise ValueError(f"No steps are given for {', '.join(missing)}.")

    @property
    def final(self) -> frozenset[S]:
        """The states after which nothing happens by itself."""
        return frozenset(now for now, then in self.steps.items() if not then)

    @property
    def open(self) -> frozenset[S]:
        """All others."""
        return frozenset(self.steps) - self.final

    def may_follow(self, now: S | str, then: S | str) -> bool:
        """Whether a row may go from `now` to `then`."""
        return then in self.steps[now] or then in self.again.get(now, ())  # type: ignore[index, arg-type]

    def is_final(self, state: S | str) -> bool:
        """Whether nothing happens after it by itself."""
        return not self.steps[state]  # type: ignore[index]
