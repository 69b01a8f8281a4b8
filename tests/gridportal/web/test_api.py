"""What all of the API shares: its document, its errors, its limits."""

from __future__ import annotations

import io
import re
import time

import pytest
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.management import call_command
from django.db import IntegrityError, InterfaceError, OperationalError

from gridportal.base.errors import BackendError, GridPortalError, ImpossibleError, InputError
from gridportal.web import api_addresses, api_limits
from gridportal.web.api import explain


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


def test_who_is_not_signed_in_is_led_from_the_docs_page_to_sign_in_and_back(db, client):
    answer = client.get("/api/docs?deepLinking=true")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=/api/docs%3FdeepLinking%3Dtrue")
    assert client.get("/api/jobs").status_code == 401
    assert client.get("/api/schema").status_code == 401
    assert client.get("/api/docs", headers={"Authorization": "Bearer wrong"}).status_code == 401


@pytest.mark.parametrize(
    ("address", "field", "accepted"),
    [
        ("/api/jobs?state=nonsense", "state", "one of active, "),
        ("/api/jobs?ordering=-nonsense", "ordering", "one of id, name, application, owner, state, nodes, submitted, "),
        ("/api/match-requests?show=nonsense", "show", "one of waiting, answered, over."),
        ("/api/saved-views?list=nonsense", "list", "one of jobs, "),
        ("/api/alerts?state=nonsense", "state", "one of firing, ended."),
    ],
)
def test_a_list_refuses_a_value_that_it_cannot_go_by(client_as, address, field, accepted):
    answer = client_as("user").get(address)
    assert answer.status_code == 400
    (sentence,) = answer.json()[field]
    assert sentence.startswith(f"{field} is '")
    assert f"nonsense'; accepted is {accepted}" in sentence


@pytest.mark.parametrize(
    ("error", "status", "key"),
    [
        (InputError("nodes", 0, "one or more"), 400, "nodes"),
        (BackendError("The Grid is down."), 503, "detail"),
        (ImpossibleError("No."), 400, "detail"),
        (GridPortalError("No."), 409, "detail"),
    ],
)
def test_our_errors_have_a_status_and_one_sentence(error, status, key):
    answer = explain(error, {})
    assert (answer.status_code, list(answer.data)) == (status, [key])


def test_other_errors_are_not_hidden():
    assert explain(KeyError("x"), {}) is None


@pytest.mark.parametrize("error", [OperationalError("terminating connection"), InterfaceError("it is closed")])
def test_a_database_that_does_not_answer_is_no_fault_of_the_portal_and_worth_another_try(error):
    answer = explain(error, {})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert "ask again" in answer.data["detail"]
    assert explain(IntegrityError("twice"), {}) is None


def test_a_clock_that_was_set_back_keeps_nobody_out(client_as, monkeypatch):
    monkeypatch.setattr(api_limits.PersonThrottle, "rate", "3/min")
    client, now = client_as("user"), time.time()
    with monkeypatch.context() as ahead:
        ahead.setattr(api_limits.PersonThrottle, "timer", lambda self: now + 3600)
        ahead.setattr(api_limits.time, "time", lambda: now + 3600)
        assert [client.get("/api/me").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert client.get("/api/me").status_code == 200


def test_whoever_asks_too_often_is_told_to_wait(client_as, monkeypatch):
    monkeypatch.setattr(api_limits.PersonThrottle, "rate", "3/min")
    client = client_as("user")
    codes = [client.get("/api/me").status_code for _ in range(4)]
    assert codes == [200, 200, 200, 429]
    assert client_as("other").get("/api/me").status_code == 200


@pytest.mark.parametrize("role", ["user", "anonymous"])
@pytest.mark.parametrize("address", ["/api/nothing", "/api/jobs/x/y", "/api/docs/more/"])
def test_unknown_addresses_of_the_api_are_404_in_one_sentence(client_as, role, address):
    answer = client_as(role).get(address)
    assert answer.status_code == 404
    assert answer.json() == {"detail": f"There is nothing at {address.rstrip('/')}; /api/docs lists every address."}


def test_unknown_addresses_elsewhere_are_a_page(client_as):
    answer = client_as("user").get("/apix/nothing")
    assert answer.status_code == 404
    assert "There is nothing at this address" in answer.content.decode()


@pytest.mark.parametrize("address", ["docs", "schema", "jobs", "applications", "me", "network/status", ""])
def test_a_slash_at_the_end_changes_nothing(client_as, address):
    plain, slashed = (client_as("user").get(f"/api/{address}{slash}") for slash in ("", "/"))
    assert plain.status_code == slashed.status_code
    assert plain.status_code == (404 if address == "network/status" else 200)
    token = rb'(csrf[^>]*?value=")\w+'  # each answer has its own
    assert re.sub(token, rb"\1", plain.content) == re.sub(token, rb"\1", slashed.content)


def test_a_post_with_a_slash_keeps_its_body(client_as):
    made = client_as("user").post("/api/tokens/", {"name": "slashed"}, content_type="application/json")
    assert made.status_code == 201
    assert made.json()["name"] == "slashed"


def test_the_document_lists_each_address_in_one_form(client_as):
    paths = client_as("user").get("/api/schema?format=json").json()["paths"]
    assert len(paths) > 20
    assert not [path for path in paths if path.endswith("/")]


def index_codes(client):
    """What the addresses of the index answer to whom."""
    links = client.get("/api").json()
    assert links["documentation"] == "http://testserver/api/docs"
    return {word: client.get(link.removeprefix("http://testserver")).status_code for word, link in links.items()}


#: Answers of addresses that want a question, or a cluster whose telemetry is there.
ASKED = {"preview": 405, "flows": 405, "logical": 400, "series": 400}
NO_TELEMETRY = dict.fromkeys(("network", "nodes", "links", "status", "telemetry"), 404)


def test_the_index_leads_to_addresses_that_are_there(client_as):
    of_operators = dict.fromkeys(("groups", "workload_logs", "depots", "clusters", "people", "audit"), 403)
    codes = index_codes(client_as("user"))
    assert {word: code for word, code in codes.items() if code != 200} == ASKED | NO_TELEMETRY | of_operators


def test_no_address_of_the_index_is_refused_to_an_administrator(client_as):
    codes = index_codes(client_as("administrator"))
    assert {word: code for word, code in codes.items() if code != 200} == ASKED | NO_TELEMETRY


def test_a_failure_below_api_is_json_too(rf):
    answer = api_addresses.handle_500(rf.get("/api/jobs"))
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/json")
    assert api_addresses.handle_500(rf.get("/jobs/"))["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("length", [1_000_001, 3_000_000])
def test_a_body_that_is_too_long_is_refused_unread(client_as, length):
    """In one sentence, also where Django itself refuses it before the API is asked."""
    body = '{"name": "' + "x" * length + '"}'
    answer = client_as("user").post("/api/tokens", body, content_type="application/json")
    assert answer.status_code == 413
    assert answer.json()["detail"] == "The body is too long; accepted are at most 1000000 bytes."


def test_what_django_itself_refuses_is_json_too(rf):
    too_big = api_addresses.handle_400(rf.post("/api/jobs"), RequestDataTooBig())
    assert (too_big.status_code, too_big["Content-Type"]) == (413, "application/json")
    other = api_addresses.handle_400(rf.post("/api/jobs"), SuspiciousOperation())
    assert (other.status_code, other["Content-Type"]) == (400, "application/json")
    assert api_addresses.handle_400(rf.get("/jobs/"), SuspiciousOperation())["Content-Type"].startswith("text/html")


def test_only_json_is_read(client_as):
    assert client_as("user").post("/api/tokens", {"name": "form"}).status_code == 415
