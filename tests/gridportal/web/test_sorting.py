"""Lists that any column sorts while they are short: unknown values last, ties as they were, long lists as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.accounts.models import User
from gridportal.web import sorting
from gridportal.web.sorting import SortedList, by_column, sorted_by, sorted_items

SORTS = {"name": by_column("username"), "email": by_column("email")}


@given(st.lists(st.tuples(st.none() | st.integers(0, 4), st.integers())), st.booleans())
def test_unknown_values_are_last_and_equal_ones_keep_their_order(items, backwards):
    found = sorted_items(items, lambda item: item[0], backwards=backwards)
    assert sorted(found, key=repr) == sorted(items, key=repr)
    keys = [item[0] for item in found]
    known = [key for key in keys if key is not None]
    assert keys == sorted(known, reverse=backwards) + [None] * (len(keys) - len(known))
    for key in set(keys):
        assert [item for item in found if item[0] == key] == [item for item in items if item[0] == key]


def test_a_sort_that_is_none_leaves_the_order():
    assert sorted_by([3, 1, 2], "nonsense", {"self": lambda item: item}) == [3, 1, 2]
    assert sorted_by([3, 1, 2], "-self", {"self": lambda item: item}) == [3, 2, 1]


@pytest.fixture
def three(db):
    for name, email in (("ada", ""), ("Bob", "b@x.org"), ("cy", "a@x.org")):
        User.objects.create(username=name, email=email)
    return User.objects.filter(username__in=("ada", "Bob", "cy")).order_by("-pk")


def names(found):
    return [person.username for person in found[0:3]]


def test_a_short_list_is_sorted_either_way_and_streams_in_that_order(three):
    assert names(SortedList(three, "name", SORTS)) == ["ada", "Bob", "cy"]
    assert names(SortedList(three, "-name", SORTS)) == ["cy", "Bob", "ada"]
    by_mail = SortedList(three, "email", SORTS)
    assert (by_mail.sort, by_mail.unsorted, names(by_mail)) == ("email", {}, ["cy", "Bob", "ada"])
    assert [person.username for person in by_mail] == ["cy", "Bob", "ada"]


def test_a_long_list_keeps_its_order_and_says_which_columns_do_not_sort(three, monkeypatch):
    monkeypatch.setattr(sorting, "MOST_SORTED", 2)
    found = SortedList(three, "name", SORTS)
    assert (found.sort, found.unsorted) == ("", {"name": 2, "email": 2})
    assert names(found) == ["cy", "Bob", "ada"] == [person.username for person in found]


def test_an_unknown_sort_is_none(three):
    found = SortedList(three, "nonsense", SORTS)
    assert (found.sort, names(found)) == ("", ["cy", "Bob", "ada"])
