"""No log holds the secret of a shared link: neither the web server's nor the portal's."""

from __future__ import annotations

import logging
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.conf import settings
from gunicorn.config import Config

from gridportal.serve import programs
from gridportal.serve.access_log import AccessLog
from gridportal.web.hidden_secrets import without_secrets
from gridportal.web.log_filters import HiddenSecrets

SECRET = "Zk3_-9secret"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"GET /shared/{SECRET} HTTP/1.1", "GET /shared/... HTTP/1.1"),
        (f"https://portal.example/shared/{SECRET}?next=1", "https://portal.example/shared/...?next=1"),
        ("GET /jobs/7/share HTTP/1.1", "GET /jobs/7/share HTTP/1.1"),
    ],
)
def test_the_secret_of_an_address_is_left_out(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


def test_the_web_servers_log_has_no_secret_in_address_and_referrer() -> None:
    path, config = f"/shared/{SECRET}", Config()
    environ = {
        "REQUEST_METHOD": "GET",
        "RAW_URI": path,
        "PATH_INFO": path,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_REFERER": f"http://portal.example{path}",
    }
    answer = SimpleNamespace(status="200 OK", sent=5, headers=[])
    atoms = AccessLog(config).atoms(answer, SimpleNamespace(headers=[]), environ, timedelta(seconds=1))
    line = config.access_log_format % {name: atoms.get(name, "-") for name in "hluatrsbfTDLmUqHBp"}
    assert SECRET not in line
    assert "GET /shared/... HTTP/1.1" in line
    assert programs.ACCESS_LOG in programs.web("127.0.0.1:0", workers=1)


def test_the_portals_log_has_no_secret() -> None:
    record = logging.LogRecord("django.request", logging.WARNING, "x", 1, "Not Found: %s", (f"/shared/{SECRET}",), None)
    assert HiddenSecrets().filter(record)
    assert record.getMessage() == "Not Found: /shared/..."
    assert "secrets" in settings.LOGGING["handlers"]["stderr"]["filters"]
