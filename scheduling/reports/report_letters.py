"""What is sent of a notice: a report at its set time as a PDF with its sentences, anything else in its own words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from scheduling.notices import notice_messages
from scheduling.notices.core.letter import Attachment, Letter
from scheduling.notices.core.notice_kinds import NoticeKind
from scheduling.notices.models import Notice
from scheduling.reports.report_pdf import pdf
from scheduling.reports.report_section import Section
from scheduling.reports.report_tabs import ALL_TABS, file_of, seen_by
from scheduling.usage.period_sums import read_once
from scheduling.usage.ranges import Range

#: So many sentences of a report stand in the letter itself.
_MOST_FINDINGS = 12


def letter(notice: Notice, base: str) -> Letter:
    """The letter of a notice; a report is made at this moment, of what its receiver may see."""
    plain = notice_messages.letter(notice, base)
    if notice.kind != NoticeKind.REPORT or notice.report is None:
        return plain
    begin, until = (
        datetime.fromisoformat(notice.reason.facts[name]).replace(tzinfo=UTC) for name in ("begin", "until")
    )
    sections = _sections(notice, Range(begin, until))
    findings = [f"{section.title}: {section.finding}" for section in sections[:_MOST_FINDINGS]]
    stop = "To get it no more, open the link and choose Stop."
    title = f"{plain.title}, {begin:%Y-%m-%d} to {until:%Y-%m-%d}"
    document = pdf(f"Usage report: {notice.report.name}", f"{begin:%Y-%m-%d} to {until:%Y-%m-%d} UTC", sections)
    file = Attachment(file_of(ALL_TABS, Range(begin, until), "pdf"), "application", "pdf", document)
    return replace(plain, title=title, text="\n\n".join([plain.text, *findings, stop]), attachments=(file,))


def _sections(notice: Notice, span: Range) -> list[Section]:
    seen = seen_by(notice.person)
    tabs: list[Any] = notice.report.tabs if notice.report else []
    with read_once():
        return [section for name in tabs if name in seen for section in seen[name].sections(notice.person, span)]
