"""Which names something new may get: none that is taken for a number, a missing value or an option of a command, and
none that only looks like another one."""

from __future__ import annotations

import unicodedata

from gridportal.base.blank_names import is_blank
from gridportal.base.errors import InputError

#: What programs write where there is no value, and read back as such.
_VALUES = frozenset({"none", "null", "nil", "true", "false", "undefined"})
_ACCEPTED = "a name that begins with a letter, a digit or _ and that is not read as a value, as NaN, 1e5 and null are"
_ONE_SCRIPT = "letters of one script in their usual form, so that no name looks like another one"
#: Scripts that are written together: Chinese, Japanese and Korean.
_EASTERN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"})


def check_new_name(field: str, name: str) -> str:
    """The name as it is. Names that are there already stay. Raises InputError.

    >>> check_new_name("name", "ocean-2026"), check_new_name("name", "2026")
    ('ocean-2026', '2026')
    """
    begins = (name[:1].isalnum() or name[:1] == "_") and not is_blank(name)
    if not begins or not any(letter.isalnum() for letter in name) or name.lower() in _VALUES or _is_number(name):
        raise InputError(field, name, _ACCEPTED)
    if unicodedata.normalize("NFKC", name) != name or len(scripts(name)) > 1:
        raise InputError(field, name, _ONE_SCRIPT)
    return name


def scripts(name: str) -> set[str]:
    """The scripts of its letters, by the first word of what Unicode calls each.

    >>> scripts("ada-7"), sorted(scripts("\N{CYRILLIC SMALL LETTER A}da")), scripts("2026")
    ({'LATIN'}, ['CYRILLIC', 'LATIN'], set())
    """
    first = {unicodedata.name(letter, "").split(" ")[0] for letter in name if letter.isalpha()}
    return {"EASTERN" if script in _EASTERN else script for script in first}


def _is_number(name: str) -> bool:
    """Whether programs read it as a number; whole numbers alone are names: projects are called after years."""
    try:
        float(name)
    except ValueError:
        return False
    return not name.isdigit()
