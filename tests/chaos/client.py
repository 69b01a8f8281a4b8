"""The portal over REST, as one person with a token asks it; patient with a portal that is down."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any

from tests.chaos.portal import PORT

#: The answer of a portal that gave none.
SILENT = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """Status (SILENT: no answer), the body as JSON where it is, and how long to wait before the next try."""

    status: int
    body: Any
    retry_after: float = 1.0


class Client:
    """One person. A connection of its own for every question, so that none outlives a server that was killed."""

    def __init__(self, name: str, token: str) -> None:
        self.name, self._token = name, token

    def get(self, path: str) -> Answer:
        """A question."""
        return self._ask("GET", path, None, {})

    def post(self, path: str, body: dict[str, Any] | None = None, key: str = "") -> Answer:
        """An order; `key` is its Idempotency-Key."""
        return self._ask("POST", path, body or {}, {"Idempotency-Key": key} if key else {})

    def _ask(self, verb: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
        link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=15)
        told = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", **headers}
        try:
            link.request(verb, path, json.dumps(body) if body is not None else None, told)
            answer = link.getresponse()
            text = answer.read()
            return Answer(answer.status, _json(text), float(answer.headers.get("Retry-After") or 1))
        except (OSError, http.client.HTTPException):
            return Answer(SILENT, None)
        finally:
            link.close()


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text[:200].decode(errors="replace")
