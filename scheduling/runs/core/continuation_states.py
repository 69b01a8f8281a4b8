"""The life of a stop-and-continue: from the request to a program that computes elsewhere (Migration 2003, section 4.1).

Nodes are chosen and reserved while the program still computes, and only then is it stopped: nothing waits in between.
"""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle


class ContinuationState(StrEnum):
    """Where it is, and how it ended. The database column holds these words."""

    ASKED = "asked"  # nodes are chosen; the program, if it runs, computes on
    STOPPING = "stopping"  # its nodes are reserved, and the program is asked to stop
    STOPPED = "stopped"  # the checkpoint is whole, and the next run is made
    STARTING = "starting"  # the next run is handed over
    READING = "reading"  # it has started: the program reads its checkpoint, redistributed
    MOVED = "moved"
    STARTED_ANEW = "started anew"  # its program computes there, but found nothing to go on from
    REFUSED = "refused"  # there are no such nodes now; nothing was stopped
    NOT_STOPPED = "not stopped"  # the program goes on where it is
    ENDED = "ended"  # it came to its end before it stopped
    FAILED = "failed"
    CANCELLED = "cancelled"  # its job was


_END = {ContinuationState.FAILED, ContinuationState.CANCELLED}
CONTINUATION_LIFE = Lifecycle(
    {
        ContinuationState.ASKED: {  # stopped at once: its program had ended with a checkpoint before
            ContinuationState.STOPPING,
            ContinuationState.STOPPED,
            ContinuationState.REFUSED,
            ContinuationState.ENDED,
            *_END,
        },
        ContinuationState.STOPPING: {
            ContinuationState.STOPPED,
            ContinuationState.NOT_STOPPED,
            ContinuationState.ENDED,
            *_END,
        },
        ContinuationState.STOPPED: {ContinuationState.STARTING, *_END},
        ContinuationState.STARTING: {  # stopped: it did not start, and goes back to where it ran
            ContinuationState.READING,
            ContinuationState.STARTED_ANEW,
            ContinuationState.MOVED,
            ContinuationState.STOPPED,
            *_END,
        },
        ContinuationState.READING: {
            ContinuationState.MOVED,
            ContinuationState.STARTED_ANEW,
            ContinuationState.STOPPED,
            *_END,
        },
        **dict.fromkeys(
            (
                ContinuationState.MOVED,
                ContinuationState.STARTED_ANEW,
                ContinuationState.REFUSED,
                ContinuationState.NOT_STOPPED,
                ContinuationState.ENDED,
                *_END,
            ),
            (),
        ),
    }
)
OPEN_CONTINUATIONS = tuple(state for state in ContinuationState if not CONTINUATION_LIFE.is_final(state))
#: In these the nodes of its next run are reserved, though there is no such run yet.
RESERVES = (ContinuationState.STOPPING, ContinuationState.STOPPED)
#: In these its job may have to go back to where it ran.
KEEPS = (ContinuationState.STOPPED, ContinuationState.STARTING, ContinuationState.READING)
