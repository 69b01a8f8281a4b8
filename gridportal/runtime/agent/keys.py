"""The key that an agent shares with its portal: from the environment, or from a file that its owner alone may read."""

from __future__ import annotations

import os
import stat

from gridportal.base.errors import InputError

VARIABLE = "GRIDPORTAL_AGENT_KEY"
SHORTEST = 16  # characters


def read(file: str | None = None) -> bytes:
    """The key of `file`, else of the variable GRIDPORTAL_AGENT_KEY. InputError where there is none to be trusted."""
    return from_file(file) if file else checked(os.environ.pop(VARIABLE, ""), VARIABLE)


def from_file(path: str) -> bytes:
    """The key in a file. InputError when it cannot be read, or others may read or change it."""
    try:
        with open(path, encoding="ascii") as file:
            about = os.fstat(file.fileno())
            text = file.read(1024)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("key file", path, f"a file that can be read ({error})") from error
    if stat.S_IMODE(about.st_mode) & 0o077:
        raise InputError("key file", path, "a file that only its owner may read (chmod 600)")
    if about.st_uid not in (0, os.geteuid()):
        raise InputError("key file", path, "a file that belongs to root or to who runs this")
    return checked(text, f"key in {path}")


def checked(text: str, field: str) -> bytes:
    """A key's bytes. InputError when it is too short; the value is not repeated."""
    word = text.strip()
    if len(word) < SHORTEST or not word.isascii() or not word.isprintable():
        raise InputError(field, "..." if word else "", f"at least {SHORTEST} printable ASCII characters")
    return word.encode()
