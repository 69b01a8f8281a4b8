"""Prometheus' HTTP API: one question, one checked answer. https://prometheus.io/docs/prometheus/latest/querying/api/"""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from gridportal.base.errors import BackendError

_MOST = 64 * 2**20
_PIECE = 65536


@dataclass(frozen=True, slots=True)
class Answered:
    """One series of an answer: its labels, and (Unix seconds by Prometheus' clock, value), finite values only."""

    labels: Mapping[str, str]
    points: Sequence[tuple[float, float]]


class Api:
    """Asks one Prometheus over one kept connection, straight (no proxy, no redirect). `bytes` counts the answers.

    Every question raises BackendError where there is no whole, sound answer within `timeout` seconds.
    """

    def __init__(self, url: str, authorization: str = "", timeout: float = 10.0) -> None:
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._url, self._path, self._timeout = url, parts.path.rstrip("/"), timeout
        self._connection = kind(parts.hostname or "", parts.port, timeout=timeout)
        self._headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if authorization:
            self._headers["Authorization"] = authorization
        self.bytes = 0

    def now(self, query: str) -> list[Answered]:
        """The value of each series at this moment of Prometheus' clock."""
        return [_vector(raw) for raw in self._ask("query", {"query": query}, "vector")]

    def past(self, query: str, since: float, until: float, step: float) -> list[Answered]:
        """The values from `since` to `until` (Unix seconds), `step` seconds apart."""
        asked = {"query": query, "start": f"{since:.3f}", "end": f"{until:.3f}", "step": f"{step:g}"}
        return [_matrix(raw) for raw in self._ask("query_range", asked, "matrix")]

    def close(self) -> None:
        self._connection.close()

    def _ask(self, verb: str, asked: dict[str, str], kind: str) -> list[Any]:
        status, body = self._send(verb, asked | {"timeout": f"{self._timeout:g}s"})
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BackendError(f"Prometheus at {self._url} answered {status} with no JSON: {_start(body)}.") from error
        if not isinstance(answer, dict) or answer.get("status") != "success":
            message = answer.get("error") if isinstance(answer, dict) else None
            raise BackendError(f"Prometheus at {self._url} refused {asked['query']!r}: {message or _start(body)}.")
        data = answer.get("data")
        if not isinstance(data, dict) or data.get("resultType") != kind or not isinstance(data.get("result"), list):
            raise BackendError(f"Prometheus at {self._url} answered {asked['query']!r} with no {kind}.")
        found: list[Any] = data["result"]
        return found

    def _send(self, verb: str, form: dict[str, str]) -> tuple[int, bytes]:
        late = threading.Event()
        stop = threading.Timer(self._timeout, self._cut, [late])
        stop.daemon = True
        stop.start()
        try:
            self._connection.request("POST", f"{self._path}/api/v1/{verb}", urlencode(form), self._headers)
            response = self._connection.getresponse()
            body = self._read(response)
            if late.is_set():  # what was cut off may look whole
                raise TimeoutError
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._connection.close()
            why = (
                f"timed out, not whole after {self._timeout:g} s"
                if late.is_set()
                else str(error) or type(error).__name__
            )
            raise BackendError(f"Prometheus at {self._url} did not answer: {why}.") from error
        finally:
            stop.cancel()
        self.bytes += len(body)
        if response.status in (401, 403):
            raise BackendError(f"Prometheus at {self._url} wants another header Authorization ({response.status}).")
        return response.status, body

    def _cut(self, late: threading.Event) -> None:
        """End a question whose time is over, wherever it is: the head of an answer may come byte by byte too."""
        late.set()
        if (sock := self._connection.sock) is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        pieces, size = [], 0
        while piece := response.read1(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > _MOST:
                raise ValueError(f"more than {_MOST >> 20} MB")
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        response.close()  # read1 leaves it open at the end, and then the connection takes no further question
        return b"".join(pieces)


def _vector(raw: Any) -> Answered:
    return _series(raw, [raw.get("value")] if isinstance(raw, dict) else [])


def _matrix(raw: Any) -> Answered:
    return _series(raw, raw.get("values") if isinstance(raw, dict) else None)


def _series(raw: Any, points: Any) -> Answered:
    """NaN and infinities are Prometheus' words for no value."""
    try:
        labels = {str(name): str(value) for name, value in raw["metric"].items()}
        pairs = [(float(at), float(value)) for at, value in points]
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError) as error:
        raise BackendError(f"Prometheus sent a series that cannot be read: {str(raw)[:200]}.") from error
    return Answered(labels, [(at, value) for at, value in pairs if math.isfinite(at) and math.isfinite(value)])


def _start(body: bytes) -> str:
    return repr(body[:100].decode("utf-8", "replace")) if body else "nothing"
