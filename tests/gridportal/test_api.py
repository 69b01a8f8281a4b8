"""What all of the API shares: its document, its errors, its limits."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from gridportal import api_limits
from gridportal.api import explain
from gridportal.errors import BackendError, GridPortalError, ImpossibleError, InputError


def test_the_openapi_document_is_made_without_a_warning():
    out = io.StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=out)
    assert "/api/jobs/{id}/cancel:" in out.getvalue()
    assert "scheme: bearer" in out.getvalue()


def test_the_docs_page_runs_no_inline_script(client_as):
    client = client_as("user")
    page = client.get("/api/docs").content.decode()
    inline = [piece for piece in page.split("<script")[1:] if "src=" not in piece.split(">")[0]]
    assert inline == []
    assert "https://" not in page
    assert client.get("/api/docs?script=").status_code == 200


@pytest.mark.parametrize(
    ("error", "status", "key"),
    [
        (InputError("nodes", 0, "one or more"), 400, "nodes"),
        (BackendError("The Grid is down."), 503, "detail"),
        (ImpossibleError("No."), 409, "detail"),
        (GridPortalError("No."), 409, "detail"),
    ],
)
def test_our_errors_have_a_status_and_one_sentence(error, status, key):
    answer = explain(error, {})
    assert (answer.status_code, list(answer.data)) == (status, [key])


def test_other_errors_are_not_hidden():
    assert explain(KeyError("x"), {}) is None


def test_whoever_asks_too_often_is_told_to_wait(client_as, monkeypatch):
    monkeypatch.setattr(api_limits.PersonThrottle, "rate", "3/min")
    client = client_as("user")
    codes = [client.get("/api/me").status_code for _ in range(4)]
    assert codes == [200, 200, 200, 429]
    assert client_as("other").get("/api/me").status_code == 200


def test_unknown_addresses_of_the_api_are_404(client_as):
    assert client_as("user").get("/api/nothing").status_code == 404


def test_a_body_that_is_too_long_is_refused_unread(client_as):
    body = '{"name": "' + "x" * 1_000_001 + '"}'
    assert client_as("user").post("/api/tokens", body, content_type="application/json").status_code == 413


def test_only_json_is_read(client_as):
    assert client_as("user").post("/api/tokens", {"name": "form"}).status_code == 415
