"""Behind a refusal nothing of its request is left on the connection."""

from __future__ import annotations

import pytest
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.test import RequestFactory

from gridportal.web.unread_body import UnreadBodyMiddleware

BODY = b"x" * 200_000


def posted(status: int) -> HttpRequest:
    request: HttpRequest = RequestFactory().post("/api/jobs/", BODY, content_type="application/json")
    assert UnreadBodyMiddleware(lambda _: HttpResponse(status=status))(request).status_code == status
    return request


def test_the_body_of_a_request_that_is_refused_is_read() -> None:
    assert posted(429).read() == b""


def test_other_answers_leave_it_to_the_server() -> None:
    assert posted(200).read() == BODY


def test_a_client_that_is_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> bytes:
        raise UnreadablePostError

    monkeypatch.setattr(HttpRequest, "read", gone)
    posted(429)


def test_a_body_that_was_read_is_no_error() -> None:
    request: HttpRequest = RequestFactory().post("/api/jobs/", BODY, content_type="application/json")

    def refuse(asked: HttpRequest) -> HttpResponse:
        return HttpResponse(str(len(asked.body)), status=429)

    assert UnreadBodyMiddleware(refuse)(request).content == b"200000"
