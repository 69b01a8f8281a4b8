"""Who opens an address that only takes forms comes to the page that has the form."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.markup import markup
from tests.test_permissions_matrix import TABLE, ask, world

__all__ = ["world"]

pytestmark = pytest.mark.django_db


def test_opening_the_address_of_a_button_leads_to_its_page_and_does_nothing(client_as, people, make_job):
    job = make_job(people["user"], "running")
    client = client_as("user")
    answer = client.get(f"/jobs/{job.pk}/cancel")
    assert (answer.status_code, answer["Location"]) == (302, f"/jobs/{job.pk}/")
    assert "Nothing was done." in markup(client.get(answer["Location"]))
    job.refresh_from_db()
    assert job.state == "running"


def test_every_address_of_a_form_leads_to_a_page(client_as, world):
    client, led = client_as("administrator"), {}
    for name in sorted({name for name, method in TABLE if method == "POST" and (name, "GET") not in TABLE}):
        if name.startswith("api-"):
            continue
        address = reverse(name, args=world.get(name, []))
        led[name] = ask(client, name, "GET", address).get("Location")
        page = client.get(led[name]) if led[name] else None
        assert page is None or page.status_code == 200 or page["Location"], (name, led[name])
        assert page is None or page.status_code < 400, (name, led[name])
    assert [name for name, where in led.items() if not where] == ["sign-out"]


@pytest.mark.parametrize(("method", "headers"), [("put", {}), ("get", {"HX-Request": "true"})])
def test_other_methods_and_parts_of_pages_are_refused_in_words(client_as, people, make_job, method, headers):
    job = make_job(people["user"], "running")
    answer = getattr(client_as("user"), method)(f"/jobs/{job.pk}/cancel", headers=headers)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    page = markup(answer)
    assert "Nothing was done" in page
    assert '<html lang="en"' in page


def test_rest_keeps_its_own_sentence(client_as, people, make_job):
    job = make_job(people["user"], "running")
    answer = client_as("user").get(f"/api/jobs/{job.pk}/cancel")
    assert answer.status_code == 405
    assert answer.headers["Content-Type"].startswith("application/json")
    assert "detail" in answer.json()
