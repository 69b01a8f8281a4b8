"""Ranges in the address: those that are understood, and what is said of the others."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

import pytest

from tests.markup import markup

pytestmark = pytest.mark.django_db
PAGES = ("/topology/links/a/b/", "/topology/nodes/a/", "/topology/")
CSV = "/topology/series/a>b/bandwidth.csv"
BAD = {
    "since=7x": "'7x' is no range of time. Enter a time back from now such as 90s, 15m, 2h or 7d, above 0 and",
    "since=0m": "'0m' is no range of time",
    "since=-1h": "'-1h' is no range of time",
    "since=99999d": "'99999d' is no range of time",
    "start=foo": "'foo' is no date and time",
    "until=foo": "'foo' is no date and time",
    "start=2020-01-01T11:30&until=2020-01-01T11:20": "2020-01-01 11:30:00 UTC is after To. Enter a time before "
    "2020-01-01 11:20:00 UTC.",
    "start=2190-01-01T11:30": "2190-01-01 11:30:00 UTC is in the future",
}


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("query", BAD)
def test_a_page_says_which_part_of_the_range_it_did_not_understand(client_as, star, address, query):
    answer = client_as("user").get(f"{address}?{query}")
    assert answer.status_code == 200
    page = unescape(markup(answer))
    name = query.partition("=")[0]
    before = 'role="alert">Range: ' if name == "since" else "<li>"
    assert page.count(f"{before}{BAD[query]}") == 1
    assert (f'id="id_{name}_error"' in page) is (name != "since")


@pytest.mark.parametrize("query", BAD)
def test_the_csv_of_a_range_that_is_not_understood_is_400_in_one_sentence(client_as, star, query):
    answer = client_as("user").get(f"{CSV}?{query}")
    assert answer.status_code == 400
    assert markup(answer).startswith(f"{query.partition('=')[0]}: {BAD[query]}")
    assert len(markup(answer).splitlines()) == 1


def test_any_time_that_the_command_line_takes_is_a_range(client_as, star):
    client = client_as("user")
    page = markup(client.get("/topology/links/a/b/?since=2h"))
    assert "at the last of 5 readings in the last 2 h" in page
    assert "bandwidth.csv?since=2h&amp;cluster=grid" in page or "bandwidth.csv?cluster=grid&amp;since=2h" in page
    assert 'says bad" role="alert"' not in page
    assert len(markup(client.get(f"{CSV}?since=150s")).splitlines()) == 1 + 3
    slider = markup(client.get("/topology/?since=2h"))
    assert 'says bad" role="alert"' not in slider
    assert 'data-ends-now="yes"' in slider


def test_from_after_to_leaves_the_usual_range(client_as, star):
    page = markup(client_as("user").get("/topology/?start=2020-01-01T13:00&until=2020-01-01T11:00"))
    assert 'data-ends-now="yes"' in page
    assert "2020-01-01T10:00" not in page


def test_a_range_that_lies_behind_has_no_trouble(client_as, star, now):
    ends = [f"{now - timedelta(minutes=ago):%Y-%m-%dT%H:%M:%S}" for ago in (10, 0)]
    page = markup(client_as("user").get(f"/topology/links/a/b/?start={ends[0]}&until={ends[1]}"))
    assert 'says bad" role="alert"' not in page
    assert "in the chosen stretch" in page
