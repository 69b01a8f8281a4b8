"""Conditions on labels are read from people, kept as text, and met or not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.requirements import Requirements

NUMBERS = st.integers(-1000, 1000) | st.floats(-1e6, 1e6)


@given(NUMBERS, NUMBERS)
def test_numbers_are_compared_as_numbers(has, wanted):
    for sign, met in (("<", has < wanted), ("<=", has <= wanted), (">", has > wanted), (">=", has >= wanted)):
        label, condition = label_conditions.parse(f"mem{sign}{wanted}")
        assert (label, label_conditions.meets(str(has), condition)) == ("mem", met)
        assert label_conditions.parse(label_conditions.written(label, condition)) == (label, condition)


@pytest.mark.parametrize("text", ["", "site", "site=", "=utk", ">=16", "mem_gb>="])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(InputError, match=r"require is .* accepted is label=value"):
        label_conditions.parse(text)


def test_a_label_that_is_not_there_meets_only_that_it_is_not_so():
    assert not any(label_conditions.meets(None, condition) for condition in ("utk", ">=0", "<1e9"))
    assert label_conditions.meets(None, "!=utk")


def test_rest_refuses_a_comparison_with_a_word():
    assert Requirements.read({"require": {"mem_gb": ">=16"}}).require == {"mem_gb": ">=16"}
    with pytest.raises(InputError, match="a number after >="):
        Requirements.read({"require": {"mem_gb": ">=big"}})


def test_every_condition_on_one_label_counts():
    require = label_conditions.merge(map(label_conditions.parse, ["mem>=16", "mem<64", "mem!=32", "mem>=16"]))
    assert require == {"mem": ">=16 & <64 & !=32"}
    assert [has for has in ("8", "16", "32", "63", "64") if label_conditions.meets(has, require["mem"])] == ["16", "63"]
    assert label_conditions.each("mem", require["mem"]) == ["mem>=16", "mem<64", "mem!=32"]


@pytest.mark.parametrize("text", ["place=in town", "place=>5", "rack in 1|2", "rack!=3"])
def test_what_is_written_is_read_again(text):
    label, condition = label_conditions.parse(text)
    assert label_conditions.parse(label_conditions.each(label, condition)[0]) == (label, condition)


def test_a_value_that_looks_like_an_operator_is_a_value():
    condition = label_conditions.parse("place=in town")[1]
    assert label_conditions.meets("in town", condition)
    assert not label_conditions.meets("town", condition)
