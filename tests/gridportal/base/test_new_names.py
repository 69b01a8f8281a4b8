"""Names of new projects and people are not read as values."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError
from gridportal.base.new_names import check_new_name


@pytest.mark.parametrize(
    "name", ["-1", "-x", "NaN", "nan", "Infinity", "1e5", "1.5", "None", "NULL", "true", "_", ".", ""]
)
def test_what_is_read_as_a_value_is_no_name(name):
    with pytest.raises(InputError, match="accepted is a name that begins with a letter, a digit or _"):
        check_new_name("name", name)


@pytest.mark.parametrize("name", ["alpha", "2026", "ann.lee", "_build", "nancy", "n1e5", "é"])
def test_other_names_are_as_they_are(name):
    assert check_new_name("name", name) == name
