"""How a portal and an agent talk: JSON in frames, each sealed with a key that only the two of them have.

A frame is the length of the rest (4 bytes, big end first), the body, and 16 bytes of an HMAC-SHA-256 over label, number
and body. The agent begins with a challenge, a nonce of its own, unsealed. The portal opens with a nonce of its own and
the node that it means, sealed with the shared key over the challenge: no earlier opening and none meant for another
agent is of use here. From both nonces comes the key of the session. Questions and answers are numbered, so that neither
can be repeated, left out or turned round. Nothing here reads a clock or a socket: bytes in, bytes out.
"""

from __future__ import annotations

import hmac
import json
from typing import Any

VERSION = 1
NONCE = 16  # bytes
MOST_ASKED = 8 * 1024  # bytes of a frame to an agent
MOST_ANSWERED = 1024 * 1024  # bytes of a frame from one
_SEAL = 16
_HEAD = 4


class RefusedError(Exception):
    """What came is not from whom it should be, or is not what it should be: the connection ends."""


class Frames:
    """Cuts what arrives into frames of at most `most` bytes; never keeps more than that and one read."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = b""

    @property
    def waiting(self) -> bool:
        """Whether the beginning of a frame is here without its end."""
        return bool(self._kept)

    def cut(self, data: bytes) -> list[bytes]:
        """The whole frames that are here now. RefusedError for one that is too long."""
        data = self._kept + data if self._kept else data
        found, at = [], 0
        while len(data) - at >= _HEAD:
            length = int.from_bytes(data[at : at + _HEAD], "big")
            if length > self._most:
                raise RefusedError(f"a frame of {length} bytes where {self._most} are the most")
            if len(data) - at - _HEAD < length:
                break
            found.append(data[at + _HEAD : at + _HEAD + length])
            at += _HEAD + length
        self._kept = data[at:]
        return found


class AgentSide:
    """The agent's side of one connection. `nonce`: NONCE fresh random bytes."""

    def __init__(self, key: bytes, node: str, nonce: bytes) -> None:
        self._key, self._node, self._nonce = key, node, nonce
        self._frames = Frames(MOST_ASKED)
        self._session = b""
        self._number = 0

    @property
    def open(self) -> bool:
        """Whether the portal has shown that it has the key."""
        return bool(self._session)

    @property
    def waiting(self) -> bool:
        """Whether half a frame is here."""
        return self._frames.waiting

    def hello(self) -> bytes:
        """The challenge."""
        return framed(json.dumps({"agent": VERSION, "nonce": self._nonce.hex()}).encode())

    def feed(self, data: bytes) -> list[tuple[int, dict[str, Any]]]:
        """The questions in `data`, numbered; the opening is one of them, with number 0. RefusedError."""
        found = []
        for frame in self._frames.cut(data):
            label, session = (b"q", self._session) if self._session else (b"open" + self._nonce, self._key)
            document = parsed(unsealed(session, label, self._number, frame))
            if not self._session:
                self._open(document)
            found.append((self._number, document))
            self._number += 1
        return found

    def answer(self, number: int, document: dict[str, Any]) -> bytes:
        """The frame that answers question `number`."""
        return self.answer_with(number, dumped(document))

    def answer_with(self, number: int, body: bytes) -> bytes:
        """The same from a body that was written already."""
        return sealed(self._session, b"a", number, body)

    def _open(self, document: dict[str, Any]) -> None:
        nonce = _nonce(document)
        if document.get("node") != self._node:
            raise RefusedError("it is meant for another node")
        self._session = session_key(self._key, self._nonce, nonce)


class PortalSide:
    """The portal's side of one connection to the agent of `node`. `nonce`: NONCE fresh random bytes."""

    def __init__(self, key: bytes, node: str, nonce: bytes) -> None:
        self._key, self._node, self._nonce = key, node, nonce
        self._frames = Frames(MOST_ANSWERED)
        self._session = b""
        self._asked = 1
        self._answered = 1

    @property
    def open(self) -> bool:
        """Whether the challenge has come, so that `ask` may be used; whether it is the agent its first answer shows."""
        return bool(self._session)

    def opening(self, data: bytes, now: float) -> bytes:
        """The opening, once the challenge has come whole (b"" until then). RefusedError."""
        frames = self._frames.cut(data)
        if not frames:
            return b""
        hello = parsed(frames[0])
        if len(frames) > 1 or hello.get("agent") != VERSION:
            raise RefusedError(f"it speaks version {hello.get('agent')!r}, not {VERSION}"[:80])
        challenge = _nonce(hello)
        self._session = session_key(self._key, challenge, self._nonce)
        document = {"node": self._node, "nonce": self._nonce.hex(), "time": now}
        return sealed(self._key, b"open" + challenge, 0, dumped(document))

    def ask(self, document: dict[str, Any]) -> bytes:
        """The frame of the next question."""
        frame = self.next_question(dumped(document))
        self.asked()
        return frame

    def next_question(self, body: bytes) -> bytes:
        """What the next frame would be; it is the next until `asked` is called, so it can be made beforehand."""
        return sealed(self._session, b"q", self._asked, body)

    def asked(self) -> None:
        """The next question has been sent."""
        self._asked += 1

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The answers in `data`, in the order of the questions. RefusedError."""
        return [parsed(self.answer_body(frame)) for frame in self._frames.cut(data)]

    def answer_body(self, frame: bytes) -> bytes:
        """The body of the next answer, from its frame without the length. RefusedError."""
        body = unsealed(self._session, b"a", self._answered, frame)
        self._answered += 1
        return body


def session_key(key: bytes, of_agent: bytes, of_portal: bytes) -> bytes:
    """What both make of the shared key and the two nonces."""
    return hmac.digest(key, b"session" + of_agent + of_portal, "sha256")


def sealed(key: bytes, label: bytes, number: int, body: bytes) -> bytes:
    """The frame of a body."""
    return framed(body + _seal(key, label, number, body))


def unsealed(key: bytes, label: bytes, number: int, frame: bytes) -> bytes:
    """The body of a frame. RefusedError when its seal is not right."""
    body = frame[:-_SEAL]
    if not hmac.compare_digest(frame[-_SEAL:], _seal(key, label, number, body)):
        raise RefusedError("it is not sealed with the shared key")
    return body


def framed(rest: bytes) -> bytes:
    """`rest` behind its length."""
    return len(rest).to_bytes(_HEAD, "big") + rest


def parsed(body: bytes) -> dict[str, Any]:
    """A body as an object. RefusedError when it is none."""
    try:
        document = json.loads(str(body, "utf-8"))
    except (ValueError, RecursionError) as error:
        raise RefusedError("it is not JSON") from error
    if not isinstance(document, dict):
        raise RefusedError("it is not an object")
    return document


def dumped(document: dict[str, Any]) -> bytes:
    """An object as a body."""
    return json.dumps(document, separators=(",", ":")).encode()


def _seal(key: bytes, label: bytes, number: int, body: bytes) -> bytes:
    return hmac.digest(key, label + number.to_bytes(8, "big") + body, "sha256")[:_SEAL]


def _nonce(document: dict[str, Any]) -> bytes:
    try:
        nonce = bytes.fromhex(document["nonce"])
    except (KeyError, TypeError, ValueError) as error:
        raise RefusedError("it has no nonce") from error
    if len(nonce) != NONCE:
        raise RefusedError("its nonce has the wrong length")
    return nonce
