"""A command as people write and read it, and as the list of its arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

_PLAIN = re.compile(r"[^\s'\"\\$`;&|<>()*?\[\]#!]+")


def split(text: str) -> list[str]:
    """The arguments. Raises ValueError when a quotation is not closed.

    >>> split("{python} -c 'print(1)' {n}")
    ['{python}', '-c', 'print(1)', '{n}']
    """
    return shlex.split(text)


def join(argv: Sequence[str]) -> str:
    """The arguments as one line that `split` reads back; quoted only where needed, placeholders never.

    >>> join(["{python}", "-c", "print(environ.get('FOO'))", "--class={class}", ""])
    '{python} -c "print(environ.get(\\'FOO\\'))" --class={class} \\'\\''
    """
    return " ".join(map(_quoted, argv))


def _quoted(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    if "'" not in word:
        return f"'{word}'"
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
