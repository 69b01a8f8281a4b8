"""The life of a decision on a move: from the weighing to the gain that really came (Migration 2003, 6.2).

What does not pay is declined at once; what pays is proposed, and a person or the portal's own mode decides.
"""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle


class DecisionState(StrEnum):
    """Where it is, and how it ended. The database column holds these words."""

    PROPOSED = "proposed"  # it pays; somebody is to decide
    APPROVED = "approved"
    OVERRIDDEN = "overridden"  # a person chose other nodes or another count
    REFUSED = "refused"  # a person said no
    EXPIRED = "expired"  # nobody decided in time, or there is nothing to move any more
    DECLINED = "declined"  # it does not pay, or a rule forbids it
    OBSERVED = "observed"  # it pays, and the mode is only to watch
    MOVING = "moving"
    MOVED = "moved"
    FAILED = "failed"  # the job did not move, and goes on where it ran or is over
    VERIFIED = "verified"  # the job is over, and what the move brought is known


_DECIDED = {DecisionState.MOVING, DecisionState.FAILED, DecisionState.EXPIRED}
DECISION_LIFE = Lifecycle(
    {
        DecisionState.PROPOSED: {
            DecisionState.APPROVED,
            DecisionState.OVERRIDDEN,
            DecisionState.REFUSED,
            DecisionState.EXPIRED,
        },
        DecisionState.APPROVED: _DECIDED,
        DecisionState.OVERRIDDEN: _DECIDED,
        DecisionState.MOVING: {DecisionState.MOVED, DecisionState.FAILED},
        DecisionState.MOVED: {DecisionState.VERIFIED},
        **dict.fromkeys(
            (
                DecisionState.REFUSED,
                DecisionState.EXPIRED,
                DecisionState.DECLINED,
                DecisionState.OBSERVED,
                DecisionState.FAILED,
                DecisionState.VERIFIED,
            ),
            (),
        ),
    }
)
#: A job has one decision at most that is in one of these.
OPEN_DECISIONS = (
    DecisionState.PROPOSED,
    DecisionState.APPROVED,
    DecisionState.OVERRIDDEN,
    DecisionState.MOVING,
)


class Policy(StrEnum):
    """What the portal does with a move that pays, on a cluster or for a job."""

    OBSERVE = "observe"  # keep the decision, move nothing
    ASK = "ask"  # propose it; an operator decides
    AUTOMATIC = "automatic"
