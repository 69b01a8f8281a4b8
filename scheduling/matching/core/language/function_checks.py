"""Functions that HTCondor's library does not have, or not with so many arguments: its value is an error then, without
a word. What it has is found by asking it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import get_close_matches

from scheduling.matching.core.language.ad_errors import Notice, NoticeCode, TextPlace
from scheduling.matching.core.language.ad_syntax import Binary, Call, Expression, Literal, Name, Record, walk
from scheduling.matching.core.language.paper_forms import AGGREGATES, SET_SIZE, is_set_request

#: Whether the library takes so many arguments for a function, by its name.
Takes = Callable[[str, int], bool]
#: How many it takes; none where it does not have the function.
Counts = Callable[[str], tuple[int, ...]]
#: Our own, with theirs.
_OWN = {"postfix": (2,), SET_SIZE: (0,)}
#: Names that a wrong one is compared with; one of the library's is proposed only where it has it.
NEAR = (
    *(
        "Max",
        "Min",
        "Sum",
        "Avg",
        "SetSize",
        "Postfix",
        "size",
        "member",
        "identicalMember",
        "anyCompare",
        "allCompare",
    ),
    *("regexp", "regexpMember", "regexps", "ifThenElse", "isUndefined", "isError", "isString", "isInteger", "isReal"),
    *("isBoolean", "isList", "isClassAd", "floor", "ceiling", "round", "pow", "quantize", "random", "int", "real"),
    *("string", "bool", "strcat", "substr", "strcmp", "stricmp", "toUpper", "toLower", "join", "replace", "replaceAll"),
    *("time", "formatTime", "interval", "absTime", "relTime", "splitTime", "eval", "versioncmp", "getYear", "getMonth"),
)
#: Names that people bring from other languages.
ELSEWHERE = {"count": "SetSize", "len": "size", "length": "size", "average": "Avg", "mean": "Avg", "if": "ifThenElse"}
ELSEWHERE |= {"maximum": "Max", "minimum": "Min", "total": "Sum", "ceil": "ceiling", "concat": "strcat"}
#: Different calls of one text that the library is asked about.
_MOST_ASKED = 200


class FunctionChecks:
    """Notices about the calls of ads that were read from a text. takes: whether the library has a function with so many
    arguments; counts: all that it takes, which is slow to find out."""

    def __init__(self, text: str, source: str, takes: Takes, counts: Counts) -> None:
        self._text, self._source, self._takes, self._counts = text, source, takes, counts
        self._asked: dict[tuple[str, int], bool] = {}

    def of(self, ad: Record) -> Iterator[Notice]:
        """Calls of functions that are not there, or with a wrong number of arguments."""
        for call in _calls(ad):
            if self._is_there(call.function, len(call.arguments)):
                continue
            counts = _OWN.get(call.function) or self._counts(call.function)
            notice = Notice(NoticeCode.ARGUMENT_COUNT, *self._stands(call), len(call.arguments), self._source)
            if counts:
                yield replace(notice, counts=counts)
            else:
                yield replace(notice, code=NoticeCode.UNKNOWN_FUNCTION, value=None, meant=self._meant(call.function))

    def without_list(self, ad: Record, is_list: Callable[[Expression], bool]) -> Iterator[Notice]:
        """Functions over lists around something else: Avg of a request for a set, and Max, Min and Sum too where it
        asks for no set. is_list: of the request's own names and those of resources."""
        is_set = is_set_request(ad)
        for call in _calls(ad):
            is_over_lists = call.function == "avg" or (call.function in AGGREGATES and not is_set)
            if not is_over_lists or len(call.arguments) != 1:
                continue
            if isinstance(call.arguments[0], Name | Binary | Literal) and not is_list(call.arguments[0]):
                yield Notice(NoticeCode.NO_LIST, *self._stands(call), source=self._source, meant="Set" * (not is_set))

    def _stands(self, call: Call) -> tuple[TextPlace, str]:
        return TextPlace.of(self._text, call.start), self._text[call.start : call.start + len(call.function)]

    def _is_there(self, function: str, count: int) -> bool:
        """Whether it takes so many arguments; true, too, where too many different calls were asked about before."""
        key = function, count
        if key not in self._asked:
            if len(self._asked) >= _MOST_ASKED:
                return True
            own = _OWN.get(function)
            self._asked[key] = self._takes(function, count) if own is None else count in own
        return self._asked[key]

    def _meant(self, function: str) -> str:
        """A function that is there and has a near name; empty for none."""
        if function in ELSEWHERE:
            return ELSEWHERE[function]
        by_key = {name.lower(): name for name in NEAR}
        near = get_close_matches(function, by_key, n=1, cutoff=0.78)
        is_there = bool(near) and bool(_OWN.get(near[0]) or self._counts(near[0]))
        return by_key[near[0]] if is_there else ""


def _calls(ad: Record) -> Iterator[Call]:
    """Those that stand in the text."""
    for attribute in ad.attributes.values():
        if isinstance(attribute.expression, Literal):
            continue
        for part in walk(attribute.expression):
            if isinstance(part, Call) and part.end:
                yield part
