"""The words and signs of an ad's text, each with its place."""

from __future__ import annotations

import math
import re
from collections.abc import Set
from dataclasses import dataclass

from scheduling.matching.core.language.ad_errors import AdError

LARGEST = 2**63 - 1
#: HTCondor's older language had these; a K is 1024 there.
SCALES = {"b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NUMBER = re.compile(
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)|(?P<real>[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)|(?P<whole>[0-9]+))"
    r"(?P<scale>[bkmgtBKMGT][bB]?(?![A-Za-z0-9_.]))?"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A dotted word with a part that no attribute can be called: redhat6.1, node.4a.org
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*\.[0-9][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
_HYPHENATED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z_][A-Za-z0-9_]*)+")
_SIGN = re.compile(r"=\?=|=!=|>>>|<<|>>|<=|>=|==|!=|&&|\|\||\?:|[-+*/%!~<>&|^?:(){}\[\].,;=]")
_PLAIN = re.compile(r'[^"\\\n]*"')
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}
_OCTAL = re.compile(r"[0-3][0-7]{0,2}|[4-7][0-7]?")


@dataclass(frozen=True, slots=True)
class Token:
    """kind: name, quoted (a name in single quotes), bare, number, string, sign or end.

    value: the text of a name, string or sign, or the number; scaled: it had a suffix as 5G has.
    """

    kind: str
    value: str | int | float
    start: int
    end: int
    scaled: bool = False

    @property
    def number(self) -> int | float:
        """The value of a number."""
        return 0 if isinstance(self.value, str) else self.value

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of these signs."""
        return self.kind == "sign" and self.value in signs


class TokenStream:
    """The tokens of a text up to `stop`, one at a time; `next` is the one to come. Raises AdError.

    >>> stream = TokenStream("memory>=100M // at least")
    >>> [stream.take().value for _ in range(4)]
    ['memory', '>=', 104857600, '']
    >>> TokenStream("redhat6.1").next.kind
    'bare'
    """

    def __init__(self, text: str, at: int = 0, stop: int | None = None, hyphenated: Set[str] = frozenset()) -> None:
        self.text = text
        self.hyphenated = hyphenated
        self.stop = len(text) if stop is None else stop
        self.last_end = at
        self.move_to(at)

    def move_to(self, at: int) -> None:
        """Go on from a place of the text."""
        self.next = self._read(at)

    def take(self) -> Token:
        """The next token; the one behind it comes next."""
        token = self.next
        self.last_end = token.end
        if token.kind != "end":
            self.next = self._read(token.end)
        return token

    def _read(self, at: int) -> Token:
        if space := _SPACE.match(self.text, at, self.stop):
            at = space.end()
        if at >= self.stop:
            return Token("end", "", at, at)
        if self.text.startswith("/*", at):
            raise AdError(self.text, at, "a comment that ends with */")
        token = (self.hyphenated and self._hyphenated(at)) or _token(self.text, at)
        if token.end > self.stop:
            raise AdError(self.text, at, "what ends on its line")
        return token

    def _hyphenated(self, at: int) -> Token | None:
        """The longest of the hyphenated names that stands there."""
        match = _HYPHENATED.match(self.text, at, self.stop)
        name = match[0] if match else ""
        while "-" in name:
            if name.lower() in self.hyphenated:
                return Token("name", name, at, at + len(name))
            name = name.rpartition("-")[0]
        return None


def _token(text: str, at: int) -> Token:
    first = text[at]
    if first == '"':
        return _string(text, at)
    if first == "'":
        return _quoted(text, at)
    if first in "0123456789" or (first == "." and text[at + 1 : at + 2].isdigit() and text[at + 1].isascii()):
        return _number(text, at)
    if bare := _BARE.match(text, at):
        return Token("bare", bare[0], at, bare.end())
    if name := _NAME.match(text, at):
        return Token("name", name[0], at, name.end())
    if sign := _SIGN.match(text, at):
        return Token("sign", sign[0], at, sign.end())
    raise AdError(text, at, "letters, digits and signs of the ClassAd language; other characters stand in quotes")


def _number(text: str, at: int) -> Token:
    match = _NUMBER.match(text, at)
    if match is None:
        raise AdError(text, at, "a number")
    end = match.end()
    if end < len(text) and (text[end].isalnum() or text[end] in "_."):
        raise AdError(text, end, "the end of the number, or K, M, G or T behind it")
    value: int | float
    if len(match[0]) > 400:
        raise AdError(text, at, "a number of at most 400 digits")
    if match["hex"]:
        value = int(match["hex"], 16)
    else:
        value = float(match["real"]) if match["real"] else int(match["whole"])
    if match["scale"]:
        value *= SCALES[match["scale"][0].lower()]
        value = int(value) if value == int(value) else value
    if isinstance(value, int) and value > LARGEST + 1:
        raise AdError(text, at, f"a whole number up to {LARGEST}")
    if isinstance(value, float) and math.isinf(value):
        raise AdError(text, at, "a number below 1.8e308")
    return Token("number", value, at, end, scaled=bool(match["scale"]))


def _string(text: str, at: int) -> Token:
    plain = _PLAIN.match(text, at + 1)
    if plain:
        value, end = plain[0][:-1], plain.end()
    else:
        value, end = _escaped(text, at, '"')
    if not value.isprintable():
        _check_characters(text, at, value)
    return Token("string", value, at, end)


def _quoted(text: str, at: int) -> Token:
    value, end = _escaped(text, at, "'")
    if not value or not value.isprintable() or "\\" in value or "'" in value:
        raise AdError(text, at, "a name of printed characters between single quotes")
    return Token("quoted", value, at, end)


def _escaped(text: str, at: int, quote: str) -> tuple[str, int]:
    """The characters between two quotes, and where they end."""
    parts, place = [], at + 1
    while place < len(text) and text[place] != quote:
        if text[place] != "\\":
            parts.append(text[place])
            place += 1
        elif octal := _OCTAL.match(text, place + 1):
            if not 0 < int(octal[0], 8) < 128:
                raise AdError(text, place, "an escaped character from \\001 to \\177")
            parts.append(chr(int(octal[0], 8)))
            place = octal.end()
        else:
            parts.append(_ESCAPES.get(text[place + 1 : place + 2], text[place + 1 : place + 2]))
            place += 2
    if place >= len(text):
        raise AdError(text, at, f"a text that ends with {quote}")
    return "".join(parts), place + 1


def _check_characters(text: str, at: int, value: str) -> None:
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value):
        raise AdError(text, at, "a text of characters, none of them the NUL")
