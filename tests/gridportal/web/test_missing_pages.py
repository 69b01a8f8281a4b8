"""What a page that is not there says, and requests for a host that is not the portal's."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.core.exceptions import DisallowedHost

from gridportal.web.log_filters import RefusalsInOneLine
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("address", "said", "listed"),
    [
        ("/jobs/99/", "There is no job 99 that you can see", "/jobs/"),
        ("/applications/nothing/", "There is no application nothing that you can see", "/applications/"),
        ("/reports/nothing/", "No report is called nothing", "/reports/"),
        ("/sweeps/7/", "There is no sweep 7 that you can see", "/sweeps/"),
        ("/nowhere/at/all", "No page has the address /nowhere/at/all", ""),
    ],
)
def test_it_says_what_was_looked_for_and_where_to_go(client_as: Any, address: str, said: str, listed: str) -> None:
    answer = client_as("manager").get(address)
    page = markup(answer)
    assert (answer.status_code, said in page) == (404, True), page[-2000:]
    assert f'<a href="{listed}">All ' in page or not listed


def test_another_page_of_a_job_is_no_missing_job(client_as: Any) -> None:
    assert "No page has the address /jobs/99/dance" in markup(client_as("user").get("/jobs/99/dance"))


def test_a_wrong_host_is_refused_in_a_sentence_and_a_line(client_as: Any, caplog: Any, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["portal.example.org"]
    with caplog.at_level(logging.ERROR, logger="django.security"):
        answer = client_as("user").get("/jobs/", headers={"host": "evil.example"})
    assert answer.status_code == 400
    page = markup(answer)
    assert "does not answer to the name in this address" in page
    assert "evil.example" not in page
    (record,) = [each for each in caplog.records if each.name == "django.security.DisallowedHost"]
    record.exc_info = (DisallowedHost, DisallowedHost(), None)
    assert RefusalsInOneLine().filter(record)
    assert record.exc_info is None
