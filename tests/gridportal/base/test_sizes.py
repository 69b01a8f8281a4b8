"""Sizes with units, as people write them."""

from __future__ import annotations

import pytest

from gridportal.base.sizes import parse_size


@pytest.mark.parametrize("text", ["", "GB", "4 PB", "-1", "4 B", "1e3", "٤", "4 G B", "1" * 13, "nan"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match=r".*"):
        parse_size(text, "M")


@pytest.mark.parametrize(("text", "megabytes"), [("4 GB", 4096), ("4gib", 4096), ("1024 K", 1), (" 7 ", 7)])
def test_units_are_powers_of_1024_unless_said(text, megabytes):
    assert parse_size(text, "M") == megabytes
