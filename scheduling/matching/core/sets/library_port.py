"""What set matching asks of HTCondor's library, where columns do not do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from scheduling.matching.core.language.ad_syntax import Expression, Record, Scalar


class AdLibrary(Protocol):
    """The library, as `scheduling.matching.adapters.classad_library.Library` has it."""

    def check(self, ad: Record) -> None:
        """Raise an error where the library cannot parse an ad."""

    def of_request(self, request: Record, resources: Sequence[Record], expression: Expression) -> list[Scalar]:
        """An expression of the request about each resource."""

    def of_resources(self, request: Record, resources: Sequence[Record], expression: Expression) -> list[Scalar]:
        """An expression of each resource about the request."""

    def of_set(
        self, request: Record, names: Mapping[Expression, str], expression: Expression
    ) -> Callable[[Mapping[str, Scalar]], Scalar]:
        """An expression of the request, as a function of the values of aggregates by the names given to them."""
