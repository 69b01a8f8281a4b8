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


@pytest.mark.parametrize(
    "name",
    [
        "\N{CYRILLIC SMALL LETTER A}da",
        "ad\N{GREEK SMALL LETTER ALPHA}",
        "\N{FULLWIDTH LATIN SMALL LETTER A}da",
        "o\N{LATIN SMALL LIGATURE FI}ce",
        "e\N{COMBINING ACUTE ACCENT}ve",
    ],
)
def test_a_name_that_looks_like_another_one_is_refused(name):
    with pytest.raises(InputError, match="letters of one script in their usual form"):
        check_new_name("name", name)


@pytest.mark.parametrize(
    "name",
    [
        "\N{LATIN SMALL LETTER E WITH ACUTE}ve-2",
        "\N{CYRILLIC SMALL LETTER A}\N{CYRILLIC SMALL LETTER DE}7",
        "\N{CJK UNIFIED IDEOGRAPH-65E5}\N{HIRAGANA LETTER NO}\N{KATAKANA LETTER RO}",
        "2026",
    ],
)
def test_a_name_of_one_script_is_taken(name):
    assert check_new_name("name", name) == name
