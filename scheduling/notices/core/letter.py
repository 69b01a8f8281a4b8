"""One notice as it is sent: its words, where it leads, and the bodies of its requests."""

from __future__ import annotations

import hashlib
import hmac
import html
import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from scheduling.notices.core.notice_kinds import NoticeKind, WebhookFormat

_SLACK = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with an e-mail."""

    name: str
    main_type: str
    sub_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Letter:
    """`key` is the same at every attempt, so that whoever gets a letter twice can tell. `link` may be empty."""

    key: str
    kind: NoticeKind
    at: datetime
    title: str
    text: str
    link: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()


def webhook_body(letter: Letter, format: WebhookFormat) -> bytes:
    """What a webhook of this format is sent, as UTF-8 JSON.

    >>> at = datetime(2030, 1, 31, 12)
    >>> letter = Letter("k", NoticeKind.FAILED, at, "Job 7 <a> has failed", "It ended.", "https://p.example/jobs/7/")
    >>> json.loads(webhook_body(letter, WebhookFormat.SLACK))["text"]
    '*Job 7 &lt;a&gt; has failed*\\nIt ended.\\nhttps://p.example/jobs/7/'
    """
    lines = [line for line in (letter.text, letter.link) if line]
    if format is WebhookFormat.SLACK:
        return _json({"text": "\n".join([f"*{letter.title}*", *lines]).translate(_SLACK)})
    if format is WebhookFormat.MATRIX:
        rich = "<br>".join([f"<strong>{html.escape(letter.title)}</strong>", *map(html.escape, lines)])
        plain = "\n".join([letter.title, *lines])
        document = {"msgtype": "m.text", "body": plain, "format": "org.matrix.custom.html", "formatted_body": rich}
        return _json(document)
    fields = {"id": letter.key, "kind": letter.kind.value, "at": letter.at.isoformat(), "title": letter.title}
    return _json({**fields, "text": letter.text, "link": letter.link, **letter.facts})


def signature(body: bytes, secret: str) -> str:
    """By which a receiver that shares the secret knows that a body is the portal's: HMAC of SHA-256.

    >>> signature(b"{}", "s")[:14]
    'sha256=143ca8d'
    """
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()
