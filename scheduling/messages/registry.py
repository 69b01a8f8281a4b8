"""Which function makes the sentence of which code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache

from gridportal.base.reasons import Code, Reason

Sentence = Callable[..., str]
MESSAGES: dict[Code, Sentence] = {}
#: The same without what only its place beside it tells, for the codes that have such a part.
BRIEF: dict[Code, Sentence] = {}


def says(code: Code, *, briefly: bool = False) -> Callable[[Sentence], Sentence]:
    """Register the sentence of a code. Raises TypeError where a parameter is no fact of it, or there is one already."""

    def register(sentence: Sentence) -> Sentence:
        table = BRIEF if briefly else MESSAGES
        strange = set(_parameters(sentence)) - set(code.facts)
        if strange or code in table:
            raise TypeError(f"{code} has no {', '.join(strange)}." if strange else f"{code} has two sentences.")
        table[code] = sentence
        return sentence

    return register


def plain(by_code: dict[Code, str], *, briefly: bool = False) -> None:
    """Register sentences that need no facts."""
    for code, sentence in by_code.items():
        _plain(code, sentence, briefly=briefly)


def _plain(code: Code, sentence: str, *, briefly: bool) -> None:
    says(code, briefly=briefly)(lambda: sentence)


def message(reason: Reason) -> str:
    """The sentence for a reason; empty for none."""
    return _say(MESSAGES[reason.code], reason)


def brief(reason: Reason) -> str:
    """The sentence without the part that stands beside it anyway: the last lines of a log, the advice."""
    return _say(BRIEF.get(reason.code, MESSAGES[reason.code]), reason)


def messages(reasons: Iterable[Reason]) -> str:
    """The sentences one after the other."""
    return " ".join(filter(None, map(message, reasons)))


def _say(sentence: Sentence, reason: Reason) -> str:
    return sentence(**{name: reason.facts[name] for name in _parameters(sentence)})


@cache
def _parameters(sentence: Sentence) -> tuple[str, ...]:
    return tuple(inspect.signature(sentence).parameters)
