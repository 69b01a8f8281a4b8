"""How much one person may send within a minute: forms and REST counted together, each person alone."""

from __future__ import annotations

import time
from typing import Any

import pytest

from gridportal.web import write_limit
from tests.markup import markup


@pytest.fixture
def few(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two a minute, at a moment 20 s before the minute ends."""
    settings.PORTAL = settings.PORTAL.model_copy(update={"writes_a_minute": 2})
    now = 60.0 * (time.time() // 60) + 40.0
    monkeypatch.setattr(write_limit.time, "time", lambda: now)


def test_who_sends_too_many_forms_is_told_when_to_come_again(client_as: Any, few: None) -> None:
    client = client_as("user")
    assert [client.post("/notices/read").status_code for _ in range(2)] == [302, 302]
    refused = client.post("/notices/read")
    assert (refused.status_code, refused["Retry-After"]) == (429, "20")
    assert "You sent more than 2 forms within this minute" in markup(refused)
    assert "Send it again in 20 seconds." in markup(refused)
    assert client.get("/jobs/").status_code == 200
    assert client_as("other").post("/notices/read").status_code == 302


def test_forms_and_rest_are_counted_together(client_as: Any, few: None) -> None:
    client = client_as("user")
    client.post("/notices/read")
    assert client.post("/api/notices/read", {}, content_type="application/json").status_code == 200
    refused = client.post("/api/notices/read", {}, content_type="application/json")
    assert (refused.status_code, refused["Retry-After"]) == (429, "20")
    assert refused.json()["detail"].endswith("Try again in 20 seconds.")
    assert client.get("/api/notices").status_code == 200


def test_the_next_minute_begins_anew(client_as: Any, few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    client, now = client_as("user"), write_limit.time.time()
    assert [client.post("/notices/read").status_code for _ in range(3)][-1] == 429
    monkeypatch.setattr(write_limit.time, "time", lambda: now + 20.0)
    assert client.post("/notices/read").status_code == 302
