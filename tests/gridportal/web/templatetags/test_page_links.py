"""Where a table has no heads because the page is narrow, a choice stands above it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from tests.markup import markup

HEADS = '{% sort_head "name" "Name" %}{% sort_head "age" "Age, s" "num" %}'
TABLE = f"{{% sort_choice %}}<div><table>{HEADS}</table></div>{{% endsort_choice %}}"


def rendered(address: str = "/", **context: Any) -> str:
    return Template(TABLE).render(Context({"request": RequestFactory().get(address), **context}))


def test_it_offers_each_column_both_ways_and_keeps_the_rest_of_the_address() -> None:
    shown = rendered("/?q=ab&sort=-age&page=3", sort="-age")
    assert re.findall(r'<option value="([^"]*)"', shown) == ["", "name", "-name", "age", "-age"]
    assert re.findall(r'<option value="([^"]*)" selected', shown) == ["-age"]
    assert re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', shown) == [("q", "ab")]
    assert shown.index("<form") < shown.index("<table>")


def test_there_is_none_where_nothing_can_be_sorted() -> None:
    assert "<form" not in rendered(unsorted={"name": 9, "age": 9})


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/jobs/", "/people/", "/applications/"])
def test_lists_whose_rows_become_cards_have_it(
    client_as: Any, make_job: Any, people: Any, application: Any, address: str
) -> None:
    make_job(people["user"], "running")
    page = markup(client_as("administrator").get(address + "?sort=-name"))
    assert re.search(r'<option value="-name" selected', page)
