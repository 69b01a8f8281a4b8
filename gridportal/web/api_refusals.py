"""What the OpenAPI document says of refusals: the same for every operation, so it is said once, here."""

from __future__ import annotations

from typing import Any

_SENTENCE = "Refusal"
_FIELDS = "RefusedFields"
_PLACED = "FaultInText"
_SCHEMAS: dict[str, Any] = {
    _SENTENCE: {
        "type": "object",
        "description": "What is wrong, in one sentence.",
        "properties": {"detail": {"type": "string"}},
        "required": ["detail"],
    },
    _PLACED: {
        "type": "object",
        "description": "A fault inside a text: which field, what is wrong in one sentence, and where, from 1.",
        "properties": {
            "field": {"type": "string"},
            "message": {"type": "string"},
            "line": {"type": "integer"},
            "column": {"type": "integer"},
        },
        "required": ["field", "message", "line", "column"],
    },
    _FIELDS: {
        "type": "object",
        "description": "By field, sentences with the value and what would be accepted; objects for fields of fields. "
        "`errors` is there for a fault inside a text, such as a request in ClassAds.",
        "properties": {"errors": {"type": "array", "items": {"$ref": f"#/components/schemas/{_PLACED}"}}},
        "additionalProperties": {
            "oneOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}},
                {"type": "object", "additionalProperties": True},
            ]
        },
    },
}
_JSON = "application/json"
_WRITES = ("post", "put", "patch")
_VERBS = ("get", *_WRITES, "delete")


def describe(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: adds to each operation the answers with which it may refuse."""
    result.setdefault("components", {}).setdefault("schemas", {}).update(_SCHEMAS)
    for path, item in result["paths"].items():
        for verb in _VERBS:
            if verb in item:
                answers = item[verb]["responses"]
                others = {form for answer in answers.values() for form in answer.get("content", {})} - {_JSON}
                for code, description in _refusals(path, verb).items():
                    answer = answers.setdefault(code, _answer(code, description))
                    for form in others:  # such as XML, in which what is refused is told, too
                        answer.setdefault("content", {}).setdefault(form, {"schema": {}})
    return result


def _refusals(path: str, verb: str) -> dict[str, str]:
    descriptions = {
        "400": "A value cannot be taken.",
        "401": "Nobody is signed in, or the token is unknown, expired or revoked.",
        "403": "The caller's role does not allow this.",
        "404": "This is not there, or not the caller's to see.",
        "406": "The answer has no such form.",
        "429": "Too many requests; Retry-After says how many seconds to wait.",
        "503": "The cluster behind it does not answer.",
    }
    if verb in _WRITES:
        descriptions |= {
            "409": "What is asked does not go with what has become of it.",
            "413": "The body is too long.",
            "415": "The body is no JSON.",
        }
    return descriptions


def _answer(code: str, description: str) -> dict[str, Any]:
    name = _FIELDS if code == "400" else _SENTENCE
    content = {_JSON: {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    answer: dict[str, Any] = {"description": description, "content": content}
    if code in ("429",):
        answer["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
    if code == "401":
        answer["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}, "description": "Bearer."}}
    return answer
