"""Notices in words: a title and a sentence for each, as the page, e-mails and webhooks have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridportal.base.reasons import Code
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.notices.core.letter import Letter
from scheduling.notices.core.notice_kinds import Channel, JobChoice, NoticeKind, WebhookFormat
from scheduling.notices.models import Delivery, Notice

KINDS: Mapping[NoticeKind, str] = {
    NoticeKind.STARTED: "A job starts",
    NoticeKind.ENDED: "A job ends, or somebody else cancels it",
    NoticeKind.FAILED: "A job fails",
    NoticeKind.WAITS: "A job waits for my decision",
    NoticeKind.PROPOSED: "A move waits for an operator",
    NoticeKind.ALERT: "An alert fires or ends, for operators",
    NoticeKind.BUDGET: "A budget of my project is nearly or wholly used",
    NoticeKind.MODEL: "A performance model of my program fails",
}
CHANNELS: Mapping[Channel, str] = {Channel.PAGE: "Page", Channel.EMAIL: "E-mail", Channel.WEBHOOK: "Webhook"}
FORMATS: Mapping[WebhookFormat, str] = {
    WebhookFormat.JSON: "JSON",
    WebhookFormat.SLACK: "Slack",
    WebhookFormat.MATRIX: "Matrix",
}
JOB_CHOICES: Mapping[JobChoice, str] = {
    JobChoice.USUAL: "As for all my jobs",
    JobChoice.ALL: "Everything, by every way that I have",
    JobChoice.NONE: "Nothing",
}
#: What to say on the page of choices while a way leads nowhere.
MISSING: Mapping[Channel, str] = {
    Channel.EMAIL: "No e-mail can be sent: there is no address, or the portal has no mail server.",
    Channel.WEBHOOK: "No webhook is sent: there is no address.",
}
_TITLES: Mapping[NoticeKind, str] = {
    NoticeKind.STARTED: "{job} has started",
    NoticeKind.ENDED: "{job} has succeeded",
    NoticeKind.FAILED: "{job} has failed",
    NoticeKind.WAITS: "{job} waits for a decision",
    NoticeKind.PROPOSED: "A move of {job} waits for an operator",
    NoticeKind.ALERT: "Alert {rule}",
    NoticeKind.BUDGET: "Budget of {project}",
    NoticeKind.MODEL: "A performance model of {program} fails",
    NoticeKind.REPORT: "Report {report}",
    NoticeKind.TEST: "This is a test",
}
#: What says of a job that ended well that its ranks did not work together.
_STARTED_ODDLY = {
    *(Code.START_SINGLETONS, Code.START_COPIES, Code.START_FEWER, Code.START_OTHER_MPI),
    *(Code.START_INSIDE, Code.START_NO_PMI, Code.START_NONE),
}
_TEST = "Notices of GridPortal arrive here."


def title(notice: Notice) -> str:
    """One line, without the reason."""
    words = _TITLES[NoticeKind(notice.kind)]
    if notice.event is not None and notice.event.to_state == "cancelled":
        words = "{job} was cancelled"
    elif notice.kind == NoticeKind.ENDED and notice.reason.code in _STARTED_ODDLY:
        words = "{job} has ended, but was started oddly"
    facts = {
        "job": _job(notice.job) if notice.job else "",
        "rule": notice.alert.rule.name if notice.alert else "",
        "project": notice.project.name if notice.project else "",
        "report": notice.report.name if notice.report else "",
        "program": notice.application.name if notice.application else "",
    }
    return words.format(**facts)


def text(notice: Notice) -> str:
    """Why, in a sentence; empty where nothing is to be added."""
    return _TEST if notice.kind == NoticeKind.TEST else message(notice.reason)


def address(notice: Notice) -> str:
    """The page that it is about; empty for none."""
    if notice.decision is not None:
        return notice.decision.get_absolute_url()
    if notice.alert is not None:
        return notice.alert.rule.get_absolute_url()
    if notice.project is not None:
        return f"{notice.project.get_absolute_url()}#budgets"
    if notice.report is not None:
        return notice.report.get_absolute_url()
    if notice.application is not None:
        return notice.application.get_absolute_url()
    return notice.job.get_absolute_url() if notice.job else ""


def letter(notice: Notice, base: str) -> Letter:
    """As it is sent; `base` is the portal's own address, without which there is no link."""
    path = address(notice)
    facts: dict[str, Any] = {}
    if notice.job:
        facts["job"] = {"id": notice.job.pk, "name": notice.job.name, "state": notice.job.state}
    if notice.decision_id:
        facts["decision"] = notice.decision_id
    if notice.alert:
        facts["alert"] = {"id": notice.alert_id, "rule": notice.alert.rule_id, "subject": notice.alert.subject}
    if notice.project:
        facts["project"] = notice.project.name
    if notice.report_id:
        facts["report"] = notice.report_id
    if notice.application:
        facts["application"] = notice.application.slug
    link = f"{base}{path}" if base and path else ""
    key, kind = str(notice.key), NoticeKind(notice.kind)
    return Letter(key, kind, notice.created_at, title(notice), text(notice), link, facts)


def delivery(row: Delivery) -> str:
    """What became of it on one way, after the name of the way."""
    if row.state == "sent":
        return "sent"
    if row.state == "given up":
        return f"given up after {row.attempts} attempt{'' if row.attempts == 1 else 's'}. {row.error}".strip()
    return f"is tried again. {row.error}" if row.error else "is being sent"


def _job(job: Job) -> str:
    return f"Job {job.pk} ({job.name})" if job.name else f"Job {job.pk}"
