"""What notices are about, by which ways they go, and what became of each."""

from __future__ import annotations

from enum import StrEnum

from gridportal.base.lifecycle import Lifecycle
from scheduling.jobs.core.states import JobState


class NoticeKind(StrEnum):
    """What happened. The database columns hold these words."""

    STARTED = "started"
    ENDED = "ended"  # it came to its end, or somebody else cancelled it
    FAILED = "failed"
    WAITS = "waits"  # a job waits until a person decides
    PROPOSED = "proposed"  # a move waits until an operator decides
    ALERT = "alert"  # a rule fires, or what it found has ended
    BUDGET = "budget"  # little or nothing is left of a project's budget
    MODEL = "model"  # a performance model of a person's own program fails
    REPORT = "report"  # a report that is sent at set times
    TEST = "test"  # a person tries where notices go


class Channel(StrEnum):
    """By which way a notice goes."""

    PAGE = "page"
    EMAIL = "email"
    WEBHOOK = "webhook"


class WebhookFormat(StrEnum):
    """What a webhook is sent."""

    JSON = "json"
    SLACK = "slack"
    MATRIX = "matrix"


class JobChoice(StrEnum):
    """What a person wants to hear of one job."""

    USUAL = "usual"  # as of all own jobs
    ALL = "all"  # everything, by every way that the person has
    NONE = "none"


class DeliveryState(StrEnum):
    """What became of one notice on one way."""

    PENDING = "pending"
    SENT = "sent"
    GIVEN_UP = "given up"


DELIVERY_LIFE = Lifecycle(
    {
        DeliveryState.PENDING: {DeliveryState.SENT, DeliveryState.GIVEN_UP},
        DeliveryState.SENT: (),
        DeliveryState.GIVEN_UP: (),
    }
)
#: What people choose among: nobody chooses to be sent a test.
CHOSEN = (
    NoticeKind.STARTED,
    NoticeKind.ENDED,
    NoticeKind.FAILED,
    NoticeKind.WAITS,
    NoticeKind.PROPOSED,
    NoticeKind.ALERT,
    NoticeKind.BUDGET,
    NoticeKind.MODEL,
)
#: What is on a person's page who has chosen nothing.
USUAL = CHOSEN[1:]
#: What a step of a job is about, by the state to which it led.
BY_STATE = {
    JobState.RUNNING: NoticeKind.STARTED,
    JobState.SUCCEEDED: NoticeKind.ENDED,
    JobState.CANCELLED: NoticeKind.ENDED,
    JobState.FAILED: NoticeKind.FAILED,
    JobState.STOPPED: NoticeKind.WAITS,
    JobState.TRIAL: NoticeKind.WAITS,
}
