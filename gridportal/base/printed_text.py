"""Text for people on the command line. What others named, such as a machine or a person, may have characters that
command a terminal; each is shown in its escaped form and commands nothing."""

from __future__ import annotations

import unicodedata

import typer

#: Control characters, marks without a width such as those that turn the direction round, halves of characters, ends of
#: lines that no terminal knows: categories of Unicode.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_KEPT = "\n\t"


def visible(text: str) -> str:
    """A text in which every character is seen; new lines and tabs stay.

    >>> print(visible("n1\\x1b[2J"), visible("a\\u202eb"), visible("é – 5 µs"))
    n1\\x1b[2J a\\u202eb é – 5 µs
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def echo(text: str = "", *, err: bool = False, nl: bool = True, bold: str = "") -> None:
    """Print a text for people, to standard error where `err`; `nl`: with the end of the line; `bold`: what stands
    before it, in bold type on a terminal."""
    start = typer.style(visible(bold), bold=True) if bold else ""
    typer.echo(f"{start}{visible(text)}", err=err, nl=nl)


def _visible(letter: str) -> str:
    is_seen = letter in _KEPT or unicodedata.category(letter) not in _UNSEEN
    return letter if is_seen else letter.encode("unicode_escape").decode()
