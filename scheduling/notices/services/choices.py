"""What people choose: of what they are told and how, of one job, what they have read, and a test of it all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import BusyError, InputError
from scheduling.jobs.models import Job
from scheduling.notices import selectors
from scheduling.notices.core.notice_kinds import CHOSEN, JobChoice, NoticeKind, WebhookFormat
from scheduling.notices.core.webhook_address import WebhookAddress
from scheduling.notices.models import JobNotices, Notice, NoticeSettings
from scheduling.notices.services.writing_notices import tell

_KINDS = [kind.value for kind in CHOSEN]
_FORMATS = [each.value for each in WebhookFormat]
#: Seconds between two tests of one person.
_BETWEEN_TESTS = 10


@transaction.atomic
def change_settings(person: User, changes: Mapping[str, Any]) -> NoticeSettings:
    """Change what is named in `changes`. Raises InputError that names the field, and changes nothing then."""
    NoticeSettings.objects.get_or_create(person=person)
    row = NoticeSettings.objects.select_for_update().get(person=person)
    for name, value in changes.items():
        if name not in _CHECKS:
            raise InputError("notices", name, "one of " + ", ".join(_CHECKS))
        setattr(row, name, _CHECKS[name](name, value))
    if row.webhook_url:
        WebhookAddress.parse(row.webhook_url, WebhookFormat(row.webhook_format))
    row.save()
    lists = {name: getattr(row, name) for name in ("page", "email", "webhook")}
    audit(person, "person.change_notices", person, **lists, address=row.email_address, format=row.webhook_format)
    return row


@transaction.atomic
def choose_for_job(person: User, job: Job, choice: str) -> JobChoice:
    """What this person wants to hear of one job. Raises InputError for another word."""
    if choice not in [each.value for each in JobChoice]:
        raise InputError("choice", choice, "one of " + ", ".join(JobChoice))
    if choice == JobChoice.USUAL:
        JobNotices.objects.filter(person=person, job=job).delete()
    else:
        JobNotices.objects.update_or_create(person=person, job=job, defaults={"choice": choice})
    return JobChoice(choice)


def mark_read(person: User, ids: Sequence[int] | None = None) -> int:
    """Mark some notices of this person as read, or all (None); how many were not."""
    rows = Notice.objects.filter(person=person, read_at=None)
    return (rows if ids is None else rows.filter(pk__in=ids)).update(read_at=timezone.now())


def send_test(person: User) -> Notice:
    """Tell this person, by every way, that notices arrive. Raises BusyError for one test right after the other."""
    newest = Notice.objects.filter(person=person, kind=NoticeKind.TEST).first()
    if newest is not None and 0 <= (timezone.now() - newest.created_at).total_seconds() < _BETWEEN_TESTS:
        raise BusyError(f"A test was sent just now; wait {_BETWEEN_TESTS} s for the next.", _BETWEEN_TESTS)
    with transaction.atomic():
        tell(person, NoticeKind.TEST)
    return selectors.on_page(person).filter(kind=NoticeKind.TEST)[0]


def _kinds(name: str, value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or any(each not in _KINDS for each in value):
        raise InputError(name, value, "a list of " + ", ".join(_KINDS))
    return [kind for kind in _KINDS if kind in value]


def _mail_address(name: str, value: Any) -> str:
    text = str(value or "").strip()
    if text:
        try:
            validate_email(text)
        except ValidationError as error:
            raise InputError(name, text, "an e-mail address, such as ada@example.org, or nothing") from error
    return text


def _webhook(name: str, value: Any) -> str:
    text = str(value or "").strip()
    if text:
        WebhookAddress.parse(text)
    return text


def _format(name: str, value: Any) -> str:
    if value not in _FORMATS:
        raise InputError(name, value, "one of " + ", ".join(_FORMATS))
    return str(value)


_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("page", "email", "webhook"), _kinds),
    "email_address": _mail_address,
    "webhook_url": _webhook,
    "webhook_format": _format,
}
