"""What the log leaves out, and what it adds."""

from __future__ import annotations

import logging

import pytest
from django.conf import settings
from django.core.exceptions import RequestDataTooBig

from gridportal.web.log_filters import RefusalsInOneLine, RequestIds
from gridportal.web.middleware import current_request_id


@pytest.mark.parametrize(("status", "kept"), [(403, False), (500, True), (None, True)])
def test_only_refusals_lose_their_traceback(status, kept):
    record = logging.LogRecord(
        "django.request", logging.WARNING, "x", 1, "said", (), (ValueError, ValueError("x"), None)
    )
    if status is not None:
        record.status_code = status
    assert RefusalsInOneLine().filter(record)
    assert (record.exc_info is not None) == kept


def test_a_form_that_is_too_long_is_a_line_in_the_log(client_as, settings, caplog):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE, too_big = 10, RequestDataTooBig("too long")
    with caplog.at_level(logging.WARNING, "django"):
        answer = client_as("user").post("/jobs/many", {"do": "cancel" * 100})
    assert answer.status_code in (400, 413)
    assert "DATA_UPLOAD_MAX_MEMORY_SIZE" in caplog.text
    assert not any(record.exc_info for record in caplog.records)
    record = logging.LogRecord("django.security", logging.ERROR, "x", 1, "long", (), (RequestDataTooBig, too_big, None))
    assert RefusalsInOneLine().filter(record)
    assert record.exc_info is None


def test_whoever_may_not_see_a_page_is_a_line_in_the_log():
    assert settings.LOGGING["handlers"]["stderr"]["filters"][0] == "refusals"
    assert settings.LOGGING["filters"]["refusals"]["()"] == "gridportal.web.log_filters.RefusalsInOneLine"


@pytest.mark.parametrize(
    ("request_id", "shown"), [("4f1c2d3e", "WARNING 4f1c2d3e app late"), ("", "WARNING - app late")]
)
def test_a_line_in_the_log_names_its_request(request_id, shown):
    record = logging.LogRecord("app", logging.WARNING, "x", 1, "late", (), None)
    token = current_request_id.set(request_id)
    try:
        assert RequestIds().filter(record)
    finally:
        current_request_id.reset(token)
    line = logging.Formatter(settings.LOGGING["formatters"]["line"]["format"]).format(record)
    assert line.endswith(shown)
    assert "request-ids" in settings.LOGGING["handlers"]["stderr"]["filters"]
