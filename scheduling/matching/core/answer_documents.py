"""Answers as rows keep them: one JSON document, written and read here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from scheduling.matching.core.answers import MatchAnswer


def answer_document(answer: MatchAnswer) -> dict[str, Any]:
    """An answer without what a mapper was to be asked."""
    made: dict[str, Any] = msgspec.to_builtins(replace(answer, mapping=None))
    return made


def read_answer(document: Mapping[str, object] | None) -> MatchAnswer | None:
    """What `answer_document` wrote; None for nothing. Raises ValueError for another document."""
    return msgspec.convert(document, MatchAnswer) if document else None
