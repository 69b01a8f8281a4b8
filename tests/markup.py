"""The HTML of an answer, written as it is rendered: how a template is broken into lines is not what a test is about."""

from __future__ import annotations

import re

from django.http import HttpResponseBase

_KEPT = re.compile(r"(<(pre|script|textarea)\b.*?</\2>)", re.DOTALL)
_BLOCKS = (
    "a|article|body|button|caption|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header"
    "|html|label|legend|li|link|main|meta|nav|ol|option|p|path|progress|select|span|style|summary|svg|table|tbody|td|text"
    "|th|thead|title|tr|ul"
)
_OPENED = re.compile(rf"(<(?:{_BLOCKS})\b[^>]*>) ")
_CLOSED = re.compile(rf" (</(?:{_BLOCKS})>)")
_BETWEEN = re.compile(r"> <")


def markup(answer: HttpResponseBase) -> str:
    """A page with one space where it has white space, and none within the edges of an element or between two; what is
    no page stays as it is. Text that is sent piece by piece is put together."""
    content = (b"".join(answer) if answer.streaming else answer.content).decode()
    if not answer.headers["Content-Type"].startswith("text/html"):
        return content
    parts = _KEPT.split(content)
    kept, plain = parts[1::3], parts[::3]
    lines = [_plain(text) + box for text, box in zip(plain, [*kept, ""], strict=True)]
    return "".join(lines)


def _plain(text: str) -> str:
    text = re.sub(r"\s+>", ">", re.sub(r"\s+", " ", text))
    return _BETWEEN.sub("><", _CLOSED.sub(r"\1", _OPENED.sub(r"\1", text)))
