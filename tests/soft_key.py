"""A security key in memory: what a browser would bring back from a real one (WebAuthn, ES256, no attestation)."""

from __future__ import annotations

import hashlib
import json
import os
from base64 import urlsafe_b64encode
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256

_PRESENT, _WITH_CREDENTIAL = 0x01, 0x40


def text(data: bytes) -> str:
    """As WebAuthn writes bytes."""
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


class SoftKey:
    """`origin`: where the browser is."""

    def __init__(self, origin: str = "http://localhost") -> None:
        self.origin = origin
        self.id = os.urandom(16)
        self._private = ec.generate_private_key(ec.SECP256R1())

    def create(self, options: dict[str, Any]) -> str:
        """Its answer where it is added."""
        asked = options["publicKey"]
        public = cbor.encode(dict(ES256.from_cryptography_key(self._private.public_key())))
        about = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + public
        data = self._authenticator(asked["rp"]["id"], _PRESENT | _WITH_CREDENTIAL) + about
        attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer("webauthn.create", asked["challenge"], attestationObject=text(attestation))

    def get(self, options: dict[str, Any]) -> str:
        """Its answer where it is asked for."""
        asked = options["publicKey"]
        data = self._authenticator(asked["rpId"], _PRESENT)
        client = self._client("webauthn.get", asked["challenge"])
        signature = self._private.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer("webauthn.get", asked["challenge"], authenticatorData=text(data), signature=text(signature))

    def _authenticator(self, host: str, flags: int) -> bytes:
        return hashlib.sha256(host.encode()).digest() + bytes([flags]) + bytes(4)

    def _client(self, kind: str, challenge: Any) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def _answer(self, kind: str, challenge: Any, **response: str) -> str:
        client = text(self._client(kind, challenge))
        document = {
            "type": "public-key",
            "id": text(self.id),
            "rawId": text(self.id),
            "response": {"clientDataJSON": client, **response},
            "clientExtensionResults": {},
        }
        return json.dumps(document)
