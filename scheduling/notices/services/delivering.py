"""Sending what is due: each delivery by one worker at a time, again after a pause that doubles, and not for ever.

The next attempt is written down before this one begins. A worker that is killed after the receiver has it, and before
that is written down, has it sent again, with the same key: a receiver can tell, and the page says it once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from gridportal.base.errors import InputError
from gridportal.base.lease import Lease
from gridportal.database.row_lease import RowLease, of_workers
from scheduling.jobs.services.advance import advance
from scheduling.notices import selectors
from scheduling.notices.adapters import mail, webhook
from scheduling.notices.adapters.delivery_error import DeliveryError
from scheduling.notices.core.back_off import LONGEST, MOST_ATTEMPTS, pause
from scheduling.notices.core.letter import Letter, signature, webhook_body
from scheduling.notices.core.notice_kinds import Channel, DeliveryState, WebhookFormat
from scheduling.notices.core.webhook_address import WebhookAddress
from scheduling.notices.models import Delivery, Notice, NoticeSettings
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.one_at_a_time import OneAtATime

log = logging.getLogger(__name__)
_turns = OneAtATime()
_lease = RowLease(Delivery, "lease", lambda: Lease(of_workers().lasting))
#: In one pass so many are sent at most, and none is begun after so many seconds.
_MOST, _SECONDS = 50, 20.0
_MOST_ERROR = 300


#: The letter of a notice, with links that begin with the portal's own address.
Write = Callable[[Notice, str], Letter]


def send_due(write: Write) -> int:
    """Send what is due, in the words of `write`; how many arrived."""
    turn = _turns.begin("")
    if turn is None:
        return 0
    with turn:
        return _send_due(write)


def _send_due(write: Write) -> int:
    until, sent, slow = time.monotonic() + _SECONDS, 0, set[str]()
    for delivery in _due().select_related("notice__person")[:_MOST]:
        if time.monotonic() > until:
            break
        where = _where(delivery)
        if where in slow:
            continue
        began = time.monotonic()
        sent += bool(isolated(str(delivery), partial(_send, delivery.pk, write)).value)
        if time.monotonic() - began > webhook.TIME_LIMIT / 2:
            slow.add(where)  # whoever else waits for it is served in the next pass
    return sent


def _due() -> QuerySet[Delivery]:
    """A time that lies further ahead than any pause was set before the clock was set back."""
    now = timezone.now()
    late = Q(next_at__lte=now) | Q(next_at__gt=now + 2 * LONGEST)
    return Delivery.objects.filter(late, _lease.over(now), state=DeliveryState.PENDING).order_by("next_at", "pk")


def _where(delivery: Delivery) -> str:
    wanted = selectors.settings_of(delivery.notice.person)
    if delivery.channel == Channel.EMAIL:
        return Channel.EMAIL
    return wanted.webhook_url.partition("//")[2].partition("/")[0]


def _send(pk: int, write: Write) -> bool:
    rows = Delivery.objects.filter(pk=pk, state=DeliveryState.PENDING)
    holder = _lease.acquire(rows, attempts=F("attempts") + 1)
    if not holder:
        return False
    about = ("job", "decision", "alert__rule", "project", "report", "application")
    delivery = rows.select_related("notice__person", *(f"notice__{name}" for name in about)).get()
    rows.update(next_at=timezone.now() + pause(delivery.attempts))
    if delivery.attempts > MOST_ATTEMPTS:  # the workers that tried it last were lost
        return not advance(delivery, DeliveryState.GIVEN_UP, holder=holder)
    with _lease.keep(holder):
        try:
            send = _by_mail if delivery.channel == Channel.EMAIL else _by_webhook
            send(delivery, write(delivery.notice, settings.PORTAL.public_url))
        except DeliveryError as error:
            _failed(delivery, holder, error)
            return False
    return advance(delivery, DeliveryState.SENT, holder=holder, sent_at=timezone.now(), error="")


def _failed(delivery: Delivery, holder: str, error: DeliveryError) -> None:
    text = str(error)[:_MOST_ERROR]
    log.warning("%s, attempt %d: %s", delivery, delivery.attempts, text)
    if error.lasting or delivery.attempts >= MOST_ATTEMPTS:
        advance(delivery, DeliveryState.GIVEN_UP, holder=holder, error=text)
        return
    again = timezone.now() + pause(delivery.attempts)
    _lease.release(holder, error=text, next_at=again)


def _by_mail(delivery: Delivery, letter: Letter) -> None:
    portal, wanted = settings.PORTAL, selectors.settings_of(delivery.notice.person)
    if not portal.mail_url:
        raise DeliveryError("This portal has no mail server (GRIDPORTAL_MAIL_URL).", lasting=True)
    if not wanted.mail_address:
        raise DeliveryError("There is no e-mail address any more.", lasting=True)
    message = mail.message_of(letter, portal.mail_from, wanted.mail_address)
    mail.send(mail.MailServer.read(portal.mail_url), message)


def _by_webhook(delivery: Delivery, letter: Letter) -> None:
    wanted = selectors.settings_of(delivery.notice.person)
    if not wanted.webhook_url:
        raise DeliveryError("There is no webhook any more.", lasting=True)
    format = WebhookFormat(wanted.webhook_format)
    try:
        address = WebhookAddress.parse(wanted.webhook_url, format)
    except InputError as error:
        raise DeliveryError(str(error), lasting=True) from error
    body = webhook_body(letter, format)
    verb, address, headers = _request(address, letter, format, body)
    webhook.send(address, verb, body, headers, allowed=settings.PORTAL.webhook_networks)


def _request(
    address: WebhookAddress, letter: Letter, format: WebhookFormat, body: bytes
) -> tuple[str, WebhookAddress, dict[str, str]]:
    """Verb, address and headers. A Matrix server takes a transaction once, by the key at the end of its address."""
    portal = settings.PORTAL
    headers = {"Content-Type": "application/json", "Idempotency-Key": letter.key}
    if format is WebhookFormat.MATRIX:
        there = WebhookAddress(address.scheme, address.host, address.port, f"{address.path}/{letter.key}")
        token = portal.webhook_tokens.get(address.authority, "")
        return "PUT", there, headers | ({"Authorization": f"Bearer {token}"} if token else {})
    if format is WebhookFormat.JSON and portal.webhook_secret:
        headers["X-GridPortal-Signature"] = signature(body, portal.webhook_secret)
    return "POST", address, headers


def is_set_up(wanted: NoticeSettings) -> dict[Channel, bool]:
    """Whether anything can reach a person by each way."""
    has_mail = bool(settings.PORTAL.mail_url and wanted.mail_address)
    return {Channel.EMAIL: has_mail, Channel.WEBHOOK: bool(wanted.webhook_url)}
