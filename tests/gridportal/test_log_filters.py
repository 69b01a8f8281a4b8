"""What the log leaves out."""

from __future__ import annotations

import logging

import pytest
from django.conf import settings

from gridportal.log_filters import RefusalsInOneLine


@pytest.mark.parametrize(("status", "kept"), [(403, False), (500, True), (None, True)])
def test_only_refusals_lose_their_traceback(status, kept):
    record = logging.LogRecord(
        "django.request", logging.WARNING, "x", 1, "said", (), (ValueError, ValueError("x"), None)
    )
    if status is not None:
        record.status_code = status
    assert RefusalsInOneLine().filter(record)
    assert (record.exc_info is not None) == kept


def test_whoever_may_not_see_a_page_is_a_line_in_the_log():
    assert settings.LOGGING["handlers"]["stderr"]["filters"] == ["refusals"]
    assert settings.LOGGING["filters"]["refusals"]["()"] == "gridportal.log_filters.RefusalsInOneLine"
