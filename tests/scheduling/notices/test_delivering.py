"""E-mails to a real SMTP server and webhooks to a real HTTP server: once, again after a pause, not for ever."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.errors import BusyError, InputError
from scheduling.jobs.models import Job
from scheduling.notices import notice_messages
from scheduling.notices.adapters import webhook
from scheduling.notices.adapters.delivery_error import DeliveryError
from scheduling.notices.core.back_off import MOST_ATTEMPTS
from scheduling.notices.core.notice_kinds import NoticeKind
from scheduling.notices.core.webhook_address import WebhookAddress
from scheduling.notices.models import Delivery, Notice, NoticeSettings
from scheduling.notices.services import choices, delivering, writing_notices
from tests.scheduling.notices.receivers import Hook, Mailbox, hook_server, mail_server

LOOPBACK = ("127.0.0.0/8",)


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[str, Mailbox, Hook]]:
    with mail_server() as (address, mailbox), hook_server() as hook:
        yield address, mailbox, hook


@pytest.fixture
def portal(settings: Any, servers: Any) -> Any:
    """The portal's settings: that mail server, webhooks on loopback allowed, a secret, a token for Matrix."""
    address, mailbox, hook = servers
    mailbox.letters, mailbox.answer = [], "250 OK"
    hook.requests, hook.status, hook.headers, hook.hold = [], 200, {}, None
    changes = {
        "mail_url": address,
        "mail_from": "GridPortal <portal@grid.example>",
        "public_url": "https://portal.example",
        "webhook_networks": LOOPBACK,
        "webhook_secret": "s3cret",
        "webhook_tokens": {hook.address.removeprefix("http://"): "syt_token"},
    }
    settings.PORTAL = settings.PORTAL.model_copy(update=changes)
    return settings.PORTAL


@pytest.fixture
def mailbox(portal: Any, servers: Any) -> Mailbox:
    return servers[1]


@pytest.fixture
def hook(portal: Any, servers: Any) -> Hook:
    return servers[2]


@pytest.fixture
def job(make_job: Any, people: Any) -> Job:
    made: Job = make_job(people["user"], "failed")
    Job.objects.filter(pk=made.pk).update(name="of ada & bob")
    return made


def tell(people: Any, job: Job, **chosen: Any) -> Notice:
    """A failure of the job, told by the ways that were chosen."""
    choices.change_settings(people["user"], chosen)
    writing_notices.tell(people["user"], NoticeKind.FAILED, job=Job.objects.get(pk=job.pk))
    return Notice.objects.latest("pk")


def send() -> int:
    return delivering.send_due(notice_messages.letter)


def a_pause_later() -> None:
    Delivery.objects.update(next_at=timezone.now())


def test_an_email_arrives_once_with_its_link(people: Any, job: Job, mailbox: Mailbox) -> None:
    notice = tell(people, job, email=["failed"], email_address="ada@example.org")
    assert [send(), send()] == [1, 0]
    (letter,) = mailbox.letters
    assert letter["Subject"] == f"Job {job.pk} (of ada & bob) has failed"
    assert letter["X-To"] == "ada@example.org"
    assert letter["Message-ID"] == f"<{notice.key}@grid.example>"
    assert f"https://portal.example/jobs/{job.pk}/" in letter.get_content()
    assert Delivery.objects.get().state == "sent"


def test_a_webhook_is_signed_and_names_the_job(people: Any, job: Job, hook: Hook) -> None:
    notice = tell(people, job, webhook=["failed"], webhook_url=f"{hook.address}/x?y=1")
    assert [send(), send()] == [1, 0]
    (request,) = hook.requests
    assert (request.verb, request.path) == ("POST", "/x?y=1")
    assert request.body["job"] == {"id": job.pk, "name": "of ada & bob", "state": "failed"}
    assert (request.body["kind"], request.body["link"]) == ("failed", f"https://portal.example/jobs/{job.pk}/")
    assert request.headers["Idempotency-Key"] == str(notice.key)
    expected = hmac.new(b"s3cret", request.raw, hashlib.sha256).hexdigest()
    assert request.headers["X-GridPortal-Signature"] == f"sha256={expected}"


def test_slack_gets_its_own_format_and_no_secret(people: Any, job: Job, hook: Hook) -> None:
    tell(people, job, webhook=["failed"], webhook_url=f"{hook.address}/services/T/B/x", webhook_format="slack")
    assert send() == 1
    (request,) = hook.requests
    assert set(request.body) == {"text"}
    assert request.body["text"].startswith(f"*Job {job.pk} (of ada &amp; bob) has failed*")
    assert not {"X-GridPortal-Signature", "Authorization"} & set(request.headers)


def test_matrix_gets_a_transaction_of_its_own_and_the_token_of_its_server(people: Any, job: Job, hook: Hook) -> None:
    path = "/_matrix/client/v3/rooms/!room:m.example/send/m.room.message"
    notice = tell(people, job, webhook=["failed"], webhook_url=f"{hook.address}{path}", webhook_format="matrix")
    assert send() == 1
    (request,) = hook.requests
    assert (request.verb, request.path) == ("PUT", f"{path}/{notice.key}")
    assert request.headers["Authorization"] == "Bearer syt_token"
    assert request.body["formatted_body"].startswith(f"<strong>Job {job.pk} (of ada &amp; bob) has failed</strong>")


def test_what_fails_for_now_is_sent_again_with_the_same_key(people: Any, job: Job, hook: Hook) -> None:
    tell(people, job, webhook=["failed"], webhook_url=hook.address)
    hook.status = 503
    assert [send(), send()] == [0, 0]
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.error) == ("pending", 1, "127.0.0.1 answered with status 503.")
    assert row.next_at > timezone.now() + timedelta(seconds=10)
    hook.status = 204
    a_pause_later()
    assert send() == 1
    keys = [request.headers["Idempotency-Key"] for request in hook.requests]
    assert len(keys) == 2
    assert len(set(keys)) == 1
    row.refresh_from_db()
    assert (row.state, row.error) == ("sent", "")


@pytest.mark.parametrize("status", [400, 404, 410])
def test_what_would_fail_again_is_given_up(people: Any, job: Job, hook: Hook, status: int) -> None:
    tell(people, job, webhook=["failed"], webhook_url=hook.address)
    hook.status = status
    assert send() == 0
    assert Delivery.objects.get().state == "given up"


def test_it_is_not_tried_for_ever(people: Any, job: Job, hook: Hook) -> None:
    tell(people, job, webhook=["failed"], webhook_url=hook.address)
    hook.status = 500
    for _ in range(MOST_ATTEMPTS + 3):
        a_pause_later()
        send()
    assert Delivery.objects.get().state == "given up"
    assert len(hook.requests) == MOST_ATTEMPTS


def test_a_redirect_is_not_followed(people: Any, job: Job, hook: Hook) -> None:
    tell(people, job, webhook=["failed"], webhook_url=f"{hook.address}/first")
    hook.status, hook.headers = 302, {"Location": f"{hook.address}/second"}
    assert send() == 0
    assert [request.path for request in hook.requests] == ["/first"]
    assert Delivery.objects.get().error == "127.0.0.1 sends on to another address, which is not followed."


def test_a_private_network_is_refused_unless_an_administrator_allows_it(
    people: Any, job: Job, hook: Hook, settings: Any
) -> None:
    tell(people, job, webhook=["failed"], webhook_url=hook.address)
    settings.PORTAL = settings.PORTAL.model_copy(update={"webhook_networks": ()})
    assert send() == 0
    assert hook.requests == []
    row = Delivery.objects.get()
    assert (row.state, "is in a private network" in row.error) == ("given up", True)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "[fe80::1]", "2130706433"]
)
def test_no_address_inside_is_saved_unless_an_administrator_allows_its_network(people: Any, host: str) -> None:
    with pytest.raises(InputError, match=r"is in a private network.*GRIDPORTAL_WEBHOOK_NETWORKS") as refused:
        choices.change_settings(people["user"], {"webhook_url": f"http://{host}/x"})
    assert refused.value.field == "webhook_url"


def test_what_is_allowed_and_a_name_that_leads_nowhere_now_are_saved(people: Any, hook: Hook) -> None:
    choices.change_settings(people["user"], {"webhook_url": hook.address})
    name = WebhookAddress.parse("https://name.example/")
    held = threading.Event()

    def late(host: str, port: int) -> list[str]:
        held.wait(60)
        return ["10.0.0.1"]

    assert webhook.leads_inside(name, resolve=lambda host, port: ["93.184.215.14", "10.0.0.1"])
    assert not webhook.leads_inside(name, resolve=lambda host, port: [])
    assert not webhook.leads_inside(name, resolve=late, seconds=0.05)
    held.set()


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(hook: Hook) -> None:
    answers = iter([["127.0.0.1"], ["10.9.9.9"]])
    address = WebhookAddress.parse(hook.address.replace("127.0.0.1", "name.example"))
    webhook.send(address, "POST", b"{}", {}, allowed=LOOPBACK, resolve=lambda host, port: next(answers))
    assert hook.requests[0].headers["Host"] == f"name.example:{address.port}"
    with pytest.raises(DeliveryError, match=r"name\.example is in a private network"):
        webhook.send(address, "POST", b"{}", {}, allowed=LOOPBACK, resolve=lambda host, port: next(answers))


def test_a_receiver_that_does_not_answer_is_left(hook: Hook) -> None:
    hook.hold = threading.Event()
    address = WebhookAddress.parse(hook.address)
    with pytest.raises(DeliveryError, match="it took too long"):
        webhook.send(address, "POST", b"{}", {}, allowed=LOOPBACK, seconds=0.3)
    hook.hold.set()


def test_nobody_there_is_tried_again(people: Any, job: Job, portal: Any) -> None:
    tell(people, job, webhook=["failed"], webhook_url="http://127.0.0.1:1/")
    assert send() == 0
    row = Delivery.objects.get()
    assert (row.state, row.error) == ("pending", "127.0.0.1 did not answer: Connection refused.")


@pytest.mark.parametrize(("answer", "state"), [("451 later", "pending"), ("250 OK", "sent")])
def test_a_mail_server_may_ask_to_come_later(people: Any, job: Job, mailbox: Mailbox, answer: str, state: str) -> None:
    tell(people, job, email=["failed"], email_address="ada@example.org")
    mailbox.answer = answer
    send()
    assert Delivery.objects.get().state == state


@pytest.mark.parametrize("address", ["ada@example.org\nBcc: all@example.org", "ada\r\n@example.org"])
def test_an_address_that_no_letter_can_have_ends_it_with_a_reason(
    people: Any, job: Job, mailbox: Mailbox, address: str
) -> None:
    tell(people, job, email=["failed"], email_address="ada@example.org")
    NoticeSettings.objects.update(email_address=address)
    assert send() == 0
    row = Delivery.objects.get()
    assert row.state == "given up"
    assert "address" in row.error
    assert mailbox.letters == []


def test_a_worker_that_dies_while_it_sends_costs_a_pause(
    people: Any, job: Job, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice = tell(people, job, webhook=["failed"], webhook_url=hook.address)

    class Killed(BaseException):
        pass

    def killed(*args: Any, **options: Any) -> bool:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(delivering, "advance", killed)
        with pytest.raises(Killed):
            send()
    assert send() == 0, "its lease and the pause keep others away"
    Delivery.objects.update(next_at=timezone.now(), lease_until=timezone.now())
    assert send() == 1
    assert {request.headers["Idempotency-Key"] for request in hook.requests} == {str(notice.key)}
    assert Delivery.objects.get().attempts == 2


def test_of_two_workers_one_sends(people: Any, job: Job, hook: Hook) -> None:
    tell(people, job, webhook=["failed"], webhook_url=hook.address)
    (pk,) = Delivery.objects.values_list("pk", flat=True)
    assert delivering._lease.acquire(Delivery.objects.filter(pk=pk))
    assert not delivering._send(pk, notice_messages.letter)
    assert hook.requests == []


def test_a_way_that_was_taken_away_meanwhile_is_not_used(people: Any, job: Job, hook: Hook) -> None:
    tell(people, job, webhook=["failed"], webhook_url=hook.address)
    choices.change_settings(people["user"], {"webhook_url": ""})
    assert send() == 0
    assert (hook.requests, Delivery.objects.get().state) == ([], "given up")


def test_a_test_goes_by_every_way_and_not_twice_at_once(people: Any, mailbox: Mailbox, hook: Hook) -> None:
    choices.change_settings(people["user"], {"email_address": "ada@example.org", "webhook_url": hook.address})
    choices.send_test(people["user"])
    with pytest.raises(BusyError, match="wait 10 s"):
        choices.send_test(people["user"])
    assert send() == 2
    assert hook.requests[0].body["text"] == "Notices of GridPortal arrive here."
    assert len(mailbox.letters) == 1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"page": ["nonsense"]}, "page is 'nonsense'; accepted is a list of started, ended, failed, waits, proposed, "),
        ({"email_address": "nobody"}, "email_address is 'nobody'; accepted is an e-mail address"),
        ({"email_address": "a@b.example\nBcc: c@d.example"}, "email_address is"),
        ({"webhook_url": "ftp://a.example"}, "webhook_url is '…'; accepted is an address that begins with https://"),
        ({"webhook_format": "teams"}, "webhook_format is 'teams'; accepted is one of json, slack, matrix."),
        ({"webhook_url": "https://m.example/", "webhook_format": "matrix"}, "webhook_url is '…'"),
        ({"colour": "red"}, "notices is 'colour'; accepted is one of page"),
    ],
)
def test_choices_that_cannot_be_are_refused_in_a_sentence(people: Any, changes: Any, says: str) -> None:
    with pytest.raises(InputError) as caught:
        choices.change_settings(people["user"], changes)
    assert str(caught.value).startswith(says)
    assert choices.selectors.settings_of(people["user"]).pk is None
