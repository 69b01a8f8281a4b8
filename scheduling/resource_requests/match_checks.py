"""What a text would find, as JSON."""

from __future__ import annotations

from typing import Any

from scheduling.matching import match_documents
from scheduling.resource_requests.services.trial_matches import TriedMatch


def checked_document(tried: TriedMatch) -> dict[str, Any]:
    """`valid`, with the answer; else `error` with its field, its sentence and its place."""
    if tried.problem is not None:
        field = getattr(tried.problem, "field", "request")
        place = {"line": tried.line, "column": tried.column, "pointer": tried.pointer}
        error = {"field": field, "message": str(tried.problem), **place}
        return {"valid": False, "error": error, "answer": None}
    answer = None if tried.answer is None else match_documents.document(tried.answer)
    return {"valid": True, "error": None, "answer": answer}
