"""The life of an alert: it fires, and ends."""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle


class AlertState(StrEnum):
    """The database column holds these words."""

    FIRING = "firing"
    ENDED = "ended"


ALERT_LIFE = Lifecycle({AlertState.FIRING: {AlertState.ENDED}, AlertState.ENDED: ()})
