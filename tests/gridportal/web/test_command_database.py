"""What a command prints is its own: lines of the servers' logs are not among it."""

from __future__ import annotations

import logging

import pytest

from gridportal.web.command_database import database

log = logging.getLogger("scheduling.jobs.services.advance")


@pytest.mark.django_db
@pytest.mark.parametrize(("level", "shown"), [(logging.INFO, False), (logging.DEBUG, True)])
def test_what_servers_note_is_shown_only_where_more_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, level: int, shown: bool
) -> None:
    monkeypatch.setattr("gridportal.base.home.join", lambda: None)
    monkeypatch.setattr("gridportal.web.command_database.set_up_django", lambda: None)
    monkeypatch.setattr("os.path.exists", lambda _: True)
    caplog.set_level(level)
    with database():
        log.info("job 5: failed to stopped")
        log.warning("job 5: lost")
    assert ("job 5: failed to stopped" in caplog.text) is shown
    assert "job 5: lost" in caplog.text
    assert logging.getLogger().level == level
