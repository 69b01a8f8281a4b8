"""Why a notice could not be delivered."""

from __future__ import annotations

from gridportal.base.errors import GridPortalError


class DeliveryError(GridPortalError):
    """Nobody took it. `lasting`: another attempt would fail as well."""

    def __init__(self, message: str, *, lasting: bool = False) -> None:
        self.lasting = lasting
        super().__init__(message)
