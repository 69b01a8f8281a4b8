"""What is said of alerts."""

from __future__ import annotations

from gridportal.base.reasons import Code
from scheduling.messages.metric_text import metric_of, time_text, value_text
from scheduling.messages.registry import says


@says(Code.ALERT_FIRES)
def _(subject: str, metric: str, value: float, level: float, above: bool, lasted: float, others: int) -> str:
    than = f"{'above' if above else 'below'} {value_text(metric, level)}"
    time = f" for {time_text(lasted)}" if lasted else ""
    more = f" The same holds for {others} more." if others else ""
    return f"{metric_of(metric).label} {subject} is {value_text(metric, value)}, {than}{time}.{more}"


@says(Code.ALERT_ENDS)
def _(subject: str, metric: str, value: float, others: int) -> str:
    more = f" {others} more have ended as well." if others else ""
    return f"{metric_of(metric).label} {subject} is {value_text(metric, value)} again.{more}"


@says(Code.ALERT_GONE)
def _(subject: str, metric: str) -> str:
    return f"{metric_of(metric).label} {subject} is not watched any more."
