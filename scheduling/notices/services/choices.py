"""What people choose: of what they are told and how, of one job, what they have read, and a test of it all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import BusyError, InputError, SeveralInputsError
from scheduling.jobs.models import Job
from scheduling.notices import selectors
from scheduling.notices.adapters.webhook import leads_inside
from scheduling.notices.core.notice_kinds import CHOSEN, JobChoice, NoticeKind, WebhookFormat
from scheduling.notices.core.webhook_address import WebhookAddress
from scheduling.notices.models import JobNotices, Notice, NoticeSettings
from scheduling.notices.services.writing_notices import tell

_KINDS = [kind.value for kind in CHOSEN]
_FORMATS = [each.value for each in WebhookFormat]
#: Seconds between two tests of one person.
_BETWEEN_TESTS = 10
#: What a webhook takes and where it is hang together.
_PAIR = frozenset({"webhook_url", "webhook_format"})


def change_settings(person: User, changes: Mapping[str, Any]) -> NoticeSettings:
    """Change what is named in `changes`. Raises SeveralInputsError with all that is wrong, and changes nothing then."""
    if errors := wrong_settings(person, changes):
        raise SeveralInputsError(errors)
    with transaction.atomic():
        NoticeSettings.objects.get_or_create(person=person)
        row = NoticeSettings.objects.select_for_update().get(person=person)
        for name, value in changes.items():
            setattr(row, name, _CHECKS[name](name, value))
        if row.webhook_url:  # the other half of the pair may have changed meanwhile
            WebhookAddress.parse(row.webhook_url, WebhookFormat(row.webhook_format))
        row.save()
        lists = {name: getattr(row, name) for name in ("page", "email", "webhook")}
        audit(person, "person.change_notices", person, **lists, address=row.email_address, format=row.webhook_format)
    return row


def wrong_settings(person: User, changes: Mapping[str, Any]) -> list[InputError]:
    """What is wrong with these changes, one error a field. A new webhook is looked up, for two seconds at most."""
    errors = [error for name, value in changes.items() if (error := _error_in(_check_setting, name, value))]
    fields = {error.field for error in errors}
    if changes.keys() & _PAIR and not fields & _PAIR:
        before = selectors.settings_of(person)
        both = [changes.get(name, getattr(before, name)) for name in ("webhook_url", "webhook_format")]
        if error := _error_in(_check_webhook, *both):
            errors.append(error)
    return errors


def _error_in(check: Callable[[str, Any], object], name: str, value: Any) -> InputError | None:
    try:
        check(name, value)
    except InputError as error:
        return error
    return None


def _check_setting(name: str, value: Any) -> None:
    if name not in _CHECKS:
        raise InputError("notices", name, "one of " + ", ".join(_CHECKS))
    _CHECKS[name](name, value)


def _check_webhook(url: str, format: str) -> None:
    if not url:
        return
    address = WebhookAddress.parse(url, WebhookFormat(format))
    if leads_inside(address, settings.PORTAL.webhook_networks):
        accepted = f"a public address; {address.host} is in a private network, which an administrator may allow "
        raise InputError("webhook_url", "…", accepted + "(GRIDPORTAL_WEBHOOK_NETWORKS)")


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
