"""Why something is as it is, as a value: a code and its facts. Sentences are made of it in scheduling.messages alone.

Whoever has to know what became of a run, or why a job waits, compares codes and looks at facts, never at words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gridportal.base.codes import Code

__all__ = ["NOTHING", "Code", "Reason", "text_reason"]

#: So many jobs, nodes or lines a reason names at most; of the others it has the number.
MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause with its facts: numbers, names, ISO times, and further reasons. False where there is none.

    >>> Reason.of(Code.BEHIND, named=[3], more=0).document()
    {'code': 'behind', 'facts': {'named': [3], 'more': 0}}
    """

    code: Code
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, code: Code, **facts: Any) -> Reason:
        """The reason with all facts that its code has. Raises ValueError for any other; a program's mistake."""
        if set(facts) != set(code.facts):
            raise ValueError(
                f"{code} has the facts {', '.join(code.facts) or 'none'}, not {', '.join(facts) or 'none'}."
            )
        return cls(code, {name: _json(facts[name]) for name in code.facts})

    @classmethod
    def read(cls, document: object) -> Reason:
        """The reason of a document of `document`. Text, and what no code is known of, is told as it stands."""
        if isinstance(document, str):
            return text_reason(document)
        if not isinstance(document, Mapping):
            return NOTHING
        code, facts = str(document.get("code")), document.get("facts")
        facts = facts if isinstance(facts, Mapping) else {}
        member = _CODES.get(code)
        if member is None or not set(facts) >= set(member.facts):
            return text_reason(str(facts.get("text") or f"{code} {json.dumps(facts)}"))
        return cls(member, {name: _read(facts[name]) for name in member.facts})

    @classmethod
    def load(cls, text: str) -> Reason:
        """The reason that `dump` wrote; what was stored as a sentence before there were codes is told."""
        if not text.startswith("{"):
            return text_reason(text)
        try:
            document = json.loads(text)
        except ValueError:
            return text_reason(text)
        return cls.read(document) if isinstance(document, dict) and "code" in document else text_reason(text)

    def with_facts(self, **facts: Any) -> Reason:
        """The same with other values of those of these facts that it has."""
        mine = {name: value for name, value in facts.items() if name in self.code.facts}
        return Reason.of(self.code, **{**self.facts, **mine})

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `Reason.read`."""
        return {"code": self.code.value, "facts": {name: _plain(value) for name, value in self.facts.items()}}

    def dump(self) -> str:
        """As text, the same for equal reasons; empty for none."""
        return json.dumps(self.document(), sort_keys=True) if self else ""

    def __bool__(self) -> bool:
        return self.code is not Code.NONE

    def __hash__(self) -> int:
        return hash(self.dump())


_CODES = {code.value: code for code in Code}
NOTHING = Reason(Code.NONE)


def text_reason(text: str) -> Reason:
    """What somebody else said in a sentence: a cluster, a person, an earlier version of the portal."""
    return Reason(Code.PLAIN_TEXT, {"text": text}) if text else NOTHING


def named(everyone: Iterable[Any]) -> tuple[list[Any], int]:
    """The first few of them, and how many more there are: for facts that name jobs or nodes.

    >>> named([1, 2, 3, 4, 5, 6])
    ([1, 2, 3, 4], 2)
    """
    whole = list(everyone)
    return whole[:MOST_NAMED], max(0, len(whole) - MOST_NAMED)


def too_few_free(needed: int, free: int, total: int, holders: Iterable[int]) -> Reason:
    """Fewer nodes are free than the job needs; `holders`: the jobs that have the others."""
    jobs, more = named(holders)
    return Reason.of(Code.TOO_FEW_FREE, needed=needed, free=free, total=total, holders=jobs, more=more)


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _json(each) for name, each in value.items()}
    return [_json(each) for each in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Reason):
        return value.document()
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _read(value: Any) -> Any:
    if isinstance(value, Mapping) and set(value) == {"code", "facts"}:
        return Reason.read(value)
    return [_read(each) for each in value] if isinstance(value, list) else value
