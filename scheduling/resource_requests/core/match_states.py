"""The life of a resource request: a synchronous one is answered at once, an asynchronous one within its lifetime."""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle


class MatchState(StrEnum):
    """Where it is, and how it ended. The database column holds these words."""

    WAITING = "waiting"  # no set was found yet
    ANSWERED = "answered"
    UNMATCHED = "unmatched"  # a synchronous one for which there is no set: the paper's failure
    EXPIRED = "expired"  # its lifetime is over
    CANCELLED = "cancelled"
    FAILED = "failed"  # it cannot be tried at all


MATCH_LIFE = Lifecycle(
    {
        MatchState.WAITING: {
            MatchState.ANSWERED,
            MatchState.UNMATCHED,
            MatchState.EXPIRED,
            MatchState.CANCELLED,
            MatchState.FAILED,
        },
        **dict.fromkeys(
            (
                MatchState.ANSWERED,
                MatchState.UNMATCHED,
                MatchState.EXPIRED,
                MatchState.CANCELLED,
                MatchState.FAILED,
            ),
            (),
        ),
    }
)
