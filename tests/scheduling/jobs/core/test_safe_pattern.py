"""Regular expressions of administrators: those that could be made to try for long are refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.jobs.core import parameters, safe_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        *("(a+)+b", "(a*)*", "(a|a)*b", "(a|ab)*c", "(?:a?){30}b", "a?" * 30 + "a" * 30, ".*.*.*.*x", "(a{1,9}){9}"),
        *("(a)\\1+", "(?=a*)b", "(?P<n>a)(?P=n)", "(?i)a", "((a|b){10}){3}", "a" * 501, "(", "a**", "[b-a]"),
        *("(" * 150 + "a" + ")" * 150 + "{2,1}", "a{1,9999}", "(a{0,200}){0,200}", "(|a)*", "([(]a+)*", "[]+]*(a*)*"),
    ],
)
def test_a_pattern_outside_of_the_subset_is_refused(pattern):
    with pytest.raises(InputError, match=r"^parameters\[0\]\.pattern is "):
        parameters.parse([{"name": "n", "type": "text", "pattern": pattern}])


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("[a-z]+", "abc"),
        ("[A-Za-z][A-Za-z0-9_-]{0,39}", "a-1"),
        (r"\d+\.\d+", "1.5"),
        ("S|W|A", "W"),
        (r"([0-9]{1,3}\.){3}[0-9]{1,3}", "10.0.0.1"),
        ("(ab)+", "abab"),
        (r"\(a+\)+", "(aa)"),
        ("[(+*]+", "(+"),
        (r"[^\]§]*", "a(b"),
        ("x{", "x{"),
        ("a*?b", "aab"),
    ],
)
def test_what_people_write_is_accepted_and_matched_as_python_does(pattern, text):
    (parameter,) = parameters.parse([{"name": "n", "type": "text", "pattern": pattern}])
    assert parameter.read(text) == text
    with pytest.raises(InputError):
        parameter.read("§")


def test_a_text_longer_than_a_pattern_is_matched_with_is_refused():
    (parameter,) = parameters.parse([{"name": "n", "type": "text", "pattern": "a*", "max_length": 4096}])
    assert parameter.read("a" * 200)
    with pytest.raises(InputError, match="at most 200 printable characters"):
        parameter.read("a" * 201)


@pytest.mark.filterwarnings("ignore:Possible nested set")
@given(st.text(alphabet="ab(|)*+?{}[]^\\\\12,:=", max_size=30))
def test_no_text_makes_the_check_fail_otherwise_than_in_words(pattern):
    try:
        assert safe_pattern.check(pattern) == pattern
    except InputError:
        return
    re.compile(pattern)
