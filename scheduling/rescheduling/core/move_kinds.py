"""What a move was: decided on, asked for at once, one that went back, or its cluster's own doing."""

from __future__ import annotations

from enum import StrEnum


class MoveKind(StrEnum):
    """The words of CSV and REST."""

    DECISION = "decision"  # weighed before, whoever approved it
    DIRECT = "direct"  # a person or a program moved the job at once
    WENT_BACK = "went_back"  # the same, but it did not start there and went back
    REQUEUE = "requeue"  # its cluster put it back into the queue and started it again
