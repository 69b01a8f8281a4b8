"""Text of ads to values: the ClassAd language, and what papers write beyond it, with the place of every fault.

HTCondor's library says only that it cannot parse a text. Read here are, with a notice each: numbers with a scale (5G),
words that stand without quotes where only a text makes sense (redhat6.1, { cs.utk.edu, ucsd.edu }), hyphenated names
that the ad defines (execution-time), and line numbers of a listing. Source: Set matching 2002, 2.2, 2.3 and 3.2.

Cost: one pass over the text, in memory of a few times its size; what is nested too deep is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from scheduling.matching.core.language.ad_errors import AdError, Notice, NoticeCode, TextPlace
from scheduling.matching.core.language.ad_expressions import ExpressionReader
from scheduling.matching.core.language.ad_syntax import Attribute, Expression, Literal, Record, is_deeper
from scheduling.matching.core.language.paper_forms import in_plain_language, of_members

_BYTE_ORDER_MARK = "\ufeff"
LONGEST_REQUEST = 1_000_000
LONGEST_RESOURCES = 200_000_000
#: Parts of parts of an expression: what all that walk it can bear.
DEEPEST_TREE = 160
#: Ads after which is looked whether time is up.
ASKED_EVERY = 256
SCOPES = {"my", "self", "other", "target"}

# What nearly all of a resource's ad is: a name with a plain value.
_PLAIN = re.compile(
    r"[ \t\r\n]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*"
    r'(?:"([^"\\\x00-\x1f\ud800-\udfff]*)"|(-?[0-9]{1,18})(\.[0-9]{1,18})?'
    r"|([tT][rR][uU][eE]|[fF][aA][lL][sS][eE]))[ \t\r\n]*(?=[;\]])"
)
_PLAIN_LINE = re.compile(_PLAIN.pattern.replace(r"[ \t\r\n]*(?=[;\]])", r"[ \t\r]*(?=\n|$)"))
_DEFINITION = re.compile(r"([A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z_][A-Za-z0-9_]*)*)[ \t\r\n]*=(?!=|\?=|!=)")
_LISTING = re.compile(r"[ \t\r\n]*1\.(?=\s)")
_LINE_NUMBER = re.compile(r"^[ \t]*[0-9]{1,4}\.(?=\s|$)", re.MULTILINE)
_BETWEEN = re.compile(r"(?:[ \t\r\n,;]+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_BLANK_LINES = re.compile(r"(?:[ \t\r]*(?:#[^\n]*|//[^\n]*)?\n)*[ \t\r]*")
_RESERVED = {"true", "false", "undefined", "error", "is", "isnt", "parent"} | SCOPES


@dataclass(frozen=True, slots=True)
class AdText:
    """An ad with the text that it was read from."""

    ad: Record
    text: str
    notices: tuple[Notice, ...] = ()


def read_ad(text: str, source: str = "", others: Set[str] = frozenset()) -> AdText:
    """The one ad of a text. Raises AdError.

    source: the name of the file, for messages. others: hyphenated names that the ads on the other side have.

    >>> read_ad('[ Type = "Set"; requirements = Sum(other.memory) > 5G ]').notices[0].value
    5368709120.0
    """
    _check_length(text, LONGEST_REQUEST, source)
    ads, reader = _read(text, source, others)
    if len(ads) != 1:
        raise AdError(text, ads[1].start if ads else len(text), "one ad", source)
    ad, notices = in_plain_language(ads[0], reader.text, source)
    ad, more = of_members(ad, text, source)
    return AdText(ad, text, (*reader.notices, *notices, *more))


def read_ads(
    text: str, source: str = "", is_over: Callable[[], bool] = lambda: False
) -> tuple[list[Record], list[Notice]]:
    """All ads of a text: in brackets one after the other, or a line an attribute with blank lines between ads, as
    condor_status -long prints them. Raises AdError. is_over: whether time is up; then those that were read so far,
    with a notice CUT.

    >>> ads, _ = read_ads('[ cpus = 4 ] [ cpus = 8 ]')
    >>> [ad.literal("cpus") for ad in ads]
    [4, 8]
    >>> [ad.literal("cpus") for ad in read_ads('Cpus = 4\\n\\nCpus = 8')[0]]
    [4, 8]
    """
    _check_length(text, LONGEST_RESOURCES, source)
    ads, reader = _read(text, source, frozenset(), is_over)
    made, notices = [], list(reader.notices)
    for read in ads:
        ad, more = in_plain_language(read, reader.text, source)
        made.append(ad)
        notices += more
    return made, notices


def _read(
    text: str, source: str, others: Set[str], is_over: Callable[[], bool] = lambda: False
) -> tuple[list[Record], _Reader]:
    """The ads as they stand; a second time where names with hyphens turned out to be defined."""
    if text.startswith(_BYTE_ORDER_MARK):  # of an editor; places stay as they are
        text = f" {text[1:]}"
    reader = _Reader(text, source, frozenset(name.lower() for name in others), is_over)
    ads = reader.all()
    if not reader.defined:
        return ads, reader
    reader = _Reader(text, source, reader.hyphenated | reader.defined, is_over)
    return reader.all(), reader


def _check_length(text: str, longest: int, source: str) -> None:
    if len(text) > longest:
        raise AdError(text, longest, f"a text of at most {longest} characters", source)


class _Reader:
    """Reads a text from its beginning to its end. `hyphenated`: the names with hyphens that it may use."""

    def __init__(self, text: str, source: str, hyphenated: Set[str], is_over: Callable[[], bool]) -> None:
        self._is_over = is_over
        self.notices: list[Notice] = []
        self.source = source
        self.hyphenated = hyphenated
        self.defined: set[str] = set()
        self.text = self._without_line_numbers(text)

    def _without_line_numbers(self, text: str) -> str:
        """Spaces in the place of the line numbers of a listing that begins with 1."""
        if not _LISTING.match(text):
            return text
        self.notices.append(Notice(NoticeCode.LINE_NUMBERS, TextPlace.of(text, 0), source=self.source))
        return _LINE_NUMBER.sub(lambda match: " " * len(match[0]), text)

    def all(self) -> list[Record]:
        """The ads. Raises AdError."""
        try:
            return self._bracketed() if self._is_bracketed() else self._long_form()
        except AdError as error:
            if error.source or not self.source:
                raise
            raise AdError(self.text, error.place.offset, error.accepted, self.source) from error

    def _is_bracketed(self) -> bool:
        start = self._between(0)
        return self.text[start : start + 1] in ("[", "{", "")

    def _between(self, at: int) -> int:
        match = _BETWEEN.match(self.text, at)
        return match.end() if match else at

    def _bracketed(self) -> list[Record]:
        at, ads, is_list = self._between(0), [], False
        if self.text.startswith("{", at):
            at, is_list = self._between(at + 1), True
        while self.text.startswith("[", at):
            ad, at = self._record(at)
            ads.append(ad)
            at = self._between(at)
            if self._is_cut(ads, at):
                return ads
        if is_list:
            if not self.text.startswith("}", at):
                raise AdError(self.text, at, "an ad in brackets or }")
            at = self._between(at + 1)
        if at < len(self.text):
            raise AdError(self.text, at, "an ad in brackets")
        return ads

    def _record(self, at: int) -> tuple[Record, int]:
        """The ad whose bracket stands there, and where it ends."""
        start, attributes = at, dict[str, Attribute]()
        at += 1
        while True:
            plain = _PLAIN.match(self.text, at)
            if plain and plain[1].lower() not in _RESERVED:
                at = plain.end()
                self._add(attributes, plain[1], _plain_value(plain), plain.start(1))
            else:
                at = self._between_attributes(at)
                if self.text.startswith("]", at):
                    return Record(attributes, start=start, end=at + 1), at + 1
                at = self._definition(attributes, at, len(self.text))
            at = self._between_attributes(at, at_end=True)

    def _between_attributes(self, at: int, *, at_end: bool = False) -> int:
        """Past blanks and semicolons; `at_end`: of a definition, where one of ; and ] has to stand."""
        reader = ExpressionReader(self.text, at, hyphenated=self.hyphenated)
        if at_end and not reader.stream.next.is_sign(";", "]"):
            raise AdError(self.text, reader.stream.next.start, "an operator, ; or ]")
        while reader.stream.next.is_sign(";"):
            at = reader.stream.next.end
            if _PLAIN.match(self.text, at):
                return at
            reader.stream.take()
        return reader.stream.next.start

    def _definition(self, attributes: dict[str, Attribute], at: int, stop: int) -> int:
        """Add the definition that begins there; where it ends."""
        match = _DEFINITION.match(self.text, at, stop)
        if match:
            name, expression_at = match[1], match.end()
            if name.lower() in _RESERVED:
                raise AdError(self.text, at, "a name of an attribute other than the language's own words")
            if "-" in name:
                self.defined.add(name.lower())
                self._note(NoticeCode.HYPHENATED_NAME, at, name)
        else:
            name, expression_at = self._quoted_name(at, stop)
        reader = ExpressionReader(self.text, expression_at, stop, self.hyphenated)
        expression = reader.expression()
        if is_deeper(expression, DEEPEST_TREE):
            raise AdError(
                self.text, at, f"an attribute whose parts are nested at most {DEEPEST_TREE} deep", self.source
            )
        self._add(attributes, name, expression, at)
        for token in reader.scaled:
            place, shown = TextPlace.of(self.text, token.start), self.text[token.start : token.end]
            self.notices.append(Notice(NoticeCode.SCALED_NUMBER, place, shown, float(token.value), self.source))
        return reader.stream.last_end

    def _quoted_name(self, at: int, stop: int) -> tuple[str, int]:
        reader = ExpressionReader(self.text, at, stop)
        token = reader.stream.take()
        if token.kind not in ("quoted", "name"):
            raise AdError(self.text, token.start, "the name of an attribute, or ] at the end of the ad")
        if not reader.stream.next.is_sign("="):
            raise AdError(self.text, reader.stream.next.start, "= behind the name of an attribute")
        return str(token.value), reader.stream.next.end

    def _add(self, attributes: dict[str, Attribute], name: str, expression: Expression, at: int) -> None:
        key = name.lower()
        if key in attributes:
            self._note(NoticeCode.DEFINED_TWICE, at, name)
        attributes[key] = Attribute(name, expression, at)

    def _note(self, code: NoticeCode, at: int, name: str) -> None:
        self.notices.append(Notice(code, TextPlace.of(self.text, at), name, source=self.source))

    def _long_form(self) -> list[Record]:
        """A line an attribute; blank lines end an ad."""
        ads: list[Record] = []
        at, attributes, start = self._skip_blank(0), dict[str, Attribute](), 0
        while at < len(self.text):
            end = self.text.find("\n", at)
            end = len(self.text) if end < 0 else end
            plain = _PLAIN_LINE.match(self.text, at, end)
            if plain and plain[1].lower() not in _RESERVED:
                self._add(attributes, plain[1], _plain_value(plain), plain.start(1))
            else:
                self._line(attributes, at, end)
            after = min(end + 1, len(self.text))
            at = self._skip_blank(after)
            if "\n" in self.text[after:at] or at >= len(self.text):
                ads.append(Record(attributes, start=start, end=end))
                attributes, start = {}, at
                if self._is_cut(ads, at):
                    break
        return ads

    def _is_cut(self, ads: Sequence[Record], at: int) -> bool:
        """Whether time is up, with more of the text to read; asked now and then."""
        if len(ads) % ASKED_EVERY or at >= len(self.text) or not self._is_over():
            return False
        place = TextPlace.of(self.text, at)
        self.notices.append(Notice(NoticeCode.CUT, place, value=len(ads), source=self.source))
        return True

    def _line(self, attributes: dict[str, Attribute], at: int, end: int) -> None:
        at = self._definition(attributes, at, end)
        rest = ExpressionReader(self.text, at, end).stream.next
        if rest.kind != "end":
            raise AdError(self.text, rest.start, "an operator or the end of the line")

    def _skip_blank(self, at: int) -> int:
        match = _BLANK_LINES.match(self.text, at)
        return match.end() if match else at


def _plain_value(match: re.Match[str]) -> Literal:
    string, whole, part, truth = match.group(2, 3, 4, 5)
    if string is not None:
        return Literal(string, start=match.start(2) - 1, end=match.end(2) + 1)
    if truth:
        return Literal(truth.lower() == "true", start=match.start(5), end=match.end(5))
    start, end = match.start(3), match.end(4 if part else 3)
    return Literal(float(whole + part) if part else int(whole), start=start, end=end)
