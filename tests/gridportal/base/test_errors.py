"""How an error repeats the value that it refuses."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError, shown


@pytest.mark.parametrize("value", [None, "", [], (), {}, set()])
def test_nothing_is_called_empty(value):
    assert shown(value) == "empty"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("best", "'best'"),
        ("10", "10"),
        ("-1.5", "-1.5"),
        (10, "10"),
        (0, "0"),
        (0.5, "0.5"),
        (False, "false"),
        ("1e5x", "'1e5x'"),
        (["n1", "2"], "'n1', 2"),
        ("two\nlines", r"'two\nlines'"),
    ],
)
def test_words_are_quoted_once_and_numbers_are_bare(value, words):
    assert shown(value) == words


def test_a_long_value_is_cut():
    text = shown("x" * 5000)
    assert len(text) == 200
    assert text.endswith("…")


def test_a_refusal_is_one_sentence():
    words = "nodes is 11; accepted is a whole number from 1 to 10."
    assert str(InputError("nodes", "11", "a whole number from 1 to 10.")) == words
